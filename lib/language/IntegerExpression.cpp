// SPDX-License-Identifier: Apache-2.0
// Evaluates the parser's tree on checked 64-bit integers. Recursion is bounded by the parser's
// limit on a tree's height.
#include "lib/language/IntegerExpression.h"

#include "lib/language/syntax/Parser.h"

#include <functional>
#include <limits>
#include <memory>
#include <unordered_map>

namespace nereid::language {
namespace {

using Integer = Result<int64_t>;

constexpr std::string_view functionNames[] = {"abs", "cdiv", "max", "min", "next_power_of_2"};

Diagnostic errorAt(const Expr &place, std::string code, std::string message) {
  Diagnostic error = makeError(std::move(code), std::move(message));
  error.range = place.range;
  return error;
}

Diagnostic overflow(const Expr &place, std::string_view op, int64_t a, int64_t b) {
  return errorAt(place, "E0283",
                 "'" + std::to_string(a) + " " + std::string(op) + " " + std::to_string(b) +
                     "' does not fit in 64 bits");
}

Diagnostic divisionByZero(const Expr &place, std::string_view op, int64_t a) {
  return errorAt(place, "E0284",
                 "'" + std::to_string(a) + " " + std::string(op) + " 0' divides by zero");
}

/// Quotient rounded down; b is not 0 and the quotient fits.
int64_t floorDivide(int64_t a, int64_t b) {
  int64_t quotient = a / b;
  return quotient - (a % b != 0 && (a < 0) != (b < 0));
}

Integer divide(const Expr &place, std::string_view op, int64_t a, int64_t b) {
  if (b == 0) {
    return divisionByZero(place, op, a);
  }
  if (b == -1) { // -2^63 / -1 is the one quotient that does not fit; its remainder is 0
    int64_t negated = 0;
    if (op == "%") {
      return int64_t(0);
    }
    return __builtin_sub_overflow(int64_t(0), a, &negated) ? Integer(overflow(place, op, a, b))
                                                           : Integer(negated);
  }
  if (op == "%") {
    int64_t rest = a % b; // with the sign of a, where the language has that of b
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
  }
  return floorDivide(a, b);
}

Integer power(const Expr &place, int64_t base, int64_t exponent) {
  if (exponent < 0) {
    return errorAt(place, "E0284",
                   "'" + std::to_string(base) + " ** " + std::to_string(exponent) +
                       "' is not an integer");
  }
  int64_t out = 1;
  for (int64_t left = exponent; left > 0; --left) {
    if (base == 0 || base == 1) {
      return base;
    }
    if (base == -1) {
      return exponent % 2 ? int64_t(-1) : int64_t(1);
    }
    if (__builtin_mul_overflow(out, base, &out)) {
      return overflow(place, "**", base, exponent);
    }
  }
  return out;
}

Integer shift(const Expr &place, std::string_view op, int64_t a, int64_t b) {
  if (b < 0) {
    return errorAt(place, "E0284",
                   "'" + std::string(op) + "' expects a count of 0 or more, but got " +
                       std::to_string(b));
  }
  if (op == ">>") {
    return a >> (b > 63 ? 63 : b);
  }
  int64_t factor = b < 63 ? int64_t(1) << b : 0;
  int64_t out = 0;
  bool isTooLarge = a != 0 && (b >= 63 || __builtin_mul_overflow(a, factor, &out));
  return isTooLarge ? Integer(overflow(place, op, a, b)) : Integer(out);
}

Integer applyBinary(const Expr &place, std::string_view op, int64_t a, int64_t b) {
  int64_t out = 0;
  bool isOverflow = false;
  if (op == "+") {
    isOverflow = __builtin_add_overflow(a, b, &out);
  } else if (op == "-") {
    isOverflow = __builtin_sub_overflow(a, b, &out);
  } else if (op == "*") {
    isOverflow = __builtin_mul_overflow(a, b, &out);
  } else if (op == "//" || op == "%") {
    return divide(place, op, a, b);
  } else if (op == "**") {
    return power(place, a, b);
  } else if (op == "<<" || op == ">>") {
    return shift(place, op, a, b);
  } else if (op == "&") {
    out = a & b;
  } else if (op == "|") {
    out = a | b;
  } else if (op == "^") {
    out = a ^ b;
  } else {
    return errorAt(place, "E0281", "'" + std::string(op) + "' does not give an integer")
        .withHelp(op == "/" ? "divide with '//' or cdiv(a, b)" : "use + - * // % **");
  }
  return isOverflow ? Integer(overflow(place, op, a, b)) : Integer(out);
}

class Evaluator {
public:
  explicit Evaluator(const NamedIntegers &values) : values(values) {}

