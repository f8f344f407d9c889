// SPDX-License-Identifier: Apache-2.0
// A node of a model as an expression of the language that bodies of definitions are written in: by
// the text in operators.def, or by a rule: those of arithmetic are members, others stand in tables.
#pragma once

#include "lib/definition/Graph.h"
#include "lib/importer/body/Names.h"
#include "lib/importer/onnx/Model.h"
#include "lib/importer/operators/OperatorTable.h"

namespace nereid::importer {

/// A number as Python writes it, exactly; negative ones in parentheses.
std::string numberText(double value);
/// The only element of an initialiser; nothing when it has others, or they are not known.
std::optional<double> scalarOf(const Tensor &tensor);

class Expressions {
public:
  Expressions(const Model &model, Names &names) : model(model), names(names) {}

  /// E0636 where a definition cannot say it.
  Result<std::string> of(const Node &node);
  /// How many results the expression that was made last has: the node's first ones.
  size_t results() const { return resultCount; }
  /// Lines in front of the expression: "NAME = TEXT".
  const std::vector<std::string> &lines() const { return leadingLines; }
  /// Inputs that were written by name, in the order of their first use.
  const std::vector<std::string> &used() const { return usedNames; }
  /// Inputs that the expression divides by.
  const std::vector<std::string> &divisors() const { return divisorNames; }
  /// Of the inputs that are indices, which values they have.
  const std::map<std::string, definition::IndexRange> &ranges() const { return indexRanges; }

  // What rules ask and say of the node.
  struct Failure {
    std::string message;
  };
  [[noreturn]] static void fail(std::string message) { throw Failure{std::move(message)}; }

  const Node &of() const { return *node; }
  int64_t opset() const { return model.opset; }
  std::string attributeText(const std::string &name, const std::string &otherwise) const;
  /// An input by its name, or as a number where that means the same.
  std::string operand(size_t input);
  std::string tensor(size_t input);
  /// All inputs are used: they keep the node's order, whichever the text names first.
  void useAll();
  /// An input that has places in a dimension of `extent`, from -extent on if so said.
  std::string indices(size_t input, const Dim &extent, bool isNegativeToo, int64_t distinct = 0);
  /// An input of integers from `low` to before `high`, texts of sizes.
  std::string within(size_t input, const std::string &low, const std::string &high);
  /// A tensor whose elements are never 0: tests keep to it where it is an input.
  std::string divisor(size_t input);
  std::optional<double> known(size_t input) const;
  /// The elements of an initialiser; nothing where they are not known.
  const Tensor *constant(size_t input) const;
  std::optional<std::vector<int64_t>> integers(const std::string &attribute, size_t input) const;
  const Shape &shape(size_t input) const;
  const Shape &resultShape(size_t output = 0) const;
  ElementType type(size_t input) const;
  ElementType resultType() const;
  int64_t axis(int64_t given, size_t rank) const;
  /// ", dim=(1, 2), keepdim=True".
  std::string dims();
  std::string sizesFrom(size_t first);
  std::string sizeText(const Dim &dim);
  /// "B * 3": of the dimensions from one to before another; "1" of none.
  std::string productText(const Shape &shape, size_t from, size_t to);
  /// "(B, 3, 4)".
  std::string shapeText(const Shape &shape);
  /// 0, 1, … to before `extent`, which broadcasts with so many dimensions behind its own.
  std::string places(const Dim &extent, size_t behind);
  /// Whether the input has one element, in one dimension at most.
  bool isNumber(size_t input) const;
  void setResults(size_t count) { resultCount = count; }
  /// Whether something may read this result of the node.
  bool hasOutput(size_t output) const {
    return output < node->outputs.size() && !node->outputs[output].empty();
  }
  /// A value that the expression reads several times, or that a reader wants to see: a line of its
  /// own. Its name, which begins with that of the node's first result.
  std::string step(const std::string &suffix, const std::string &text);

private:
  std::string filled(std::string_view text);
  std::string rule(std::string_view name);
  std::string clip(), dropout(), isInf(), shift(), quotient(), mod(), power(), mean(), product();
  std::string softmax(), layerNorm(), batchNorm(), instanceNorm(), meanVariance(), gemm();
  std::string groupNorm(), localNorm(), lpNorm();
  std::string folded(const char *between);
  std::string nested(const char *function);
  std::string global(const char *function);
  std::string globalLp();
  std::string dimsOfImage() const;
  std::string perChannel(size_t input);

  const Model &model;
  Names &names;
  const Node *node = nullptr;
  size_t resultCount = 1;
  std::vector<std::string> leadingLines, usedNames, divisorNames;
  std::map<std::string, definition::IndexRange> indexRanges;
};

using Rule = std::string (*)(Expressions &);
using RuleTable = std::map<std::string_view, Rule>;
/// Other arrangements of elements, and what is read at indices; in Moves.cpp.
const RuleTable &moveRules();
/// Convolutions and pooling; in Windows.cpp.
const RuleTable &windowRules();
/// Images of other sizes; in Resizes.cpp.
const RuleTable &resizeRules();
/// Other types; in Conversions.cpp.
const RuleTable &conversionRules();
/// What is read and written at indices of several dimensions; in Places.cpp.
const RuleTable &placeRules();
/// Tensors made of sizes and numbers; in Made.cpp.
const RuleTable &madeRules();
/// Attention, and what rotates its rows; in Attention.cpp.
const RuleTable &attentionRules();
/// Losses of classes; in Losses.cpp.
const RuleTable &lossRules();
/// "torch.float16"; fails where definitions lack the type.
std::string typeText(ElementType type);
/// "(3, 3)", "(3,)".
std::string tupleText(const std::vector<int64_t> &numbers);
std::string tupleText(const std::vector<std::string> &texts);

} // namespace nereid::importer
