// SPDX-License-Identifier: Apache-2.0
// Values of the pointwise operations that are primitive, in float64, see Evaluate.h.
#include "lib/generator/program/Evaluate.h"

#include <cmath>

namespace nereid::generator {
namespace {

using Function = double (*)(const double *);

double sign(double x) { return std::isnan(x) ? x : double(x > 0) - double(x < 0); }
double smaller(double a, double b) { return std::isnan(a) || a < b ? a : b; }
double larger(double a, double b) { return std::isnan(a) || a > b ? a : b; }
int64_t whole(double x) { return static_cast<int64_t>(x); }

const std::map<std::string, Function> &functions() {
  static const std::map<std::string, Function> table = {
      {"neg", [](const double *x) { return -x[0]; }},
      {"abs", [](const double *x) { return std::fabs(x[0]); }},
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

std::optional<double> evaluateMap(const Node &node, const std::vector<double> &inputs) {
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