  Integer evaluate(const Expr &expression) {
    switch (expression.kind) {
    case ExprKind::Integer:
      if (expression.integer < 0) {
        return errorAt(expression, "E0283", "'" + expression.text + "' does not fit in 64 bits");
      }
      return expression.integer;
    case ExprKind::Bool:
      return expression.integer;
    case ExprKind::Name:
      return lookUp(expression);
    case ExprKind::Unary:
      return unary(expression);
    case ExprKind::Binary: {
      Integer a = evaluate(*expression.operands[0]);
      Integer b = a ? evaluate(*expression.operands[1]) : a;
      return b ? applyBinary(expression, expression.text, *a, *b) : b;
    }
    case ExprKind::Compare:
      return compare(expression);
    case ExprKind::And:
    case ExprKind::Or:
      return logical(expression);
    case ExprKind::Conditional: {
      Integer condition = evaluate(*expression.operands[0]);
      return condition ? evaluate(*expression.operands[*condition != 0 ? 1 : 2]) : condition;
    }
    case ExprKind::Call:
      return call(expression);
    default:
      return notInteger(expression);
    }
  }

private:
  Diagnostic notInteger(const Expr &expression) const {
    const char *what = expression.kind == ExprKind::Float            ? "a float"
                       : expression.kind == ExprKind::String         ? "a string"
                       : expression.kind == ExprKind::Tuple          ? "several values"
                       : expression.kind == ExprKind::ChainedCompare ? "a chained comparison"
                                                                     : "a construct that is none";
    return errorAt(expression, "E0281",
                   std::string("expects an integer expression, but got ") + what)
        .withHelp("use integers, names, + - * // %, cdiv, min, max, next_power_of_2");
  }

  Integer lookUp(const Expr &name) const {
    auto found = values.find(name.text);
    if (found != values.end()) {
      return found->second;
    }
    std::vector<std::string> known;
    std::string all;
    for (const auto &[key, value] : values) {
      known.push_back(key);
      all += (all.empty() ? "'" : ", '") + key + "'";
    }
    Diagnostic error = errorAt(name, "E0282", "'" + name.text + "' has no value here");
    std::vector<std::string> near = nearestNames(name.text, known);
    if (!near.empty()) {
      error.withHelp("did you mean '" + near[0] + "'?");
    } else {
      error.withHelp(all.empty() ? "no names have values here; write a number"
                                 : "names with values are " + all);
    }
    return error;
  }

  Integer unary(const Expr &expression) {
    const Expr &operand = *expression.operands[0];
    constexpr int64_t lowest = std::numeric_limits<int64_t>::min();
    if (expression.text == "-" && operand.kind == ExprKind::Integer && operand.integer == lowest) {
      return lowest; // the literal 2^63 exists only with its minus
    }
    Integer value = evaluate(operand);
    if (!value || expression.text == "+") {
      return value;
    }
    if (expression.text == "not") {
      return int64_t(*value == 0);
    }
    if (expression.text == "~") {
      return ~*value;
    }
    return *value == lowest ? Integer(overflow(expression, "-", 0, *value)) : Integer(-*value);
  }

  Integer compare(const Expr &expression) {
    Integer a = evaluate(*expression.operands[0]);
    Integer b = a ? evaluate(*expression.operands[1]) : a;
    if (!b) {
      return b;
    }
    const std::string &op = expression.text;
    if (op == "<" || op == ">") {
      return int64_t(op == "<" ? *a < *b : *a > *b);
    }
    if (op == "<=" || op == ">=") {
      return int64_t(op == "<=" ? *a <= *b : *a >= *b);
    }
    if (op == "==" || op == "!=") {
      return int64_t((*a == *b) == (op == "=="));
    }
    return errorAt(expression, "E0281", "'" + op + "' does not compare integers");
  }

  /// Python's: the value that decided, the rest is not evaluated.
  Integer logical(const Expr &expression) {
    bool decidesAt = expression.kind == ExprKind::Or;
    Integer value = int64_t(0);
    for (const ExprPtr &operand : expression.operands) {
      value = evaluate(*operand);
      if (!value || (*value != 0) == decidesAt) {
        break;
      }
    }
    return value;
  }

  Integer call(const Expr &expression) {
    const Expr &callee = *expression.operands[0];
    bool isModule = callee.kind == ExprKind::Attribute &&
                    callee.operands[0]->kind == ExprKind::Name &&
                    (callee.operands[0]->text == "triton" || callee.operands[0]->text == "tl");
    if (callee.kind != ExprKind::Name && !isModule) {
      return notInteger(expression);
    }
    bool isKnown = false;
    for (std::string_view name : functionNames) {
      isKnown |= callee.text == name;
    }
    if (!isKnown) {
      std::vector<std::string> known(std::begin(functionNames), std::end(functionNames));
      std::vector<std::string> near = nearestNames(callee.text, known);
      return errorAt(callee, "E0281", "'" + callee.text + "' is no function of integer expressions")
          .withHelp(near.empty() ? "there are abs, cdiv, max, min and next_power_of_2"
                                 : "did you mean '" + near[0] + "'?");
    }
    std::vector<int64_t> arguments;
    for (size_t i = 1; i < expression.operands.size(); ++i) {
      Integer argument = evaluate(*expression.operands[i]);
      if (!argument) {
        return argument;
      }
      arguments.push_back(*argument);
    }
    return apply(expression, callee.text, arguments);
  }

