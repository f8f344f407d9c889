// SPDX-License-Identifier: Apache-2.0
// A node of a model as an expression of the language that bodies of definitions are written in: by
// the text in operators.def, or by one of the rules here.
#pragma once

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
  /// Inputs that were written by name, in the order of their first use.
  const std::vector<std::string> &used() const { return usedNames; }

private:
  struct Failure {
    std::string message;
  };
  [[noreturn]] static void fail(std::string message) { throw Failure{std::move(message)}; }

  std::string filled(std::string_view text);
  std::string attributeText(const std::string &name, const std::string &otherwise) const;
  /// An input by its name, or as a number where that means the same.
  std::string operand(size_t input);
  std::string tensor(size_t input);
  std::optional<double> known(size_t input) const;
  std::optional<std::vector<int64_t>> integers(const std::string &attribute, size_t input) const;
  const Shape &shape(size_t input) const;
  ElementType type(size_t input) const;
  int64_t axis(int64_t given, size_t rank) const;
  /// ", dim=(1, 2), keepdim=True".
  std::string dims();
  std::string sizesFrom(size_t first);

  std::string rule(std::string_view name);
  std::string cast(), clip(), dropout(), isInf(), shift(), mod(), power(), mean(), product();
  std::string softmax(), layerNorm(), batchNorm(), instanceNorm(), meanVariance(), gemm(), conv();
  std::string unsqueeze(), transpose();
  std::string folded(const char *between);
  std::string nested(const char *function);
  std::string global(const char *function);
  std::string perChannel(size_t input);

  const Model &model;
  Names &names;
  const Node *node = nullptr;
  std::vector<std::string> usedNames;
};

} // namespace nereid::importer
