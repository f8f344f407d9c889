// SPDX-License-Identifier: Apache-2.0
// One row for each operation, in the order of operations.def.
#include "lib/eager/reference/rules/Functions.h"

#include "lib/definition/operations/Operations.h"
#include "lib/eager/reference/rules/SpecialFunctions.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

namespace nereid::eager {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

double magnitude(double x) { return std::fabs(x); }
double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double softplus(double x) { return std::max(x, 0.0) + std::log1p(std::exp(-magnitude(x))); }
double clamped(double x, double low, double high) {
  // The lower one first: where low is above high, high is left. A bound that is NaN makes NaN.
  const double raised = x < low || std::isnan(low) ? low : x;
  return raised > high || std::isnan(high) ? high : raised;
}
double rectified(double x) { return x < 0 ? 0 : x; }
double logSigmoid(double x) {
  return std::isnan(x) ? x : x < 0 ? x - std::log1p(std::exp(x)) : -std::log1p(std::exp(-x));
}
bool disagree(double a, double b) { return (a < 0) != (b < 0); }

/// Has the divisor's sign, as Python's %.
double remainderOf(double a, double b) {
  const double rest = std::fmod(a, b);
  return rest != 0 && disagree(rest, b) ? rest + b : rest;
}
/// Of a quarter of the divisor's size; what the divisor is off counts as often as it goes into the
/// dividend.
double restReach(const double *x, size_t operand) {
  const double quarter = 0.25 * magnitude(x[1]);
  return operand == 0 ? quarter : quarter / std::max(1.0, magnitude(x[0] / x[1]));
}
/// What the rest leaves of a, divided: a whole number up to its rounding.
double floorDivide(double a, double b) {
  if (b == 0 || !std::isfinite(a) || std::isnan(b)) {
    return b == 0 ? a / b : nan;
  }
  if (std::isinf(b)) {
    return a == 0 || !disagree(a, b) ? 0 : -1;
  }
  const double whole = (a - std::fmod(a, b)) / b;
  const double nearest = std::nearbyint(whole);
  return std::fmod(a, b) != 0 && disagree(a, b) ? nearest - 1 : nearest;
}
double logOfSum(double a, double b, double base) {
  if (std::isnan(a) || std::isnan(b) || (a == b && std::isinf(a))) {
    return a + b == a ? a : std::isnan(a) ? a : std::isnan(b) ? b : a;
  }
  const double top = std::max(a, b), away = magnitude(a - b);
  return top + std::log1p(std::exp(-away * base)) / base;
}
double xlogy(double x, double y) { return std::isnan(y) ? y : x == 0 ? 0 : x * std::log(y); }
double entropy(double x) { return x > 0 ? -x * std::log(x) : x == 0 ? 0 : x < 0 ? -infinity : x; }
double logitOf(double x, double eps) {
  // An eps that is NaN bounds nothing, as in PyTorch, whose clamp it does not go by.
  const double raised = x < eps ? eps : x, z = raised > 1 - eps ? 1 - eps : raised;
  return std::log(z / (1 - z));
}
/// Where 1 - eps decides, its rounding is as large as what is left of 1.
double logitScale(const double *x) {
  const double value = magnitude(logitOf(x[0], x[1]));
  return value + 1 + (x[0] > 1 - x[1] ? 1 / x[1] : 0);
}

double huber(double away, double delta) {
  away = magnitude(away);
  return away <= delta ? 0.5 * away * away : delta * (away - 0.5 * delta);
}
double smoothL1(double away, double beta) {
  away = magnitude(away);
  return away < beta ? 0.5 * away * away / beta : away - 0.5 * beta;
}
double crossEntropy(double x, double t, double weight) {
  const double left = std::max(std::log1p(-x), -100.0), right = std::max(std::log(x), -100.0);
  return std::isnan(x) ? x : weight * ((t - 1) * left - t * right);
}
double logitsLoss(const double *x) {
  const double factor = 1 + (x[3] - 1) * x[1];
  return x[2] * ((1 - x[1]) * x[0] - factor * logSigmoid(x[0]));
}
double logitsScale(const double *x) {
  const double factor = 1 + magnitude(x[3] - 1) * magnitude(x[1]);
  return magnitude(x[2]) * (magnitude((1 - x[1]) * x[0]) + factor * -logSigmoid(x[0]));
}

/// d/dx of x tanh(softplus(x)).
double mishSlope(double x) {
  const double t = std::tanh(softplus(x)), near = x > 40 ? 40 : x;
  const double sech = 1 / std::cosh(std::min(softplus(x), 700.0));
  return t + near * sech * sech * sigmoid(near);
}
double siluSlope(double x) { return sigmoid(x) * (1 + x * sigmoid(-x)); }
double geluSlope(double x) {
  return 0.5 * std::erfc(-x * 0.70710678118654752440) +
         x * 0.39894228040143267794 * std::exp(-0.5 * x * x);
}
double geluTanhSlope(double x) {
  x = clamped(x, -30, 30);
  const double inner = 0.79788456080286535588 * (x + 0.044715 * x * x * x);
  const double slope = 0.79788456080286535588 * (1 + 3 * 0.044715 * x * x);
  return sigmoid(2 * inner) + 2 * x * sigmoid(2 * inner) * sigmoid(-2 * inner) * slope;
}
double smoothL1Slope(const double *x) {
  const double away = x[1] - x[2];
  return away <= -x[3] ? -x[0] : away >= x[3] ? x[0] : x[0] * away / x[3];
}

#define NEREID_OF(EXPRESSION) [](const double *x) -> double { return EXPRESSION; }
#define NEREID_VALUE(NAME, EXPRESSION)                                                             \
  {                                                                                                \
    NAME, { NEREID_OF(EXPRESSION) }                                                                \
  }
#define NEREID_SCALED(NAME, EXPRESSION, SCALE)                                                     \
  {                                                                                                \
    NAME, { NEREID_OF(EXPRESSION), NEREID_OF(SCALE) }                                              \
  }

const std::map<std::string, Function> &rows() {
  static const std::map<std::string, Function> table = {
      NEREID_VALUE("log10", std::log10(x[0])),
      // The argument is reduced by pi / 2, to a rounding of itself: its slope makes it one of the
      // result.
      {"tan",
       {NEREID_OF(std::tan(x[0])),
        NEREID_OF(magnitude(std::tan(x[0])) +
                  magnitude(x[0]) * (1 + std::tan(x[0]) * std::tan(x[0]))),
        nullptr, nullptr, nullptr, [](const double *, size_t) { return 0.7; }}},
      NEREID_VALUE("asin", std::asin(x[0])),
      NEREID_VALUE("acos", std::acos(x[0])),
      NEREID_VALUE("atan", std::atan(x[0])),
      NEREID_VALUE("sinh", std::sinh(x[0])),
      NEREID_VALUE("cosh", std::cosh(x[0])),
      NEREID_VALUE("asinh", std::asinh(x[0])),
      NEREID_VALUE("acosh", std::acosh(x[0])),
      NEREID_VALUE("atanh", std::atanh(x[0])),
      NEREID_VALUE("erfinv", inverseErf(x[0])),
      NEREID_VALUE("i0", besselI0(x[0])),
      // Between 1 and 2, and left of 0, sums of logarithms cancel.
      NEREID_SCALED("lgamma", std::lgamma(x[0]),
                    magnitude(std::lgamma(x[0])) + 6 + (x[0] < 0 ? gammaScale(x[0]) : 0)),
      {"digamma",
       {NEREID_OF(polygamma(0, x[0])), NEREID_OF(polygammaScale(0, x[0])), nullptr, nullptr,
        nullptr, [](const double *x, size_t) { return x[0] > 0 ? infinity : 0.25; }}},
      NEREID_SCALED("logit", logitOf(x[0], x[1]), logitScale(x)),
      NEREID_VALUE("entr", entropy(x[0])),
      NEREID_VALUE("sgn", x[0] > 0   ? 1
                          : x[0] < 0 ? -1
                                     : 0),
      NEREID_VALUE("sign", x[0] > 0   ? 1
                           : x[0] < 0 ? -1
                                      : 0),
      NEREID_VALUE("logsigmoid", logSigmoid(x[0])),
      NEREID_VALUE("selu", 1.0507009873554804934 *
                               (x[0] > 0 ? x[0] : 1.6732632423543772848 * std::expm1(x[0]))),
      NEREID_VALUE("celu", x[0] > 0 ? x[0] : x[1] * std::expm1(x[0] / x[1])),
      NEREID_VALUE("hardtanh", clamped(x[0], x[1], x[2])),
      NEREID_VALUE("relu6", clamped(x[0], 0, 6)),
      NEREID_VALUE("threshold", x[0] <= x[1] ? x[2] : x[0]),
      NEREID_VALUE("prelu", x[0] > 0 ? x[0] : x[1] * x[0]),
      NEREID_VALUE("softsign", x[0] / (1 + magnitude(x[0]))),
      NEREID_SCALED("tanhshrink", x[0] - std::tanh(x[0]), magnitude(x[0])),
      NEREID_VALUE("hardshrink", x[0] >= -x[1] && x[0] <= x[1] ? 0 : x[0]),
      NEREID_VALUE("softshrink", x[0] > x[1]    ? x[0] - x[1]
                                 : x[0] < -x[1] ? x[0] + x[1]
                                                : x[0] * 0),
      NEREID_VALUE("nan_to_num", std::isnan(x[0])    ? x[1]
                                 : x[0] == infinity  ? x[2]
                                 : x[0] == -infinity ? x[3]
                                                     : x[0]),
      NEREID_VALUE("rsub", x[1] - x[0]),
      NEREID_VALUE("floor_divide", floorDivide(x[0], x[1])),
      {"remainder",
       {NEREID_OF(remainderOf(x[0], x[1])), nullptr, nullptr, nullptr, nullptr, restReach}},
      {"fmod", {NEREID_OF(std::fmod(x[0], x[1])), nullptr, nullptr, nullptr, nullptr, restReach}},
      NEREID_VALUE("fmax", std::fmax(x[0], x[1])),
      NEREID_VALUE("fmin", std::fmin(x[0], x[1])),
      NEREID_VALUE("atan2", std::atan2(x[0], x[1])),
      NEREID_VALUE("hypot", std::hypot(x[0], x[1])),
      NEREID_VALUE("copysign", std::copysign(x[0], x[1])),
      NEREID_VALUE("heaviside", x[0] == 0  ? x[1]
                                : x[0] > 0 ? 1
                                           : 0),
      NEREID_SCALED("logaddexp", logOfSum(x[0], x[1], 1), magnitude(std::fmax(x[0], x[1])) + 0.7),
      NEREID_SCALED("logaddexp2", logOfSum(x[0], x[1], 0.69314718055994530942),
                    magnitude(std::fmax(x[0], x[1])) + 1),
      // Of integers, whose own rules follow.
      NEREID_VALUE("bitwise_left_shift", x[0] * std::exp2(x[1])),
      NEREID_VALUE("bitwise_right_shift", std::floor(x[0] / std::exp2(x[1]))),
      NEREID_VALUE("xlogy", xlogy(x[0], x[1])),
      {"addcmul",
       {NEREID_OF(x[0] + x[3] * x[1] * x[2]),
        NEREID_OF(magnitude(x[0]) + magnitude(x[3] * x[1] * x[2])),
        NEREID_OF(magnitude(x[3] * x[1])), NEREID_OF(magnitude(x[2])),
        NEREID_OF(magnitude(x[3] * x[1])), nullptr}},
      {"addcdiv",
       {NEREID_OF(x[0] + x[3] * x[1] / x[2]),
        NEREID_OF(magnitude(x[0]) + magnitude(x[3] * x[1] / x[2])),
        NEREID_OF(magnitude(x[3] * x[1])), NEREID_OF(1 / magnitude(x[2])),
        NEREID_OF(magnitude(x[3] * x[1])), nullptr}},
      NEREID_SCALED("lerp",
                    magnitude(x[2]) < 0.5 ? x[0] + x[2] * (x[1] - x[0])
                                          : x[1] - (x[1] - x[0]) * (1 - x[2]),
                    (1 + magnitude(x[2])) * (magnitude(x[0]) + magnitude(x[1]))),
      NEREID_VALUE("l1_loss", magnitude(x[0] - x[1])),
      NEREID_VALUE("mse_loss", (x[0] - x[1]) * (x[0] - x[1])),
      NEREID_SCALED("huber_loss", huber(x[0] - x[1], x[2]),
                    magnitude(huber(x[0] - x[1], x[2])) +
                        (magnitude(x[0] - x[1]) > x[2] ? x[2] * x[2] : 0)),
      NEREID_SCALED("smooth_l1_loss", smoothL1(x[0] - x[1], x[2]),
                    magnitude(smoothL1(x[0] - x[1], x[2])) +
                        (magnitude(x[0] - x[1]) >= x[2] ? magnitude(x[2]) : 0)),
      // exp(z) of z = -t x has the relative error that z has an absolute one.
      NEREID_SCALED("soft_margin_loss", softplus(-x[1] * x[0]),
                    magnitude(softplus(-x[1] * x[0])) +
                        magnitude(x[0] * x[1]) * sigmoid(-x[1] * x[0])),
      NEREID_SCALED(
          "margin_ranking_loss", rectified(-x[2] * (x[0] - x[1]) + x[3]),
          std::isinf(x[2] * (x[0] - x[1])) ? 0 : magnitude(x[2] * (x[0] - x[1])) + magnitude(x[3])),
      NEREID_SCALED("binary_cross_entropy", crossEntropy(x[0], x[1], x[2]),
                    crossEntropy(x[0], 0.5, 2 * magnitude(x[2])) * (1 + magnitude(x[1]))),
      NEREID_SCALED("binary_cross_entropy_with_logits", logitsLoss(x), logitsScale(x)),
      {"tanh_backward",
       {NEREID_OF(x[0] * (1 - x[1] * x[1])), NEREID_OF(magnitude(x[0]) * (1 + x[1] * x[1])),
        nullptr, nullptr, NEREID_OF(x[1] * x[1]), nullptr}},
      {"sigmoid_backward",
       {NEREID_OF(x[0] * (1 - x[1]) * x[1]), nullptr, NEREID_OF(magnitude(x[0] * (1 - x[1]))),
        NEREID_OF(magnitude(x[1])), NEREID_OF(magnitude(x[0] * (1 - x[1]))), nullptr}},
      {"silu_backward",
       {NEREID_OF(x[0] * siluSlope(x[1])),
        NEREID_OF(magnitude(x[0]) * sigmoid(x[1]) * (1 + magnitude(x[1]) * sigmoid(-x[1]))),
        NEREID_OF(sigmoid(x[1])), NEREID_OF(magnitude(x[0]) * (1 + magnitude(x[1]))), nullptr,
        nullptr}},
      NEREID_SCALED("mish_backward", x[0] * mishSlope(x[1]),
                    magnitude(x[0]) * (1 + std::min(magnitude(x[1]), 2.0) * sigmoid(x[1]))),
      {"softplus_backward",
       {NEREID_OF(x[1] * x[2] > x[3] ? x[0] : x[0] * sigmoid(x[1] * x[2])),
        NEREID_OF(std::isinf(x[1])
                      ? 0
                      : magnitude(x[0]) * sigmoid(x[1] * x[2]) * (1 + magnitude(x[1] * x[2]))),
        NEREID_OF(sigmoid(x[1] * x[2])), NEREID_OF(magnitude(x[0])), nullptr, nullptr}},
      {"log_sigmoid_backward",
       {NEREID_OF(x[0] * sigmoid(-x[1])), nullptr, NEREID_OF(sigmoid(-x[1])),
        NEREID_OF(magnitude(x[0])), nullptr, nullptr}},
      NEREID_VALUE("threshold_backward", x[1] <= x[2] ? 0 : x[0]),
      NEREID_VALUE("hardtanh_backward", x[1] <= x[2] || x[1] >= x[3] ? 0 : x[0]),
      NEREID_VALUE("hardsigmoid_backward", x[1] > -3 && x[1] < 3 ? x[0] / 6 : 0),
      NEREID_SCALED("hardswish_backward",
                    x[1] <= -3  ? 0
                    : x[1] >= 3 ? x[0]
                                : x[0] * (x[1] / 3 + 0.5),
                    magnitude(x[0])),
      NEREID_SCALED("smooth_l1_loss_backward", smoothL1Slope(x), magnitude(x[0])),
      NEREID_SCALED("gelu_backward approximate=none", x[0] * geluSlope(x[1]), magnitude(x[0])),
      NEREID_SCALED("gelu_backward approximate=tanh", x[0] * geluTanhSlope(x[1]), magnitude(x[0])),
      NEREID_VALUE("rrelu_with_noise_backward training=True", x[0] * x[2]),
      NEREID_VALUE("rrelu_with_noise_backward training=False",
                   x[1] > 0 ? x[0] : x[0] * (0.5 * (x[3] + x[4]))),
      NEREID_SCALED("polygamma n=0", polygamma(0, x[0]), polygammaScale(0, x[0])),
      NEREID_SCALED("polygamma n=1", polygamma(1, x[0]), polygammaScale(1, x[0])),
      NEREID_SCALED("polygamma n=2", polygamma(2, x[0]), polygammaScale(2, x[0])),
      NEREID_SCALED("polygamma n=3", polygamma(3, x[0]), polygammaScale(3, x[0])),
  };
  return table;
}

} // namespace

const Function *functionOf(const definition::Node &node) {
  std::string name = node.op;
  if (name == "gelu_backward") {
    name += " approximate=" + definition::stringAttribute(node, "approximate", "none");
  } else if (name == "polygamma") {
    name += " n=" + std::to_string(definition::integerAttribute(node, "n", 0));
  } else if (name == "rrelu_with_noise_backward") {
    auto training = node.attributes.find("training");
    const bool trains = training != node.attributes.end() && std::get<bool>(training->second);
    name += trains ? " training=True" : " training=False";
  }
  auto found = rows().find(name);
  return found == rows().end() ? nullptr : &found->second;
}

} // namespace nereid::eager
