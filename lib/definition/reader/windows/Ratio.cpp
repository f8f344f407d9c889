// SPDX-License-Identifier: Apache-2.0
#include "lib/definition/reader/windows/Ratio.h"

#include <fmt/format.h>

#include <cmath>
#include <numeric>

namespace nereid::definition {
namespace {

using Sizes = WrittenCall::Sizes;

struct Fraction {
  int64_t numerator, denominator;
};

/// With a denominator of at most 64.
std::optional<Fraction> fractionOf(double value) {
  constexpr int64_t most = 64;
  constexpr double largest = 1 << 20, slack = 1e-9;
  for (int64_t by = 1; by <= most && value > 0 && value < largest; ++by) {
    const double product = value * static_cast<double>(by);
    if (std::abs(product - std::round(product)) < slack) {
      return Fraction{static_cast<int64_t>(std::llround(product)), by};
    }
  }
  return std::nullopt;
}

} // namespace

void setRatio(Ratio &ratio) {
  const auto from = ratio.from.constant(), to = ratio.to.constant();
  if (from && to && *from > 0 && *to > 0) {
    const int64_t common = std::gcd(*from, *to);
    ratio.numerator = *from / common;
    ratio.denominator = *to / common;
  } else if (const auto by = ratio.to.dividedBy(ratio.from)) {
    ratio.denominator = *by;
  } else if (const auto step = ratio.from.dividedBy(ratio.to)) {
    ratio.numerator = *step;
  } else {
    ratio.numerator = ratio.from;
    ratio.denominator = ratio.to;
  }
}

std::optional<std::vector<Ratio>> ratiosOf(WrittenCall &call, int x, size_t sides,
                                           const char *sizeName, bool areCorners) {
  std::vector<Ratio> ratios(sides);
  const bool isSized = !call.isNone(sizeName);
  const auto sizes = isSized ? call.sizes(sizeName, sides, 1) : Sizes(sides, SizePolynomial(1));
  std::vector<double> factors;
  if (!isSized) {
    const auto given = call.numbers("scale_factor", sides);
    factors = given ? *given : factors;
  }
  if (!sizes || (!isSized && factors.empty())) {
    return std::nullopt;
  }
  for (size_t side = 0; side < sides; ++side) {
    Ratio &ratio = ratios[side];
    ratio.dim = static_cast<int64_t>(side) - static_cast<int64_t>(sides);
    ratio.from = call.size(x, ratio.dim);
    if (isSized) {
      ratio.to = (*sizes)[side];
      setRatio(ratio);
      continue;
    }
    const auto factor = fractionOf(factors[side]);
    if (!factor) {
      return call.fail("E0608",
                       fmt::format("'scale_factor' of '{}' expects numbers above 0 that are "
                                   "fractions of at most 64 parts, but got {}",
                                   call.name, factors[side]),
                       "give the result's sizes as size=");
    }
    ratio.to = (ratio.from * factor->numerator).floorDivide(factor->denominator);
    ratio.numerator = factor->denominator;
    ratio.denominator = factor->numerator;
    if (areCorners || call.flag("recompute_scale_factor").value_or(false)) {
      setRatio(ratio);
    }
  }
  return ratios;
}

Line::Line(const Ratio &ratio, bool areCorners)
    : start(0), step(ratio.from - 1), divisor(ratio.to - 1) {
  if (!areCorners) {
    start = ratio.numerator - ratio.denominator;
    step = ratio.numerator * 2;
    divisor = ratio.denominator * 2;
  } else if (ratio.to == SizePolynomial(1)) {
    step = 0;
    divisor = 1;
  }
}

} // namespace nereid::definition
