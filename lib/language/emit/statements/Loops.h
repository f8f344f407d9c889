// SPDX-License-Identifier: Apache-2.0
// `for` over ranges and tuples, and `while`. range and tl.range run as scf.for, also with constant
// bounds; tl.static_range and tuples are unrolled.
#pragma once

#include "lib/language/emit/statements/Statements.h"

namespace nereid::language::emit {

class Loops {
public:
  Loops(Emitter &emitter, Expressions &expressions, Statements &statements,
        Assignments &assignments, Conditionals &conditionals)
      : emitter(emitter), expressions(expressions), statements(statements),
        assignments(assignments), conditionals(conditionals) {}

  Flow runFor(const Stmt &stmt);
  void runWhile(const Stmt &stmt);

private:
  Flow unroll(const Stmt &stmt, const std::vector<Value> &items);
  void runRange(const Stmt &stmt, const Value &range);
  Value loopBound(const Value &value, const char *name);

  Emitter &emitter;
  Expressions &expressions;
  Statements &statements;
  Assignments &assignments;
  Conditionals &conditionals;
  int64_t unrolledLoops = 0; ///< marked so far
};

} // namespace nereid::language::emit
