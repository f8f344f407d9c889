// SPDX-License-Identifier: Apache-2.0
// Types as values, and what they hold: `dtype = x.dtype`, `torch.finfo(dtype).min`. A number that
// differs between the operator's types is found by what becomes infinite in them.
#pragma once

#include "lib/definition/reader/BodyExpressions.h"

namespace nereid::definition {

class TypeLimits {
public:
  explicit TypeLimits(BodyExpressions &body) : body(body) {}

  /// `x.dtype` and `torch.float32` as a value, whatever names stand for later; null for others.
  const language::Expr *literal(const language::Expr &expr);
  /// `torch.finfo(x.dtype).max`.
  static bool isLimit(const language::Expr &expr);
  std::optional<int> limit(const language::Expr &expr);
  /// "max", "min", "eps" or "tiny" of a type that BodyCasts names.
  std::optional<int> limitOf(const std::string &what, const std::string &target, SourceRange range);

private:
  BodyExpressions &body;
};

} // namespace nereid::definition
