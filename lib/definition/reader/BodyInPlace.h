// SPDX-License-Identifier: Apache-2.0
// Functions that write into their first operand: x.add_(y), torch.relu_(x), x += y. The operand is
// an input of the definition, by its name. In the graph nothing is written: the name stands for the
// function's result from there on, converted to the input's type as PyTorch does, and the output
// that is this result has the input's memory (Operator::outputMemory).
//
//   out = x.add_(y)        out = torch.add(x, y), written where x lies
#pragma once

#include "lib/definition/reader/BodyExpressions.h"

namespace nereid::definition {

class BodyInPlace {
public:
  explicit BodyInPlace(BodyExpressions &body) : body(body) {}

  /// "add_": PyTorch has it, or would name one of its functions so.
  static bool isFunction(const std::string &name);

  std::optional<int> call(const BodyExpressions::Call &call);
  /// `x += y`, of an input.
  std::optional<int> augmented(const std::string &sign, const language::Expr &target,
                               const language::Expr &value, SourceRange range);

  /// Which outputs are written into inputs; false where a written input is no output, once.
  bool placeOutputs(SourceRange whole);

private:
  using Call = BodyExpressions::Call;

  /// The input that the expression names.
  std::optional<int> target(const language::Expr *expr, const std::string &name, SourceRange range);
  std::optional<int> valueOf(const Call &call, const std::string &name, int input);
  std::optional<int> filled(const Call &call, int input, bool isZero);
  std::optional<int> copied(const Call &call, int input);
  std::optional<int> written(int input, const std::string &name, std::optional<int> value,
                             SourceRange range);
  /// To the input's type, where the result has another one that PyTorch writes there.
  std::optional<int> converted(int input, int value, const std::string &name, SourceRange range);
  bool hasView(int input, const std::string &name, SourceRange range);
  const Node &at(int node) const { return body.op.nodes[static_cast<size_t>(node)]; }

  BodyExpressions &body;
};

} // namespace nereid::definition
