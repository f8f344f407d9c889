// SPDX-License-Identifier: Apache-2.0
#include "lib/language/emit/expressions/Comprehensions.h"

#include "lib/language/emit/expressions/Expressions.h"
#include "lib/language/emit/statements/Assignments.h"

namespace nereid::language::emit {

std::optional<std::vector<Value>> Comprehensions::iterate(const Value &iterable) {
  if (iterable.isTuple()) {
    return iterable.elements;
  }
  std::vector<Value> items;
  if (iterable.kind == Value::Kind::Range) {
    return emitter.constants.rangeItems(iterable, items) ? std::optional(std::move(items))
                                                         : std::nullopt;
  }
  if (!iterable.isPoison()) {
    emitter.report.error("E0217", "a comprehension expects a tuple or a constant range, but got " +
                                      describe(iterable));
  }
  return std::nullopt;
}

bool Comprehensions::comprehend(const Expr &expr, size_t clause, std::vector<Value> &elements) {
  if (clause == expr.clauses.size()) {
    elements.push_back(expressions.evaluate(*expr.operands[0]));
    return !elements.back().isPoison() && emitter.report.takeStep();
  }
  const ComprehensionClause &current = expr.clauses[clause];
  std::optional<std::vector<Value>> items = iterate(expressions.evaluate(*current.iterable));
  if (!items) {
    return false;
  }
  for (const Value &item : *items) {
    assignments.assign(*current.target, item);
    bool isKept = true;
    for (const ExprPtr &condition : current.conditions) {
      Value value = expressions.evaluate(*condition);
      std::optional<bool> known = constantTruth(value);
      if (!known) {
        if (!value.isPoison()) {
          emitter.report.error("E0203",
                               "the condition of a comprehension expects a constant, but got " +
                                   describe(value));
        }
        return false;
      }
      isKept = isKept && *known;
    }
    if (isKept && !comprehend(expr, clause + 1, elements)) {
      return false;
    }
  }
  return true;
}

Value Comprehensions::comprehension(const Expr &expr) {
  const Locals before = emitter.frame().locals;
  std::vector<Value> elements;
  bool isDone = comprehend(expr, 0, elements);
  emitter.frame().locals = before;
  return isDone ? Value::tuple(std::move(elements)) : Value::poison();
}

} // namespace nereid::language::emit
