// SPDX-License-Identifier: Apache-2.0
// What a body makes of sizes and numbers alone: torch.arange, full, zeros, ones, eye, linspace,
// scalar_tensor, x.new_full and their like (BodyCreation.cpp), and random numbers by seed
// (BodyRandom.cpp).
#pragma once

#include "lib/definition/operations/SizeAlgebra.h"
#include "lib/definition/reader/BodyExpressions.h"

namespace nereid::definition {

class BodyCreation {
public:
  explicit BodyCreation(BodyExpressions &body) : body(body), op(body.op) {}

  static bool isFunction(const std::string &name);
  static const std::vector<std::string> &functionNames();

  std::optional<int> call(const BodyExpressions::Call &call);

private:
  using Call = BodyExpressions::Call;
  using Expr = language::Expr;

  // ---- BodyCreation.cpp ----

  /// Keyword arguments, and what is left in front of them.
  bool takeApart(const Call &call, const std::vector<std::string> &keywords);
  const Expr *keyword(const std::string &name) const;
  const Expr *positional(size_t i) const { return i < given.size() ? given[i] : nullptr; }
  /// One argument, by its place or name; E0608 where it is needed and not there.
  const Expr *needed(size_t place, const std::string &name);

  std::optional<int> aranged();
  std::optional<int> filled();
  std::optional<int> filledLike();
  /// A fraction is no element of integers.
  bool holds(const std::string &dtype, int number, const language::Expr *value);
  std::optional<int> eye();
  std::optional<int> spaced();
  std::optional<int> scalar();
  std::optional<int> literal();
  std::optional<int> oneHot();

  std::optional<int> arangeNode(const SymbolicShape &shape, const std::string &dtype);
  std::optional<int> fullNode(const SymbolicShape &shape, int value, const std::string &dtype);
  /// A number without dimensions, of a type.
  std::optional<int> typed(double value, const std::string &dtype);
  std::optional<int> readNumber(const Expr &expr);
  std::optional<SizePolynomial> readSize(const Expr &expr);
  /// Sizes one by one, in a tuple or list, or x.shape.
  std::optional<SymbolicShape> readShape(std::vector<const Expr *> sizes);
  /// The argument `dtype`; `otherwise` without one.
  std::optional<std::string> readDtype(const std::string &otherwise);
  /// "operator" or a type's name: what the tensor's type is in every operator; E0608 otherwise.
  std::optional<std::string> dtypeOf(int tensor, SourceRange range);

  // ---- BodyRandom.cpp ----

  static const std::vector<std::string> &randomNames();
  std::optional<int> random();
  /// `first` and `second` of the assignments: 32 bits of each element of this shape.
  std::optional<int> randomText(const SymbolicShape &shape, const std::string &text,
                                std::map<std::string, int> operands);
  std::optional<int> poisson(std::map<std::string, int> operands);
  Diagnostic &fail(std::string code, SourceRange range, std::string message) {
    return body.fail(std::move(code), range, std::move(message));
  }
  const Node &at(int node) const { return op.nodes[static_cast<size_t>(node)]; }

  BodyExpressions &body;
  Operator &op;
  const Call *whole = nullptr;
  std::vector<const Expr *> given;
  std::map<std::string, const Expr *> keywords;
};

} // namespace nereid::definition
