// SPDX-License-Identifier: Apache-2.0
// Conditions of a function that tl.map_elementwise applies to each element. The function is
// elaborated once on whole tiles: both sides of an `if` are computed for every element, which may
// not be seen from outside as such a function only computes, and each element takes its side.
#include "lib/language/emit/statements/Conditionals.h"

namespace nereid::language::emit {

Flow Conditionals::runElementwiseIf(const Stmt &stmt, const Rest &rest, const Value &condition) {
  const bool isReturning = mayReturn(stmt.body) || mayReturn(stmt.orelse);
  const Locals before = emitter.frame().locals;
  auto runSide = [&](const std::vector<StmtPtr> &list) {
    emitter.frame().locals = before;
    emitter.frame().returned = Value::none();
    bool isOpen = statements.runBlock(list, 0, &rest) == Flow::Next;
    if (isReturning && isOpen) {
      statements.runRest(&rest);
    }
    return std::pair(emitter.frame().locals, emitter.frame().returned);
  };
  auto [thenLocals, thenReturned] = runSide(stmt.body);
  auto [elseLocals, elseReturned] = runSide(stmt.orelse);
  emitter.frame().locals = before;
  At at(emitter.position, stmt.value->range);
  if (isReturning) {
    const std::string name = emitter.frame().function ? emitter.frame().function->name : "";
    emitter.frame().returned =
        branches.select(condition, thenReturned, elseReturned, "what '" + name + "' returns");
    return Flow::Return;
  }
  for (const auto &[name, value] : thenLocals) {
    if (auto other = elseLocals.find(name); other != elseLocals.end()) {
      emitter.frame().locals[name] =
          branches.select(condition, value, other->second, "'" + name + "'");
    } else {
      emitter.frame().lost[name] = "'" + name + "' gets a value only when the condition holds";
    }
  }
  return Flow::Next;
}

} // namespace nereid::language::emit
