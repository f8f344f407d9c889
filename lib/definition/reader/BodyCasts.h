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
  /// The same for a type for each of the operator's; none where it is in no such way.
  std::optional<std::string> spelled(const std::vector<DType> &wanted) const;
  /// The node in such a type, itself where it has it unless `isNew`.
  std::optional<int> converted(int node, const std::string &target, bool isNew, SourceRange range);
  /// In the type that PyTorch promotes all of them to.
  bool convertToOne(std::vector<int> &parts, const std::string &name, SourceRange range);
  /// Operands without dimensions in the type that PyTorch computes in, where those with dimensions
  /// decide it.
  bool convertUnranked(Node &node, const Operation &operation, SourceRange range);

private:
  /// What tensors with dimensions decide beside those without, in one of the operator's types; none
  /// where it is what all of them are promoted to.
  std::optional<DType> decided(const Node &node, const Operation &operation,
                               const std::vector<DType> &types, DType own) const;
  /// Whether the node has the type in every type of the operator.
  bool isAlready(int node, const Operation &operation) const;

  BodyExpressions &body;
};

} // namespace nereid::definition
