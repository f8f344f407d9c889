// SPDX-License-Identifier: Apache-2.0
// Conversions between types: x.to(torch.int8), x.to(y.dtype), x.float(). Each becomes the operation
// of its type ("to_int8"), and none where the tensor has the type already.
#pragma once

#include "lib/definition/reader/BodyExpressions.h"

namespace nereid::definition {

class BodyCasts {
public:
  explicit BodyCasts(BodyExpressions &body) : body(body) {}

  /// Methods that convert.
  static const std::vector<std::string> &names();

  std::optional<int> call(const BodyExpressions::Call &call);
  /// The value in the type of node `other`; a node of its own even where it has the type, if
  /// `isNew`.
  std::optional<int> like(int value, int other, bool isNew, SourceRange range);
  /// "int8", or "own" for the operator's type: of an expression, and what a node has.
  std::optional<std::string> target(const language::Expr &type);
  std::optional<std::string> typeOf(int node, SourceRange range);
  /// The node in such a type, itself where it has it unless `isNew`.
  std::optional<int> converted(int node, const std::string &target, bool isNew, SourceRange range);

private:
  /// Whether the node has the type in every type of the operator.
  bool isAlready(int node, const Operation &operation) const;

  BodyExpressions &body;
};

} // namespace nereid::definition
