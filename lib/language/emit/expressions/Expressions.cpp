// SPDX-License-Identifier: Apache-2.0
// Expressions by kind, and what may be asked of a constant: a truth value, an integer, a shape, a
// type, with the error that says which argument needs one.
#include "lib/language/emit/Emitter.h"

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

static Value formatted(Emitter &emitter, const Expr &expr) {
  std::string text;
  for (const ExprPtr &part : expr.operands) {
    Value value =
        part->kind == ExprKind::String ? Value::string(part->text) : emitter.evaluate(*part);
    if (value.isPoison()) {
      return value;
    }
    text += pythonText(emitter.knownNumber(value).value_or(value));
  }
  return Value::string(text);
}

/// `and`, `or`: decided by the first operands as far as they are constants.
static Value shortCircuit(Emitter &emitter, const Expr &expr) {
  bool isAnd = expr.kind == ExprKind::And;
  Value result = emitter.evaluate(*expr.operands[0]);
  for (size_t i = 1; i < expr.operands.size(); ++i) {
    if (result.isPoison()) {
      return result;
    }
    std::optional<bool> known = emitter.constantTruth(result);
    if (known && *known != isAnd) {
      return result;
    }
    Value next = emitter.evaluate(*expr.operands[i]);
    if (next.isPoison()) {
      return next;
    }
    At at(emitter, expr.range);
    result = known ? next : emitter.logical(isAnd, result, next);
  }
  return result;
}

Value Emitter::evaluate(const Expr &expr) {
  At at(*this, expr.range);
  if (isTooDeep()) {
    return Value::poison();
  }
  switch (expr.kind) {
  case ExprKind::Name:
    return lookup(expr.text);
  case ExprKind::Integer:
  case ExprKind::Float:
  case ExprKind::String:
  case ExprKind::Bool:
  case ExprKind::None:
    return literal(expr);
  case ExprKind::FString:
    return formatted(*this, expr);
  case ExprKind::Attribute: {
    Value base = evaluate(*expr.operands[0]);
    return attribute(base, expr.text);
  }
  case ExprKind::Subscript: {
    Value base = evaluate(*expr.operands[0]);
    return subscript(base, *expr.operands[1]);
  }
  case ExprKind::Tuple:
  case ExprKind::List: {
    std::vector<Value> elements;
    for (const ExprPtr &operand : expr.operands) {
      if (operand->kind == ExprKind::Starred) {
        Value inner = evaluate(*operand->operands[0]);
        if (inner.isPoison()) {
          return inner;
        }
        if (!inner.isTuple()) {
          return fail("E0217", "'*' expects a tuple, but got " + describe(inner));
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
  case ExprKind::Unary:
    return unary(expr.text, evaluate(*expr.operands[0]));
  case ExprKind::Binary: {
    Value left = evaluate(*expr.operands[0]);
    Value right = evaluate(*expr.operands[1]);
    return binary(expr.text, left, right);
  }
  case ExprKind::Compare: {
    Value left = evaluate(*expr.operands[0]);
    Value right = evaluate(*expr.operands[1]);
    return compare(expr.text, left, right);
  }
  case ExprKind::ChainedCompare:
    return fail("E0311", "chained comparisons are not supported in a kernel",
                "write a < b and b < c, or (a < b) & (b < c)");
  case ExprKind::And:
  case ExprKind::Or:
    return shortCircuit(*this, expr);
  case ExprKind::Conditional:
    return conditional(expr);
  case ExprKind::Call:
    return call(expr);
  case ExprKind::Ellipsis:
  case ExprKind::Slice:
    return fail("E0218", "a slice stands alone only inside [ ]");
  case ExprKind::Starred:
    return fail("E0311", "'*' unpacking is not supported here");
  case ExprKind::Lambda:
    return fail("E0311", "a lambda is not supported in a kernel",
                "write a function with @triton.jit");
  case ExprKind::ListComp:
    return comprehension(expr);
  case ExprKind::Dict:
    return fail("E0311", "a dictionary is not supported in a kernel");
  }
  return Value::poison();
}

std::optional<bool> Emitter::constantTruth(const Value &value) {
  switch (value.kind) {
  case Value::Kind::None:
    return false;
  case Value::Kind::Bool:
  case Value::Kind::Int:
    return value.integer != 0;
  case Value::Kind::Float:
    return value.real != 0;
  case Value::Kind::String:
    return !value.text.empty();
  case Value::Kind::Tuple:
    return !value.elements.empty();
  case Value::Kind::Poison:
  case Value::Kind::Import: // of a library that is not read
    return std::nullopt;
  case Value::Kind::Tile: {
    if (value.isPointer() && !value.isBlock()) {
      return true; // an argument that is not None
    }
    std::optional<Value> known = knownNumber(value);
    return known ? constantTruth(*known) : std::nullopt;
  }
  default:
    return true;
  }
}

static void expectConstant(Emitter &emitter, const std::string &what, const std::string &kind,
                           const Value &value) {
  if (value.isPoison()) {
    return;
  }
  Diagnostic &diagnostic =
      emitter.error("E0203", what + " expects " + kind + ", but got " + describe(value));
  if (value.isTile()) {
    diagnostic.note("the value is only known when the kernel runs")
        .withHelp(
            "make it a parameter annotated tl.constexpr, or a local 'name: tl.constexpr = …'");
  }
}

std::optional<int64_t> Emitter::constantInteger(const Value &value, const std::string &what) {
  std::optional<Value> known = knownNumber(value);
  if (known && known->isWhole() && known->integer >= std::numeric_limits<int64_t>::min() &&
      known->integer <= std::numeric_limits<int64_t>::max()) {
    return static_cast<int64_t>(known->integer);
  }
  expectConstant(*this, what, "a constant integer", value);
  return std::nullopt;
}

std::optional<bool> Emitter::constantBool(const Value &value, const std::string &what) {
  std::optional<Value> known = knownNumber(value);
  if (value.isNone() || (known && known->isWhole())) {
    return known && known->integer != 0;
  }
  expectConstant(*this, what, "True or False", value);
  return std::nullopt;
}

std::optional<std::string> Emitter::constantString(const Value &value, const std::string &what) {
  if (value.isString() || value.isNone()) {
    return value.text;
  }
  expectConstant(*this, what, "a string", value);
  return std::nullopt;
}

std::optional<ElementType> Emitter::constantType(const Value &value, const std::string &what) {
  if (value.isType()) {
    return value.tileType.element;
  }
  if (value.isString()) {
    if (std::optional<DType> type = parseDType(value.text)) {
      return ElementType{*type, false};
    }
  }
  if (value.kind == Value::Kind::Builtin && value.builtin->category == "python") {
    // Python's own types, as Triton reads them
    std::string_view name = value.builtin->name;
    if (name == "int" || name == "float" || name == "bool") {
      return ElementType{name == "int"     ? DType::I32
                         : name == "float" ? DType::F32
                                           : DType::Bool,
                         false};
    }
  }
  expectConstant(*this, what, "a type such as tl.float32", value);
  return std::nullopt;
}

std::optional<Shape> Emitter::constantShape(const Value &value, const std::string &what) {
  Shape shape;
  if (!value.isTuple()) {
    std::optional<int64_t> size = constantInteger(value, what);
    if (!size) {
      return std::nullopt;
    }
    shape.push_back(*size);
    return shape;
  }
  for (const Value &element : value.elements) {
    std::optional<int64_t> size = constantInteger(element, what);
    if (!size) {
      return std::nullopt;
    }
    shape.push_back(*size);
  }
  return shape;
}

} // namespace nereid::language::emit
