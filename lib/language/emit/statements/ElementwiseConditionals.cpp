// SPDX-License-Identifier: Apache-2.0
// Conditions of a function that tl.map_elementwise applies to each element. The function is
// elaborated once on whole tiles: both sides of an `if` are computed for every element, which may
// not be seen from outside as such a function only computes, and each element takes its side.
#include "lib/language/emit/Emitter.h"

namespace nereid::language::emit {

Value Emitter::selectElements(const Value &condition, const Value &a, const Value &b,
                              const std::string &name) {
  if (a.isPoison() || b.isPoison() || isSame(a, b)) {
    return a.isPoison() ? a : b;
  }
  if (a.isTuple() && b.isTuple() && a.classDef == b.classDef &&
      a.elements.size() == b.elements.size()) {
    Value chosen = a;
    for (size_t i = 0; i < a.elements.size(); ++i) {
      chosen.elements[i] = selectElements(condition, a.elements[i], b.elements[i], name);
    }
    return chosen;
  }
  bool isRuntime = (a.isNumber() || a.isTile()) && (b.isNumber() || b.isTile());
  if (isRuntime) {
    Value left = adapted(a, b), right = adapted(b, a);
    if (left.isPoison() || right.isPoison()) {
      return Value::poison();
    }
    if (left.tileType.element == right.tileType.element) {
      return select(truth(condition), left, right);
    }
  }
  return fail("E0211",
              name + " is " + describe(a) + " when the condition holds and " + describe(b) +
                  " otherwise",
              "convert one side so that both have one type");
}

Flow Emitter::runElementwiseIf(const Stmt &stmt, const Rest &rest, const Value &condition) {
  const bool isReturning = mayReturn(stmt.body) || mayReturn(stmt.orelse);
  const Locals before = frame->locals;
  auto runSide = [&](const std::vector<StmtPtr> &list) {
    frame->locals = before;
    frame->returned = Value::none();
    bool isOpen = runBlock(list, 0, &rest) == Flow::Next;
    if (isReturning && isOpen) {
      runRest(&rest);
    }
    return std::pair(frame->locals, frame->returned);
  };
  auto [thenLocals, thenReturned] = runSide(stmt.body);
  auto [elseLocals, elseReturned] = runSide(stmt.orelse);
  frame->locals = before;
  At at(*this, stmt.value->range);
  if (isReturning) {
    const std::string name = frame->function ? frame->function->name : "";
    frame->returned =
        selectElements(condition, thenReturned, elseReturned, "what '" + name + "' returns");
    return Flow::Return;
  }
  for (const auto &[name, value] : thenLocals) {
    if (auto other = elseLocals.find(name); other != elseLocals.end()) {
      frame->locals[name] = selectElements(condition, value, other->second, "'" + name + "'");
    } else {
      frame->lost[name] = "'" + name + "' gets a value only when the condition holds";
    }
  }
  return Flow::Next;
}

} // namespace nereid::language::emit
