// SPDX-License-Identifier: Apache-2.0
// `if` and the ternary. A constant condition elaborates one side only. A run-time one becomes
// scf.if whose results are the variables that differ between the sides; when a side may return,
// what follows the `if` is elaborated inside both sides. ElementwiseConditionals.cpp has those of
// functions that tl.map_elementwise applies.
#pragma once

#include "lib/language/emit/statements/Branches.h"
#include "lib/language/emit/statements/Statements.h"

namespace nereid::language::emit {

class Conditionals {
public:
  Conditionals(Emitter &emitter, Expressions &expressions, Statements &statements)
      : emitter(emitter), expressions(expressions), statements(statements), branches(emitter) {}

  Flow runIf(const Stmt &stmt, const Rest &rest);
  Value conditional(const Expr &expr);
  /// The i1 scalar of a condition; E0212 when it is a tile.
  Value conditionOf(const Value &value);

private:
  Flow runElementwiseIf(const Stmt &stmt, const Rest &rest, const Value &condition);

  Emitter &emitter;
  Expressions &expressions;
  Statements &statements;
  Branches branches;
};

} // namespace nereid::language::emit
