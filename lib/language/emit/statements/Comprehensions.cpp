// SPDX-License-Identifier: Apache-2.0
// List comprehensions over what is known while the kernel is elaborated: tuples and constant
// ranges. Their variables do not outlive them.
#include "lib/language/emit/Emitter.h"

namespace nereid::language::emit {

std::optional<std::vector<Value>> Emitter::iterate(const Value &iterable) {
  if (iterable.isTuple()) {
    return iterable.elements;
  }
  std::vector<Value> items;
  if (iterable.kind == Value::Kind::Range) {
    return rangeItems(iterable, items) ? std::optional(std::move(items)) : std::nullopt;
  }
  if (!iterable.isPoison()) {
    error("E0217",
          "a comprehension expects a tuple or a constant range, but got " + describe(iterable));
  }
  return std::nullopt;
}

bool Emitter::comprehend(const Expr &expr, size_t clause, std::vector<Value> &elements) {
  if (clause == expr.clauses.size()) {
    elements.push_back(evaluate(*expr.operands[0]));
    return !elements.back().isPoison() && takeStep();
  }
  const ComprehensionClause &current = expr.clauses[clause];
  std::optional<std::vector<Value>> items = iterate(evaluate(*current.iterable));
  if (!items) {
    return false;
  }
  for (const Value &item : *items) {
    assign(*current.target, item);
    bool isKept = true;
    for (const ExprPtr &condition : current.conditions) {
      Value value = evaluate(*condition);
      std::optional<bool> known = constantTruth(value);
      if (!known) {
        if (!value.isPoison()) {
          error("E0203",
                "the condition of a comprehension expects a constant, but got " + describe(value));
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

Value Emitter::comprehension(const Expr &expr) {
  const Locals before = frame->locals;
  std::vector<Value> elements;
  bool isDone = comprehend(expr, 0, elements);
  frame->locals = before;
  return isDone ? Value::tuple(std::move(elements)) : Value::poison();
}

} // namespace nereid::language::emit
