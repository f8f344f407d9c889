// SPDX-License-Identifier: Apache-2.0
// In extended precision: power series, Newton's steps, and the recurrence of the gamma function to
// where three terms of its asymptotic series are enough.
#include "lib/eager/reference/rules/SpecialFunctions.h"

#include <cmath>
#include <limits>

namespace nereid::eager {
namespace {

using Real = long double;
constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr Real pi = 3.14159265358979323846264338327950288L;
constexpr Real factorial[] = {1, 1, 2, 6};

/// Where ten terms of the asymptotic series leave less than 1e-22 of the result.
constexpr Real seriesFrom = 20;

/// psi_n(z) for z >= seriesFrom, by the sum of B_2k (2k + n - 1)! / ((2k)! z^(2k + n)).
Real asymptotic(int n, Real z) {
  constexpr int terms = 10;
  constexpr Real bernoulli[terms] = {1.0L / 6,       -1.0L / 30,      1.0L / 42, -1.0L / 30,
                                     5.0L / 66,      -691.0L / 2730,  7.0L / 6,  -3617.0L / 510,
                                     43867.0L / 798, -174611.0L / 330};
  const Real square = 1 / (z * z);
  Real sum = 0;
  for (int k = terms; k >= 1; --k) {
    Real factor = n == 0 ? Real(1) / (2 * k) : 1;
    for (int i = 1; i < n; ++i) {
      factor *= 2 * k + i;
    }
    sum = (sum + bernoulli[k - 1] * factor) * square;
  }
  if (n == 0) {
    return std::log(z) - 1 / (2 * z) - sum;
  }
  Real power = 1; // z^n
  for (int i = 0; i < n; ++i) {
    power *= z;
  }
  sum = (factorial[n - 1] + factorial[n] / (2 * z) + sum) / power;
  return n % 2 == 0 ? -sum : sum;
}

/// For x > 0.
Real onTheRight(int n, Real x) {
  Real steps = 0;
  for (; x < seriesFrom; x += 1) {
    const Real step = 1 / x;
    Real power = step;
    for (int i = 0; i < n; ++i) {
      power *= step;
    }
    steps += power;
  }
  const Real sign = n % 2 == 0 ? -1 : 1;
  return asymptotic(n, x) + sign * factorial[n] * steps;
}

/// psi_n(x) = (-1)^n psi_n(1 - x) - this, by derivatives of pi cot(pi x).
Real cotangent(int n, Real x) {
  const Real angle = pi * (x - std::nearbyint(x));
  const Real sine = std::sin(angle), cosine = std::cos(angle);
  switch (n) {
  case 0:
    return pi * cosine / sine;
  case 1:
    return -pi * pi / (sine * sine);
  case 2:
    return 2 * pi * pi * pi * cosine / (sine * sine * sine);
  default:
    return -2 * std::pow(pi, 4) * (2 * cosine * cosine + 1) / std::pow(sine, 4);
  }
}

/// Of 2 pi^3 cos(a) / sin(a)^3, by the angle.
double cosineSlope(double angle) {
  const double square = std::pow(std::sin(angle), 2);
  return 2 * static_cast<double>(pi * pi * pi) * (3 - 2 * square) / (square * square);
}

} // namespace

double inverseErf(double x) {
  const double size = std::fabs(x);
  if (!(size < 1)) {
    return size == 1 ? x * infinity : std::numeric_limits<double>::quiet_NaN();
  }
  Real y = 0;
  for (int i = 0; i < 200; ++i) {
    const Real away = size > 0.5 ? std::erfc(y) - (1 - Real(size)) : Real(size) - std::erf(y);
    const Real step = away * std::sqrt(pi) / 2 * std::exp(y * y);
    y += step;
    if (std::fabs(step) <= 1e-19L * y) {
      break;
    }
  }
  return std::copysign(static_cast<double>(y), x);
}

double besselI0(double x) {
  if (std::isnan(x) || std::fabs(x) > 720) {
    return std::isnan(x) ? x : infinity;
  }
  const Real square = Real(x) * x / 4;
  Real term = 1, sum = 1;
  for (int k = 1; term > 1e-21L * sum; ++k) {
    term *= square / (Real(k) * k);
    sum += term;
  }
  return static_cast<double>(sum);
}

double polygamma(int n, double x) {
  const bool isPole = x <= 0 && x == std::floor(x);
  if (std::isnan(x) || x == infinity) {
    return std::isnan(x) || n == 0 ? x : 0;
  }
  if (isPole || x == -infinity) {
    return x == -infinity ? std::numeric_limits<double>::quiet_NaN()
           : n > 0        ? (n % 2 == 0 ? -infinity : infinity)
           : x == 0       ? -1 / x
                          : std::numeric_limits<double>::quiet_NaN();
  }
  if (x > 0) {
    return static_cast<double>(onTheRight(n, x));
  }
  const Real mirrored = onTheRight(n, 1 - Real(x));
  return static_cast<double>((n % 2 == 0 ? mirrored : -mirrored) - cotangent(n, x));
}

double polygammaScale(int n, double x) {
  const bool isLeft = x < 0.5;
  const double right = isLeft ? 1 - x : x;
  const double steps = n == 0 ? 3 + std::fabs(std::log(right)) : 0;
  const double reflected = isLeft ? std::fabs(static_cast<double>(cotangent(n, x))) : 0;
  // The cosine of psi_2 is 0 half-way between poles, where its angle's few roundings are all there
  // is; 32 roundings are counted of what is returned here.
  const double angle = isLeft ? static_cast<double>(pi) * std::fabs(x - std::nearbyint(x)) : 0;
  const double turned = n == 2 && isLeft ? angle * cosineSlope(angle) / 8 : 0;
  return std::fabs(polygamma(n, right)) + steps + reflected + turned + (n == 0 ? 1 / right : 0);
}

double gammaScale(double x) {
  const double beyond = std::fabs(std::sin(static_cast<double>(pi) * (x - std::nearbyint(x))));
  return std::fabs(std::lgamma(1 - x)) + std::fabs(std::log(beyond));
}

} // namespace nereid::eager
