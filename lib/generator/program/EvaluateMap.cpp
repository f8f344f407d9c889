// SPDX-License-Identifier: Apache-2.0
// Values of the pointwise operations that are primitive, in float64, see Evaluate.h.
#include "lib/generator/program/Evaluate.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace nereid::generator {
namespace {

using Function = double (*)(const double *);

double sign(double x) { return double(x > 0) - double(x < 0); }
double smaller(double a, double b) { return std::isnan(a) || a < b ? a : b; }
double larger(double a, double b) { return std::isnan(a) || a > b ? a : b; }
int64_t whole(double x) { return static_cast<int64_t>(x); }
double ordinal(double x) {
  const auto bits = std::bit_cast<int32_t>(static_cast<float>(x));
  return std::isnan(x) ? std::numeric_limits<int32_t>::max()
                       : bits ^ (bits < 0 ? std::numeric_limits<int32_t>::max() : 0);
}
double ofOrdinal(double x) {
  const auto place = static_cast<int32_t>(x);
  return std::bit_cast<float>(place ^ (place < 0 ? std::numeric_limits<int32_t>::max() : 0));
}

/// By Newton's steps on erf, or on erfc near 1.
double inverseErf(double x) {
  const double size = std::fabs(x);
  if (!(size < 1)) {
    return size == 1 ? x * std::numeric_limits<double>::infinity() : std::nan("");
  }
  double y = 0;
  for (int i = 0; i < 100; ++i) {
    const double away = size > 0.5 ? std::erfc(y) - (1 - size) : size - std::erf(y);
    y += away * 0.88622692545275801 * std::exp(y * y);
  }
  return std::copysign(y, x);
}
/// Of 32-bit integers; by places outside of them, all.
double shiftedLeft(double x, double places) {
  const auto value = static_cast<uint32_t>(static_cast<int32_t>(x));
  return places >= 0 && places < 32 ? double(static_cast<int32_t>(value << int(places))) : 0;
}
double shiftedRight(double x, double places) {
  return double(static_cast<int32_t>(x) >> (places >= 0 && places < 32 ? int(places) : 31));
}

const std::map<std::string, Function> &functions() {
  static const std::map<std::string, Function> table = {
      {"neg", [](const double *x) { return -x[0]; }},
      {"abs", [](const double *x) { return std::fabs(x[0]); }},
      {"ordinal", [](const double *x) { return ordinal(x[0]); }},
      {"of_ordinal", [](const double *x) { return ofOrdinal(x[0]); }},
      {"sign", [](const double *x) { return sign(x[0]); }},
      {"floor", [](const double *x) { return std::floor(x[0]); }},
      {"ceil", [](const double *x) { return std::ceil(x[0]); }},
      {"round", [](const double *x) { return std::nearbyint(x[0]); }},
      {"trunc", [](const double *x) { return std::trunc(x[0]); }},
      {"sqrt", [](const double *x) { return std::sqrt(x[0]); }},
      {"rsqrt", [](const double *x) { return 1 / std::sqrt(x[0]); }},
      {"sigmoid", [](const double *x) { return 1 / (1 + std::exp(-x[0])); }},
      {"exp", [](const double *x) { return std::exp(x[0]); }},
      {"exp2", [](const double *x) { return std::exp2(x[0]); }},
      {"expm1", [](const double *x) { return std::expm1(x[0]); }},
      {"log", [](const double *x) { return std::log(x[0]); }},
      {"log2", [](const double *x) { return std::log2(x[0]); }},
      {"log1p", [](const double *x) { return std::log1p(x[0]); }},
      {"sin", [](const double *x) { return std::sin(x[0]); }},
      {"cos", [](const double *x) { return std::cos(x[0]); }},
      {"tanh", [](const double *x) { return std::tanh(x[0]); }},
      {"erf", [](const double *x) { return std::erf(x[0]); }},
      {"erfc", [](const double *x) { return std::erfc(x[0]); }},
      {"log10", [](const double *x) { return std::log10(x[0]); }},
      {"tan", [](const double *x) { return std::tan(x[0]); }},
      {"asin", [](const double *x) { return std::asin(x[0]); }},
      {"acos", [](const double *x) { return std::acos(x[0]); }},
      {"atan", [](const double *x) { return std::atan(x[0]); }},
      {"sinh", [](const double *x) { return std::sinh(x[0]); }},
      {"cosh", [](const double *x) { return std::cosh(x[0]); }},
      {"asinh", [](const double *x) { return std::asinh(x[0]); }},
      {"acosh", [](const double *x) { return std::acosh(x[0]); }},
      {"atanh", [](const double *x) { return std::atanh(x[0]); }},
      {"erfinv", [](const double *x) { return inverseErf(x[0]); }},
      {"lgamma", [](const double *x) { return std::lgamma(x[0]); }},
      {"i0", [](const double *x) { return std::cyl_bessel_i(0, std::fabs(x[0])); }},
      {"atan2", [](const double *x) { return std::atan2(x[0], x[1]); }},
      {"hypot", [](const double *x) { return std::hypot(x[0], x[1]); }},
      {"copysign", [](const double *x) { return std::copysign(x[0], x[1]); }},
      {"fmod", [](const double *x) { return std::fmod(x[0], x[1]); }},
      {"floor_divide", [](const double *x) { return std::floor(x[0] / x[1]); }},
      {"bitwise_left_shift", [](const double *x) { return shiftedLeft(x[0], x[1]); }},
      {"bitwise_right_shift", [](const double *x) { return shiftedRight(x[0], x[1]); }},
      {"isnan", [](const double *x) { return double(std::isnan(x[0])); }},
      {"isinf", [](const double *x) { return double(std::isinf(x[0])); }},
      {"isfinite", [](const double *x) { return double(std::isfinite(x[0])); }},
      {"logical_not", [](const double *x) { return double(x[0] == 0); }},
      {"bitwise_not", [](const double *x) { return double(~whole(x[0])); }},
      {"add", [](const double *x) { return x[0] + x[1]; }},
      {"sub", [](const double *x) { return x[0] - x[1]; }},
      {"mul", [](const double *x) { return x[0] * x[1]; }},
      {"div", [](const double *x) { return x[0] / x[1]; }},
      {"pow", [](const double *x) { return std::pow(x[0], x[1]); }},
      {"maximum", [](const double *x) { return larger(x[0], x[1]); }},
      {"minimum", [](const double *x) { return smaller(x[0], x[1]); }},
      {"eq", [](const double *x) { return double(x[0] == x[1]); }},
      {"ne", [](const double *x) { return double(x[0] != x[1]); }},
      {"lt", [](const double *x) { return double(x[0] < x[1]); }},
      {"le", [](const double *x) { return double(x[0] <= x[1]); }},
      {"gt", [](const double *x) { return double(x[0] > x[1]); }},
      {"ge", [](const double *x) { return double(x[0] >= x[1]); }},
      {"logical_and", [](const double *x) { return double(x[0] != 0 && x[1] != 0); }},
      {"logical_or", [](const double *x) { return double(x[0] != 0 || x[1] != 0); }},
      {"logical_xor", [](const double *x) { return double((x[0] != 0) != (x[1] != 0)); }},
      {"bitwise_and", [](const double *x) { return double(whole(x[0]) & whole(x[1])); }},
      {"bitwise_or", [](const double *x) { return double(whole(x[0]) | whole(x[1])); }},
      {"bitwise_xor", [](const double *x) { return double(whole(x[0]) ^ whole(x[1])); }},
  };
  return table;
}

} // namespace

std::optional<double> evaluateMap(const NodeParts &node, const std::vector<double> &inputs) {
  if (node.name == "cast") {
    double value = inputs[0];
    return isFloat(node.dtype)         ? value
           : node.dtype == DType::Bool ? double(value != 0)
                                       : std::trunc(value);
  }
  auto found = functions().find(node.name);
  return found == functions().end() ? std::nullopt : std::optional(found->second(inputs.data()));
}

} // namespace nereid::generator
