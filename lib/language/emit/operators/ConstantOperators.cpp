// SPDX-License-Identifier: Apache-2.0
#include "lib/language/emit/operators/ConstantOperators.h"

#include <cmath>

namespace nereid::language::emit {

static constexpr size_t maxSequence = 4096;

Value ConstantOperators::reals(const std::string &op, double a, double b) {
  if (op == "+") {
    return Value::floating(a + b);
  }
  if (op == "-") {
    return Value::floating(a - b);
  }
  if (op == "*") {
    return Value::floating(a * b);
  }
  if (op == "**") {
    return Value::floating(std::pow(a, b));
  }
  if (op == "/" || op == "//" || op == "%") {
    if (b == 0) {
      return report.fail("E0222", "division of a constant by zero");
    }
    if (op == "/") {
      return Value::floating(a / b);
    }
    double rest = std::fmod(a, b);
    if (rest != 0 && (rest < 0) != (b < 0)) {
      rest += b;
    }
    return Value::floating(op == "%" ? rest : std::floor((a - rest) / b + 0.5));
  }
  return report.fail("E0204", "'" + op + "' expects integers, but got the constants " +
                                  pythonText(Value::floating(a)) + " and " +
                                  pythonText(Value::floating(b)));
}

Value ConstantOperators::power(Integer a, Integer b) {
  if (b < 0) {
    return reals("**", static_cast<double>(a), static_cast<double>(b));
  }
  Integer result = 1;
  bool isTooLarge = b > 127 && a != 0 && a != 1 && a != -1;
  for (Integer i = 0; !isTooLarge && i < (b > 127 ? b % 2 + 2 : b); ++i) {
    isTooLarge = __builtin_mul_overflow(result, a, &result);
  }
  return isTooLarge ? report.fail("E0222", "the constant " + integerText(a) + " ** " +
                                               integerText(b) + " is too large")
                    : Value::whole(result);
}

Value ConstantOperators::wholes(const std::string &op, Integer a, Integer b) {
  Integer result = 0;
  bool isTooLarge = false;
  if (op == "+") {
    isTooLarge = __builtin_add_overflow(a, b, &result);
  } else if (op == "-") {
    isTooLarge = __builtin_sub_overflow(a, b, &result);
  } else if (op == "*") {
    isTooLarge = __builtin_mul_overflow(a, b, &result);
  } else if (op == "**") {
    return power(a, b);
  } else if (op == "&" || op == "|" || op == "^") {
    result = op == "&" ? (a & b) : op == "|" ? (a | b) : (a ^ b);
  } else if (op == "<<" || op == ">>") {
    if (b < 0) {
      return report.fail("E0222", "shift of a constant by " + integerText(b) + " bits");
    }
    if (op == ">>") {
      result = b > 126 ? (a < 0 ? -1 : 0) : a >> static_cast<int>(b);
    } else {
      isTooLarge =
          a != 0 && (b > 126 || __builtin_mul_overflow(
                                    a, static_cast<Integer>(1) << static_cast<int>(b), &result));
    }
  } else if (op == "/" || op == "//" || op == "%") {
    if (b == 0) {
      return report.fail("E0222", "division of a constant by zero");
    }
    if (op == "/") {
      return Value::floating(static_cast<double>(a) / static_cast<double>(b));
    }
    if (b == -1) {
      isTooLarge = op != "%" && __builtin_sub_overflow(static_cast<Integer>(0), a, &result);
    } else {
      Integer quotient = a / b, rest = a % b;
      bool isRoundedUp = rest != 0 && (rest < 0) != (b < 0);
      result = op == "%" ? rest + (isRoundedUp ? b : 0) : quotient - (isRoundedUp ? 1 : 0);
    }
  } else {
    return report.fail("E0311", "operator '" + op + "' is not supported in a kernel");
  }
  return isTooLarge ? report.fail("E0222", "the constant " + integerText(a) + " " + op + " " +
                                               integerText(b) + " is too large")
                    : Value::whole(result);
}

Value ConstantOperators::sequences(const std::string &op, const Value &a, const Value &b) {
  if (op == "+" && a.isTuple() && b.isTuple()) {
    std::vector<Value> elements = a.elements;
    elements.insert(elements.end(), b.elements.begin(), b.elements.end());
    return Value::tuple(std::move(elements));
  }
  if (op == "+" && a.isString() && b.isString()) {
    return Value::string(a.text + b.text);
  }
  const Value &sequence = a.isTuple() ? a : b, &count = a.isTuple() ? b : a;
  if (op == "*" && sequence.isTuple() && count.isWhole()) {
    std::vector<Value> elements;
    if (count.integer > 0 && count.integer * static_cast<Integer>(sequence.elements.size()) >
                                 static_cast<Integer>(maxSequence)) {
      return report.fail("E0222",
                         "a tuple of more than " + std::to_string(maxSequence) + " elements");
    }
    for (Integer i = 0; i < count.integer; ++i) {
      elements.insert(elements.end(), sequence.elements.begin(), sequence.elements.end());
    }
    return Value::tuple(std::move(elements));
  }
  return report.fail("E0204",
                     "'" + op + "' does not work on " + describe(a) + " and " + describe(b));
}

Value ConstantOperators::binary(const std::string &op, const Value &a, const Value &b) {
  if (!a.isNumber() || !b.isNumber()) {
    return sequences(op, a, b);
  }
  if (a.kind == Value::Kind::Float || b.kind == Value::Kind::Float) {
    return reals(op, a.asReal(), b.asReal());
  }
  bool isLogic = op == "&" || op == "|" || op == "^";
  if (isLogic && a.kind == Value::Kind::Bool && b.kind == Value::Kind::Bool) {
    return Value::boolean(wholes(op, a.integer, b.integer).integer != 0);
  }
  return wholes(op, a.integer, b.integer);
}

static std::optional<int> order(const Value &a, const Value &b) {
  if (a.isNumber() && b.isNumber()) {
    if (a.isWhole() && b.isWhole()) {
      return a.integer < b.integer ? -1 : a.integer > b.integer;
    }
    double x = a.asReal(), y = b.asReal();
    return x < y    ? std::optional(-1)
           : x > y  ? std::optional(1)
           : x == y ? std::optional(0)
                    : std::nullopt;
  }
  if (a.isString() && b.isString()) {
    int sign = a.text.compare(b.text);
    return sign < 0 ? -1 : sign > 0;
  }
  for (size_t i = 0; i < std::min(a.elements.size(), b.elements.size()); ++i) {
    std::optional<int> sign = order(a.elements[i], b.elements[i]);
    if (!sign || *sign != 0) {
      return sign;
    }
  }
  return a.elements.size() < b.elements.size() ? -1 : a.elements.size() > b.elements.size();
}

/// Whether Python orders the two: numbers, strings, tuples of them.
static bool isOrdered(const Value &a, const Value &b) {
  bool isTuple = a.isTuple() && b.isTuple();
  for (size_t i = 0; isTuple && i < std::min(a.elements.size(), b.elements.size()); ++i) {
    isTuple = isOrdered(a.elements[i], b.elements[i]);
  }
  return isTuple || (a.isNumber() && b.isNumber()) || (a.isString() && b.isString());
}

static bool equals(const Value &a, const Value &b) {
  if ((a.isNumber() && b.isNumber()) || (a.isString() && b.isString())) {
    return order(a, b) == 0;
  }
  if (a.isTuple() && b.isTuple()) {
    bool isEqual = a.elements.size() == b.elements.size();
    for (size_t i = 0; isEqual && i < a.elements.size(); ++i) {
      isEqual = equals(a.elements[i], b.elements[i]);
    }
    return isEqual;
  }
  return isSame(a, b);
}

Value ConstantOperators::compare(const std::string &op, const Value &a, const Value &b) {
  if (op == "==" || op == "is") {
    return Value::boolean(equals(a, b));
  }
  if (op == "!=" || op == "is not") {
    return Value::boolean(!equals(a, b));
  }
  if (op == "in" || op == "not in") {
    bool isFound = false;
    if (b.isTuple()) {
      for (const Value &element : b.elements) {
        isFound = isFound || equals(a, element);
      }
    } else if (b.isString() && a.isString()) {
      isFound = b.text.find(a.text) != std::string::npos;
    } else {
      return report.fail("E0204",
                         "'" + op + "' expects a tuple or a string, but got " + describe(b));
    }
    return Value::boolean(isFound == (op == "in"));
  }
  if (!isOrdered(a, b)) {
    return report.fail("E0204", "cannot order " + describe(a) + " and " + describe(b));
  }
  std::optional<int> sign = order(a, b);
  if (!sign) {
    return Value::boolean(false); // a NaN
  }
  return Value::boolean(op == "<"    ? *sign < 0
                        : op == "<=" ? *sign <= 0
                        : op == ">"  ? *sign > 0
                                     : *sign >= 0);
}

Value ConstantOperators::unary(const std::string &op, const Value &a) {
  if (op == "+") {
    return a.kind == Value::Kind::Bool ? Value::whole(a.integer) : a;
  }
  if (op == "~") {
    return a.isWhole() ? Value::whole(~a.integer)
                       : report.fail("E0204", "'~' expects an integer, but got " + describe(a));
  }
  return a.isWhole() ? Value::whole(-a.integer) : Value::floating(-a.real);
}

} // namespace nereid::language::emit
