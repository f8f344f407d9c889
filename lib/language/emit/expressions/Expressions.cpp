// SPDX-License-Identifier: Apache-2.0
#include "lib/language/emit/expressions/Expressions.h"

#include "lib/language/emit/expressions/Attributes.h"
#include "lib/language/emit/expressions/Calls.h"
#include "lib/language/emit/expressions/Comprehensions.h"
#include "lib/language/emit/expressions/Subscripts.h"
#include "lib/language/emit/modules/Scope.h"
#include "lib/language/emit/statements/Conditionals.h"

namespace nereid::language::emit {

static Value literal(const Expr &expr) {
  switch (expr.kind) {
  case ExprKind::Integer:
    // literals are not negative: the sign bit belongs to values from 2^63
    return Value::whole(static_cast<Integer>(static_cast<uint64_t>(expr.integer)));
  case ExprKind::Float:
    return Value::floating(expr.real);
  case ExprKind::String:
    return Value::string(expr.text);
  case ExprKind::Bool:
    return Value::boolean(expr.integer != 0);
  default:
    return Value::none();
  }
}

Value Expressions::formatted(const Expr &expr) {
  std::string text;
  for (const ExprPtr &part : expr.operands) {
    Value value = part->kind == ExprKind::String ? Value::string(part->text) : evaluate(*part);
    if (value.isPoison()) {
      return value;
    }
    text += pythonText(knownNumber(value).value_or(value));
  }
  return Value::string(text);
}

/// `and`, `or`: decided by the first operands as far as they are constants.
Value Expressions::joined(bool isAnd, const Value &result, const Expr &place,
                          llvm::function_ref<Value()> evaluateNext) {
  const std::optional<bool> known = result.isPoison() ? std::nullopt : constantTruth(result);
  if (result.isPoison() || (known && *known != isAnd)) {
    return result;
  }
  Value next = evaluateNext();
  if (next.isPoison() || known) {
    return next;
  }
  At at(emitter.position, place.range);
  return emitter.operators.logical(isAnd, result, next);
}

Value Expressions::chained(const Expr &expr) {
  Value left = evaluate(*expr.operands[0]);
  Value result;
  for (size_t i = 0; i < expr.params.size(); ++i) {
    const auto compared = [&] {
      Value right = evaluate(*expr.operands[i + 1]);
      At at(emitter.position, expr.range);
      Value truth = emitter.operators.compare(expr.params[i], left, right);
      left = std::move(right);
      return truth;
    };
    result = i == 0 ? compared() : joined(true, result, expr, compared);
  }
  return result;
}

Value Expressions::shortCircuit(const Expr &expr) {
  Value result = evaluate(*expr.operands[0]);
  for (size_t i = 1; i < expr.operands.size(); ++i) {
    result = joined(expr.kind == ExprKind::And, result, expr,
                    [&] { return evaluate(*expr.operands[i]); });
  }
  return result;
}

/// A tuple or a list.
Value Expressions::sequence(const Expr &expr) {
  std::vector<Value> elements;
  for (const ExprPtr &operand : expr.operands) {
    if (operand->kind == ExprKind::Starred) {
      Value inner = evaluate(*operand->operands[0]);
      if (inner.isPoison()) {
        return inner;
      }
      if (!inner.isTuple()) {
        return emitter.report.fail("E0217", "'*' expects a tuple, but got " + describe(inner));
      }
      elements.insert(elements.end(), inner.elements.begin(), inner.elements.end());
      continue;
    }
    elements.push_back(evaluate(*operand));
    if (elements.back().isPoison()) {
      return Value::poison();
    }
  }
  return Value::tuple(std::move(elements));
}

Value Expressions::evaluate(const Expr &expr) {
  At at(emitter.position, expr.range);
  if (emitter.report.isTooDeep()) {
    return Value::poison();
  }
  switch (expr.kind) {
  case ExprKind::Name:
    return scope.lookup(expr.text);
  case ExprKind::Integer:
  case ExprKind::Float:
  case ExprKind::String:
  case ExprKind::Bool:
  case ExprKind::None:
    return literal(expr);
  case ExprKind::FString:
    return formatted(expr);
  case ExprKind::Attribute: {
    Value base = evaluate(*expr.operands[0]);
    return attributes.attribute(base, expr.text);
  }
  case ExprKind::Subscript: {
    Value base = evaluate(*expr.operands[0]);
    return subscripts.subscript(base, *expr.operands[1]);
  }
  case ExprKind::Tuple:
  case ExprKind::List:
    return sequence(expr);
  case ExprKind::Unary:
    return emitter.operators.unary(expr.text, evaluate(*expr.operands[0]));
  case ExprKind::Binary: {
    Value left = evaluate(*expr.operands[0]);
    Value right = evaluate(*expr.operands[1]);
    return emitter.operators.binary(expr.text, left, right);
  }
  case ExprKind::Compare: {
    Value left = evaluate(*expr.operands[0]);
    Value right = evaluate(*expr.operands[1]);
    return emitter.operators.compare(expr.text, left, right);
  }
  case ExprKind::ChainedCompare:
    return chained(expr);
  case ExprKind::And:
  case ExprKind::Or:
    return shortCircuit(expr);
  case ExprKind::Conditional:
    return conditionals.conditional(expr);
  case ExprKind::Call:
    return calls.call(expr);
  case ExprKind::Ellipsis:
  case ExprKind::Slice:
    return emitter.report.fail("E0218", "a slice stands alone only inside [ ]");
  case ExprKind::Starred:
    return emitter.report.fail("E0311", "'*' unpacking is not supported here");
  case ExprKind::Lambda:
    return emitter.report.fail("E0311", "a lambda is not supported in a kernel",
                               "write a function with @triton.jit");
  case ExprKind::ListComp:
    return comprehensions.comprehension(expr);
  case ExprKind::Dict:
    return emitter.report.fail("E0311", "a dictionary is not supported in a kernel");
  }
  return Value::poison();
}

Value Expressions::evaluateAtTop(const SourceModule &module, const Expr &expr) {
  Frame outside = calledFromHere(emitter.position, module);
  Inside inside(emitter.position, outside);
  return evaluate(expr);
}

} // namespace nereid::language::emit
