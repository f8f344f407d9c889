// SPDX-License-Identifier: Apache-2.0
// The rules. Functions that rise or fall steadily are bounded by their values at the ends of the
// argument's interval, the others by their steepest slope. What has a row in Functions.cpp is
// bounded by its values at the ends of each operand's interval, the others in their middle.
#include "lib/eager/reference/rules/ErrorRules.h"

#include "lib/definition/Tolerance.h"
#include "lib/eager/reference/rules/FormulaRule.h"
#include "lib/eager/reference/rules/Functions.h"
#include "lib/eager/reference/rules/PowerRule.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

namespace nereid::eager {
namespace {

using definition::Node;
using definition::Operation;

constexpr double infinity = std::numeric_limits<double>::infinity();

double reluOf(double x) { return x < 0 ? 0.0 : x; }
double sigmoidOf(double x) { return 1 / (1 + std::exp(-x)); }
double softplusOf(double x) { return x > 40 ? x : std::log1p(std::exp(x)); }
double geluOf(double x) { return 0.5 * x * std::erfc(-x * 0.70710678118654752440); }
double geluTanhOf(double x) {
  return x * sigmoidOf(2 * 0.79788456080286535588 * (x + 0.044715 * x * x * x));
}

/// Steady functions; the bound follows from the interval's ends.
const std::map<std::string, ScalarFunction> &steadyFunctions() {
  static const std::map<std::string, ScalarFunction> functions = {
      {"expm1", [](double x) { return std::expm1(x); }},
      {"log", [](double x) { return std::log(x); }},
      {"log2", [](double x) { return std::log2(x); }},
      {"log1p", [](double x) { return std::log1p(x); }},
      {"sqrt", [](double x) { return std::sqrt(x); }},
      {"rsqrt", [](double x) { return 1 / std::sqrt(x); }},
      {"tanh", [](double x) { return std::tanh(x); }},
      {"erf", [](double x) { return std::erf(x); }},
      {"erfc", [](double x) { return std::erfc(x); }},
      {"sigmoid", sigmoidOf},
      {"floor", [](double x) { return std::floor(x); }},
      {"ceil", [](double x) { return std::ceil(x); }},
      {"round", [](double x) { return std::nearbyint(x); }},
      {"trunc", [](double x) { return std::trunc(x); }},
  };
  return functions;
}

struct Sloped {
  ScalarFunction function;
  double slope;           ///< largest absolute derivative
  double argumentFactor;  ///< unit roundoffs of |x| lost to cancellation inside the formula
  double flushFactor = 0; ///< smallest normal numbers of |x| lost where a factor of x underflows
};

const std::map<std::string, Sloped> &slopedFunctions() {
  static const std::map<std::string, Sloped> functions = {
      {"neg", {[](double x) { return -x; }, 1, 0}},
      {"abs", {[](double x) { return std::fabs(x); }, 1, 0}},
      {"relu", {reluOf, 1, 0}},
      {"sin", {[](double x) { return std::sin(x); }, 1, 4}},
      {"cos", {[](double x) { return std::cos(x); }, 1, 4}},
      {"gelu", {geluOf, 1.13, 4}},
      {"silu", {[](double x) { return x * sigmoidOf(x); }, 1.1, 0, 1}},
      {"mish", {[](double x) { return x * std::tanh(softplusOf(x)); }, 1.09, 4}},
      {"hardsigmoid",
       {[](double x) { return std::isnan(x) ? x : std::clamp(x / 6 + 0.5, 0., 1.); }, 0.17, 0.5}},
      {"hardswish",
       {[](double x) {
          return x <= -3  ? x * 0.0 // NaN where the formula, x relu6(x + 3) / 6, is
                 : x >= 3 ? x
                          : x * (x + 3) / 6;
        },
        1.5, 2}},
  };
  return functions;
}

/// An error of what may be another infinity, NaN or a number: rounded() makes it infinite.
constexpr double lost = -std::numeric_limits<double>::infinity();

/// How far a function's value is from those at the ends of its argument's interval. An infinity or
/// NaN is certain where both ends have it, too, as the type rounds them.
double fromEnds(const Rule &rule, double value, double low, double high) {
  if (std::isfinite(value)) {
    return std::max(std::fabs(value - low), std::fabs(high - value));
  }
  const auto isSame = [&](double end) {
    return end == value || (std::isnan(end) && std::isnan(value)) ||
           (std::fabs(end) > rule.largest && std::isinf(value) && (end > 0) == (value > 0));
  };
  return isSame(low) && isSame(high) ? 0 : lost;
}

Bounded steady(const Rule &rule, const Bounded &x) {
  Bounded out{rule.function(x.value), 0};
  if (x.error > 0) {
    out.error = fromEnds(rule, out.value, rule.function(std::max(x.value - x.error, rule.lowest)),
                         rule.function(x.value + x.error));
  }
  return out;
}

Bounded sloped(const Rule &rule, const Bounded &x) {
  if (!std::isfinite(x.value)) {
    return {rule.function(x.value), 0}; // the limit itself
  }
  const double value = rule.function(x.value), size = std::fabs(x.value);
  const double flushed = std::fabs(value) < 2 * rule.argumentFlush * size ? rule.argumentFlush : 0;
  return {value, rule.slope * x.error + (rule.argumentLoss + flushed) * size};
}

/// Implementations may scale by two factors, of which a finite one becomes part of a fused
/// multiplication and addition: infinite is for certain what both are infinite for.
bool mayBeFinite(const Rule &rule, ScalarFunction power, const Bounded &x) {
  return std::isfinite(x.value) && power(x.value / 2) <= rule.largest;
}

Bounded exponential(const Rule &rule, const Bounded &x) {
  const double value = std::exp(x.value);
  if (std::isinf(value) && mayBeFinite(rule, [](double at) { return std::exp(at); }, x)) {
    return {value, lost};
  }
  if (x.error < 1 && std::isfinite(value)) { // the ends of the interval would cancel
    return {value, x.error > 0 ? value * std::expm1(x.error) : 0};
  }
  return {value, fromEnds(rule, value, std::exp(x.value - x.error), std::exp(x.value + x.error))};
}

Bounded powerOfTwo(const Rule &rule, const Bounded &x) {
  const ScalarFunction power = [](double at) { return std::exp2(at); };
  const double value = power(x.value);
  if (std::isinf(value) && mayBeFinite(rule, power, x)) {
    return {value, lost};
  }
  const bool isOff = x.error > 0;
  return {value,
          isOff ? fromEnds(rule, value, power(x.value - x.error), power(x.value + x.error)) : 0};
}

/// Its sign is not known, or whether it is 0.
bool mayBeZero(const Bounded &x) { return x.error > 0 && !(std::fabs(x.value) > x.error); }

/// In float64 the reference leaves the range itself, where a fused multiplication and addition does
/// not.
bool overflows(double value, const Bounded &a, const Bounded &b) {
  return std::isinf(value) && std::isfinite(a.value) && std::isfinite(b.value);
}

bool areExact(const Bounded &a, const Bounded &b) { return a.error == 0 && b.error == 0; }

/// Of a result that float64 has as 0 alone: a sum with it, fused, may be of either sign.
double underflow(double value, bool isZero) {
  return value == 0 && !isZero ? std::numeric_limits<double>::denorm_min() : 0;
}

Bounded quotient(const Bounded &a, const Bounded &b) {
  Bounded out{a.value / b.value, 0};
  if (std::isnan(a.value) || std::isnan(b.value)) {
    return out;
  }
  if (!std::isfinite(out.value)) { // by 0, of an infinity, or beyond the range
    const bool isNone = b.value == 0 && b.error <= eitherZero.error && a.value == 0 && a.error == 0;
    if (isNone) {
      return {std::numeric_limits<double>::quiet_NaN(), 0};
    }
    const bool mayBeNaN = b.value == 0 && mayBeZero(a);
    const bool leavesRange = b.value != 0 && overflows(out.value, a, b);
    return {out.value, mayBeZero(b) || mayBeNaN || leavesRange ? lost : 0};
  }
  const double denominator = std::fabs(b.value) - b.error;
  const double lastBit = underflow(out.value, a.value == 0 || std::isinf(b.value));
  if (areExact(a, b)) {
    out.error = lastBit;
    return out;
  }
  // In extended precision: beside the smallest numbers of float64 products of errors are none.
  const long double numerator = a.error + static_cast<long double>(std::fabs(out.value)) * b.error;
  out.error = denominator > 0 ? static_cast<double>(numerator / denominator) + lastBit : infinity;
  return out;
}

Bounded product(const Bounded &a, const Bounded &b) {
  if (std::isnan(a.value) || std::isnan(b.value)) {
    return {a.value * b.value, 0};
  }
  if (std::isinf(a.value) || std::isinf(b.value)) {
    return {a.value * b.value, mayBeZero(std::isinf(a.value) ? b : a) ? lost : 0};
  }
  const double value = a.value * b.value;
  const double error = std::fabs(a.value) * b.error + std::fabs(b.value) * a.error +
                       a.error * b.error + underflow(value, a.value == 0 || b.value == 0);
  return {value, overflows(value, a, b) ? lost : error};
}

/// a + sign * b
Bounded added(const Bounded &a, const Bounded &b, double sign) {
  const double value = a.value + sign * b.value;
  if (!std::isfinite(value)) {
    return {value, overflows(value, a, b) ? lost : 0};
  }
  return {value, a.error + b.error};
}

/// An error of what float64 has as it is: rounded() adds none to it.
constexpr double untouched = -1;

Bounded product(const Rule &rule, const Bounded &a, const Bounded &b) {
  const Bounded out = product(a, b);
  const bool isExact = rule.keepsExact && areExact(a, b) && std::fabs(out.value) >= rule.tiny &&
                       std::fma(a.value, b.value, -out.value) == 0; // false of infinities and NaN
  return isExact ? Bounded{out.value, untouched} : out;
}

Bounded added(const Rule &rule, const Bounded &a, const Bounded &b, double sign) {
  const Bounded out = added(a, b, sign);
  const double own = sign * b.value, part = out.value - a.value;
  const double rest = (a.value - (out.value - part)) + (own - part);
  return rule.keepsExact && areExact(a, b) && rest == 0 ? Bounded{out.value, untouched} : out;
}

Bounded select(const Bounded &condition, const Bounded &a, const Bounded &b) {
  const Bounded &chosen = condition.value != 0 ? a : b;
  if (condition.error == 0) {
    return chosen;
  }
  return {chosen.value, distance(a.value, b.value) + std::max(a.error, b.error)};
}

template <bool largest> Bounded extremum(const Bounded &a, const Bounded &b) {
  bool beats = largest ? a.value > b.value : a.value < b.value;
  bool first = std::isnan(a.value) || (!std::isnan(b.value) && beats);
  return first ? chosen(a, b) : chosen(b, a);
}

Bounded clamped(const Bounded &x, const Bounded &low, const Bounded &high) {
  const bool isRaised = x.value < low.value || std::isnan(low.value);
  const Bounded raised = isRaised ? chosen(low, x) : chosen(x, low);
  const bool isLowered = raised.value > high.value || std::isnan(high.value);
  return isLowered ? chosen(high, raised) : chosen(raised, high);
}

template <class Holds> Bounded compared(const Bounded &a, const Bounded &b, Holds holds) {
  double margin = a.error + b.error;
  bool isClose = margin > 0 && !(std::fabs(a.value - b.value) > margin);
  return {holds(a.value, b.value) ? 1.0 : 0.0, isClose ? 1.0 : 0.0};
}

Bounded truth(bool holds, bool isUncertain) { return {holds ? 1.0 : 0.0, isUncertain ? 1.0 : 0.0}; }

/// One that is surely false decides, whatever the other is.
Bounded both(const Bounded &a, const Bounded &b) {
  const bool isDecided = (a.error == 0 && a.value == 0) || (b.error == 0 && b.value == 0);
  return truth(a.value != 0 && b.value != 0, !isDecided && a.error + b.error > 0);
}

/// One that surely holds decides.
Bounded either(const Bounded &a, const Bounded &b) {
  const bool isDecided = (a.error == 0 && a.value != 0) || (b.error == 0 && b.value != 0);
  return truth(a.value != 0 || b.value != 0, !isDecided && a.error + b.error > 0);
}

Bounded kneed(const Rule &rule, const Bounded &x, const Bounded &factor) {
  double below = rule.function ? factor.value * rule.function(x.value) : factor.value * x.value;
  double slope = std::max(1.0, std::fabs(factor.value));
  const bool mayBend = factor.error > 0 && !(x.value >= x.error);
  const double bent = rule.function ? rule.function(x.value - x.error) : x.value - x.error;
  return {x.value < 0 ? below : x.value,
          slope * x.error + (mayBend ? std::fabs(bent) * factor.error : 0)};
}

Bounded softplus(const Rule &rule, const Bounded &x, const Bounded &beta,
                 const Bounded &threshold) {
  const double scaled = x.value * beta.value, bent = softplusOf(scaled) / beta.value;
  double error = x.error + rule.unit / std::fabs(beta.value);
  if (beta.error > 0) {
    error += beta.error / std::fabs(beta.value) *
             (std::fabs(bent) + std::fabs(x.value) * sigmoidOf(scaled));
  }
  // Near the threshold either form will do.
  const double margin = rule.unit * std::fabs(scaled) + x.error * std::fabs(beta.value) +
                        std::fabs(x.value) * beta.error + threshold.error;
  const bool isClose = std::fabs(scaled - threshold.value) <= margin;
  const double value = scaled > threshold.value ? x.value : bent;
  if (!std::isfinite(value) && !std::isfinite(x.value) && beta.error == 0) {
    return {value, 0};
  }
  return {value, error + (isClose ? std::fabs(x.value - bent) : 0)};
}

/// Adds the operation's own rounding, which is one of `scale`, and looks after the type's range.
/// `keeps`: what float32 has as a number is left as it is.
inline Bounded rounded(const Rule &rule, Bounded out, bool inputLost, double scale, bool keeps) {
  if (inputLost || out.error == lost) {
    return {out.value, infinity};
  }
  if (!std::isfinite(out.value)) { // any error of it is that of something else
    return {out.value, out.error == 0 || out.error == untouched ? 0 : infinity};
  }
  if (out.error == untouched) {
    const double stored = rule.storageUnit * (std::fabs(out.value) + rule.storageTiny);
    return {out.value, std::fabs(out.value) + stored <= rule.largest ? stored : infinity};
  }
  double magnitude = std::fabs(out.value);
  const bool isExact = keeps && out.error == 0 && magnitude >= rule.tiny &&
                       static_cast<double>(static_cast<float>(out.value)) == out.value;
  double error = out.error + (isExact ? 0 : rule.roundings * scale);
  const bool isZero = magnitude == 0 && error == 0; // exp(-inf) is nothing else
  error += magnitude < 2 * rule.tiny && !isZero ? rule.flushed : 0;
  // Below the normal numbers a rounding is that of the smallest of them.
  error += magnitude > 0 && magnitude < rule.tiny && rule.roundings > 0 ? rule.lastBit : 0;
  error += rule.storageUnit * (magnitude + error + rule.storageTiny);
  bool inside = magnitude + error <= rule.largest; // false for NaN too
  return {out.value, inside ? error : infinity};
}

inline Bounded rounded(const Rule &rule, Bounded out, bool inputLost) {
  return rounded(rule, out, inputLost, std::fabs(out.value), rule.keepsRepresentable);
}

/// However a quotient is computed, that by a power of two is a product.
bool isPowerOfTwo(const Bounded &x) {
  int exponent = 0;
  return x.error == 0 && std::fabs(std::frexp(x.value, &exponent)) == 0.5;
}

/// How far the value may be off, because each operand may be so far off as its error says.
double inherited(const Function &row, double value, const Bounded *in, double *at, size_t count) {
  double error = 0;
  for (size_t k = 0; k < count; ++k) {
    if (in[k].error == 0) {
      continue;
    }
    double most = 0;
    for (double end : {in[k].value - in[k].error, in[k].value + in[k].error}) {
      at[k] = end;
      const double away = row.value(at);
      const bool isSame = away == value || (std::isnan(away) && std::isnan(value));
      const double difference = isSame ? 0 : std::fabs(away - value);
      most = std::isnan(difference) ? infinity : std::max(most, difference);
    }
    at[k] = in[k].value;
    error += most;
  }
  return error;
}

template <size_t operandCount>
void runRow(const Rule &rule, const Bounded *const *operands, const int64_t *steps, Bounded *out,
            int64_t n) {
  const Function &row = *rule.row;
  for (int64_t i = 0; i < n; ++i) {
    Bounded in[operandCount];
    double at[operandCount];
    bool isLost = false;
    for (size_t k = 0; k < operandCount; ++k) {
      in[k] = operands[k][i * steps[k]];
      at[k] = in[k].value;
      isLost = isLost || in[k].error == infinity;
    }
    const double value = row.value(at);
    double scale = row.scale ? row.scale(at) : std::fabs(value);
    scale = std::isnan(scale) ? std::fabs(value) : scale;
    double error = isLost ? 0 : inherited(row, value, in, at, operandCount);
    if (const double product = row.fragile ? row.fragile(at) : infinity; product < 2 * rule.tiny) {
      error += std::isfinite(value) ? rule.tiny * row.multiplied(at) : 0;
      isLost = isLost || (product > 0 && std::isinf(value)); // 0 by 0, once the product is 0
    }
    isLost = isLost || (row.largest && row.largest(at) > rule.largest && std::isfinite(value));
    for (size_t k = 0; row.reach && k < operandCount; ++k) {
      isLost = isLost || in[k].error > row.reach(at, k);
    }
    out[i] = rounded(rule, {value, error}, isLost || (std::isfinite(value) && scale > rule.largest),
                     scale, false);
  }
}

/// What becomes of an exact result: numbers are rounded and lost when an operand was, but for sums
/// and products of a NaN that is none by chance; selections are only lost with what they select;
/// truth values are exact.
enum class Finish { Number, Arithmetic, Selection, Truth };

template <Finish finish, size_t operandCount, class Exact>
void runRule(const Rule &rule, const Bounded *const *operands, const int64_t *steps, Bounded *out,
             int64_t n) {
  Bounded in[operandCount];
  for (int64_t i = 0; i < n; ++i) {
    bool lost = false, isNaN = false;
    for (size_t k = 0; k < operandCount; ++k) {
      in[k] = operands[k][i * steps[k]];
      lost = lost || in[k].error == infinity;
      isNaN = isNaN || (std::isnan(in[k].value) && in[k].error != infinity);
    }
    lost = lost && !(finish == Finish::Arithmetic && isNaN);
    Bounded exact = Exact{}(rule, in);
    if constexpr (finish == Finish::Truth) {
      out[i] = exact;
    } else {
      const bool isLost = finish == Finish::Selection ? exact.error == infinity : lost;
      const bool keeps =
          rule.keepsRepresentable && (!rule.divides || isPowerOfTwo(in[operandCount - 1]));
      out[i] = rounded(rule, exact, isLost, std::fabs(exact.value), keeps);
    }
  }
}

using Run = decltype(Rule::run);

#define NEREID_RULE(FINISH, COUNT, EXPRESSION)                                                     \
  [] {                                                                                             \
    struct Exact {                                                                                 \
      Bounded operator()([[maybe_unused]] const Rule &rule, const Bounded *in) const {             \
        return EXPRESSION;                                                                         \
      }                                                                                            \
    };                                                                                             \
    return static_cast<Run>(runRule<Finish::FINISH, COUNT, Exact>);                                \
  }()
/// Every implementation has exp(0) = 1.
void exponentials(const Rule &rule, const Bounded *const *operands, const int64_t *steps,
                  Bounded *out, int64_t n) {
  NEREID_RULE(Number, 1, exponential(rule, in[0]))(rule, operands, steps, out, n);
  for (int64_t i = 0; i < n; ++i) {
    const Bounded &x = operands[0][i * steps[0]];
    out[i].error = x.value == 0 && x.error == 0 ? 0 : out[i].error;
  }
}

#define NEREID_COMPARISON(SIGN)                                                                    \
  NEREID_RULE(Truth, 2, compared(in[0], in[1], [](double a, double b) { return a SIGN b; }))

const std::map<std::string, Run> &otherRules() {
  static const std::map<std::string, Run> rules = {
      {"exp", exponentials},
      {"exp2", NEREID_RULE(Number, 1, powerOfTwo(rule, in[0]))},
      {"square", NEREID_RULE(Number, 1, product(in[0], in[0]))},
      {"reciprocal", NEREID_RULE(Number, 1, quotient({1, 0}, in[0]))},
      {"add", NEREID_RULE(Arithmetic, 2, added(rule, in[0], in[1], 1))},
      {"sub", NEREID_RULE(Arithmetic, 2, added(rule, in[0], in[1], -1))},
      {"mul", NEREID_RULE(Arithmetic, 2, product(rule, in[0], in[1]))},
      {"div", NEREID_RULE(Arithmetic, 2, quotient(in[0], in[1]))},
      {"pow", NEREID_RULE(Number, 2, power(in[0], in[1], rule.lowest))},
      {"maximum", NEREID_RULE(Number, 2, extremum<true>(in[0], in[1]))},
      {"minimum", NEREID_RULE(Number, 2, extremum<false>(in[0], in[1]))},
      {"leaky_relu", NEREID_RULE(Number, 2, kneed(rule, in[0], in[1]))},
      {"elu", NEREID_RULE(Number, 2, kneed(rule, in[0], in[1]))},
      {"clamp", NEREID_RULE(Number, 3, clamped(in[0], in[1], in[2]))},
      {"softplus", NEREID_RULE(Number, 3, softplus(rule, in[0], in[1], in[2]))},
      {"where", NEREID_RULE(Selection, 3, select(in[0], in[1], in[2]))},
      {"masked_fill", NEREID_RULE(Selection, 3, select(in[1], in[2], in[0]))},
      {"isnan", NEREID_RULE(Truth, 1, truth(std::isnan(in[0].value), in[0].error == infinity))},
      {"isinf", NEREID_RULE(Truth, 1, truth(std::isinf(in[0].value), in[0].error == infinity))},
      {"isfinite",
       NEREID_RULE(Truth, 1, truth(std::isfinite(in[0].value), in[0].error == infinity))},
      {"logical_not", NEREID_RULE(Truth, 1, truth(in[0].value == 0, in[0].error > 0))},
      {"logical_and", NEREID_RULE(Truth, 2, both(in[0], in[1]))},
      {"logical_or", NEREID_RULE(Truth, 2, either(in[0], in[1]))},
      {"logical_xor",
       NEREID_RULE(Truth, 2,
                   truth((in[0].value != 0) != (in[1].value != 0), in[0].error + in[1].error > 0))},
      {"bitwise_not", NEREID_RULE(Truth, 1, truth(in[0].value == 0, in[0].error > 0))},
      {"bitwise_and", NEREID_RULE(Truth, 2, both(in[0], in[1]))},
      {"bitwise_or", NEREID_RULE(Truth, 2, either(in[0], in[1]))},
      {"bitwise_xor",
       NEREID_RULE(Truth, 2,
                   truth((in[0].value != 0) != (in[1].value != 0), in[0].error + in[1].error > 0))},
      {"eq", NEREID_COMPARISON(==)},
      {"ne", NEREID_COMPARISON(!=)},
      {"lt", NEREID_COMPARISON(<)},
      {"le", NEREID_COMPARISON(<=)},
      {"gt", NEREID_COMPARISON(>)},
      {"ge", NEREID_COMPARISON(>=)},
  };
  return rules;
}

Rule modelRule(double roundings, const ErrorModel &model) {
  Rule rule;
  rule.unit = definition::unitRoundoff(model.compute);
  rule.tiny = definition::smallestNormal(model.compute);
  rule.largest = definition::largestFinite(model.compute);
  rule.lastBit = std::max(rule.unit * rule.tiny,
                          std::numeric_limits<double>::denorm_min()); // not 0 of float64
  rule.roundings = roundings * rule.unit;
  rule.flushed = roundings >= 4 ? rule.tiny : 0; // functions may flush what underflows
  if (model.storesEachOperation) {
    rule.storageUnit = definition::unitRoundoff(model.storage);
    rule.storageTiny = definition::smallestNormal(model.storage);
    rule.largest = definition::largestFinite(model.storage);
  }
  return rule;
}

Bounded rounded(Bounded out, double roundings, bool inputLost, const ErrorModel &model) {
  return rounded(modelRule(roundings, model), out, inputLost);
}

} // namespace

Bounded chosen(const Bounded &which, const Bounded &other) {
  if (!std::isfinite(which.value)) { // nothing is beyond it
    return which;
  }
  const double margin = which.error + other.error;
  const bool isClose = margin > 0 && !(std::fabs(which.value - other.value) > margin);
  return {which.value, isClose ? std::max(which.error, other.error) : which.error};
}

Bounded roundedResult(Bounded out, double roundings, bool isLost, const ErrorModel &model) {
  return rounded(out, roundings, isLost, model);
}

Rule makeRule(const Node &node, const Operation &operation, const ErrorModel &model) {
  Rule rule = modelRule(operation.rounding, model);
  rule.row = functionOf(node);
  if (rule.row) {
    static constexpr decltype(Rule::run) byCount[] = {runRow<1>, runRow<2>, runRow<3>, runRow<4>,
                                                      runRow<5>};
    rule.run = byCount[operation.operandCount() - 1];
  } else if (auto found = steadyFunctions().find(node.op); found != steadyFunctions().end()) {
    rule.function = found->second;
    rule.run = NEREID_RULE(Number, 1, steady(rule, in[0]));
  } else if (auto slope = slopedFunctions().find(node.op); slope != slopedFunctions().end()) {
    bool isTanhForm =
        node.op == "gelu" && definition::stringAttribute(node, "approximate", "none") == "tanh";
    rule.function = isTanhForm ? geluTanhOf : slope->second.function;
    rule.slope = slope->second.slope;
    rule.argumentLoss = slope->second.argumentFactor * rule.unit;
    rule.argumentFlush = slope->second.flushFactor * rule.tiny;
    rule.run = NEREID_RULE(Number, 1, sloped(rule, in[0]));
  } else {
    rule.divides = node.op == "div";
    rule.keepsExact = model.compute == DType::F64;
    rule.keepsRepresentable = model.compute == DType::F32 && (rule.divides || node.op == "add" ||
                                                              node.op == "sub" || node.op == "mul");
    rule.function = node.op == "elu" ? [](double x) { return std::expm1(x); } : ScalarFunction{};
    auto found = otherRules().find(node.op);
    if (found != otherRules().end()) {
      rule.run = found->second;
    } else if (Rule ofFormula = formulaRule(node, model); ofFormula.run) {
      return ofFormula;
    }
  }
  return rule;
}

Bounded finishProductSum(const Rule &rule, Bounded sum, double magnitudes, int64_t terms,
                         bool isLost, const ErrorModel &model) {
  if (magnitudes == 0 && sum.value == 0 && sum.error == 0 && !isLost) { // of zeros
    return {sum.value, 0};
  }
  // One rounding of each product, then those of the sum. What is smaller than a normal number may
  // be lost with each of them: dot products of bfloat16 on x86-64 (VDPBF16PS) give 0 for it.
  const double steps = 1 + definition::summationSteps(terms);
  sum.error += steps * rule.unit * magnitudes + static_cast<double>(terms) * rule.tiny;
  const bool overflows = !(magnitudes <= definition::largestFinite(model.compute));
  return rounded(rule, sum, isLost || overflows);
}

} // namespace nereid::eager