  Integer apply(const Expr &place, const std::string &name, const std::vector<int64_t> &given) {
    bool takesMany = name == "min" || name == "max";
    size_t expected = name == "cdiv" || takesMany ? 2 : 1;
    bool fits = takesMany ? given.size() >= expected : given.size() == expected;
    if (!fits || !place.keywords.empty()) {
      return errorAt(place, "E0281",
                     "'" + name + "' expects " + (takesMany ? "at least " : "") +
                         std::to_string(expected) + " values, but got " +
                         std::to_string(given.size() + place.keywords.size()));
    }
    if (name == "cdiv") {
      return ceilDivide(place, given[0], given[1]);
    }
    if (name == "abs") {
      constexpr int64_t lowest = std::numeric_limits<int64_t>::min();
      return given[0] == lowest ? Integer(overflow(place, "-", 0, given[0]))
                                : Integer(given[0] < 0 ? -given[0] : given[0]);
    }
    if (name == "next_power_of_2") {
      return nextPowerOf2(place, given[0]);
    }
    int64_t out = given[0];
    for (int64_t value : given) {
      out = (name == "min") == (value < out) ? value : out;
    }
    return out;
  }

  Integer ceilDivide(const Expr &place, int64_t a, int64_t b) {
    Integer quotient = divide(place, "//", a, b);
    if (quotient && a % b != 0) {
      return *quotient + 1; // not exact, so |b| > 1 and the sum fits
    }
    return quotient;
  }

  Integer nextPowerOf2(const Expr &place, int64_t value) {
    if (value < 0 || value > (int64_t(1) << 62)) {
      return errorAt(place, "E0284",
                     "'next_power_of_2' expects 0 to 2^62, but got " + std::to_string(value));
    }
    int64_t out = value == 0 ? 0 : 1; // as upstream: 0 stays 0
    while (out < value) {
      out *= 2;
    }
    return out;
  }

  const NamedIntegers &values;
};

/// The tree of a text, kept by its thread: launch tables, grids and sizes are asked at thousands of
/// values. Null, with what `diags` say, for one that cannot be parsed.
std::shared_ptr<const Expr> parsed(std::string_view what, std::string_view text,
                                   Diagnostics &diags) {
  constexpr size_t treesAtMost = 4096; // a process may meet new texts for ever
  struct TextHash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };
  thread_local std::unordered_map<std::string, std::shared_ptr<const Expr>, TextHash,
                                  std::equal_to<>>
      trees;
  if (auto known = trees.find(text); known != trees.end()) {
    return known->second;
  }
  std::shared_ptr<const Expr> tree = parseExpression(what, text, diags);
  if (tree) {
    if (trees.size() >= treesAtMost) {
      trees.clear();
    }
    trees.emplace(text, tree);
  }
  return tree;
}

} // namespace

Result<int64_t> evaluateInteger(const Expr &expression, const NamedIntegers &values) {
  return Evaluator(values).evaluate(expression);
}

Result<int64_t> evaluateInteger(std::string_view what, std::string_view text,
                                const NamedIntegers &values) {
  Diagnostics diags;
  const std::shared_ptr<const Expr> expression = parsed(what, text, diags);
  if (!expression) {
    return diags.all().front();
  }
  Integer value = evaluateInteger(*expression, values);
  if (!value) {
    value.error().at(what, text, value.error().range);
  }
  return value;
}

Result<std::array<int64_t, 3>> evaluateGrid(std::string_view text, const NamedIntegers &values) {
  constexpr std::string_view what = "grid";
  Diagnostics diags;
  const std::shared_ptr<const Expr> expression = parsed(what, text, diags);
  if (!expression) {
    return diags.all().front();
  }
  std::vector<const Expr *> parts;
  if (expression->kind == ExprKind::Tuple) {
    for (const ExprPtr &part : expression->operands) {
      parts.push_back(part.get());
    }
  } else {
    parts.push_back(expression.get());
  }
  if (parts.empty() || parts.size() > 3) {
    return errorAt(*expression, "E0281",
                   "a grid expects 1 to 3 sizes, but got " + std::to_string(parts.size()))
        .at(what, text, expression->range);
  }
  std::array<int64_t, 3> grid = {1, 1, 1};
  for (size_t i = 0; i < parts.size(); ++i) {
    Integer size = evaluateInteger(*parts[i], values);
    if (size && *size < 0) {
      size = errorAt(*parts[i], "E0284",
                     "a grid size expects 0 or more, but got " + std::to_string(*size));
    }
    if (!size) {
      return std::move(size.error().at(what, text, size.error().range));
    }
    grid[i] = *size;
  }
  return grid;
}

} // namespace nereid::language
