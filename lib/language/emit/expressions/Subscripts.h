// SPDX-License-Identifier: Apache-2.0
// What stands in brackets: `:` and None on tiles, constants on tuples.
#pragma once

#include "lib/language/emit/Emitter.h"

namespace nereid::language::emit {

class Expressions;

class Subscripts {
public:
  Subscripts(Emitter &emitter, Expressions &expressions)
      : emitter(emitter), expressions(expressions) {}

  Value subscript(const Value &base, const Expr &index);

private:
  Value ofTile(const Value &base, const Expr &index);
  Value ofTuple(const Value &base, const Expr &index);
  std::optional<int64_t> sliceBound(const Expr *expr, int64_t fallback, int64_t count);

  Emitter &emitter;
  Expressions &expressions;
};

} // namespace nereid::language::emit
