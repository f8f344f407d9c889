// SPDX-License-Identifier: Apache-2.0
#include "lib/eager/baseline/LibraryLoops.h"

#include <cmath>
#include <limits>

namespace nereid::eager {
namespace {

/// Winitzki's approximation, then Newton's steps in float64.
double inverseErf(double x) {
  const double size = std::fabs(x), infinity = std::numeric_limits<double>::infinity();
  if (!(size < 1)) {
    return size == 1 ? x * infinity : std::numeric_limits<double>::quiet_NaN();
  }
  const double log = std::log1p(-size * size), half = 4.3307467508 + 0.5 * log;
  double y = std::sqrt(std::sqrt(half * half - log / 0.147) - half);
  for (int i = 0; i < 3; ++i) {
    const double away = size > 0.5 ? std::erfc(y) - (1 - size) : size - std::erf(y);
    y += away * 0.88622692545275801 * std::exp(y * y);
  }
  return std::copysign(y, x);
}

/// The power series; from 40 on the asymptotic one, whose smallest term is below exp(-80).
double besselI0(double x) {
  x = std::fabs(x);
  if (std::isnan(x) || x > 720) {
    return std::isnan(x) ? x : std::numeric_limits<double>::infinity();
  }
  double term = 1, sum = 1;
  if (x < 40) {
    for (int k = 1; term > 1e-17 * sum; ++k) {
      term *= x / (2 * k) * (x / (2 * k));
      sum += term;
    }
    return sum;
  }
  for (int k = 1; k < 40; ++k) {
    term *= (2 * k - 1) * (2 * k - 1) / (8 * x * k);
    sum += term;
  }
  const double root = std::exp(0.5 * x);
  return root * (sum / std::sqrt(2 * 3.14159265358979323846 * x)) * root;
}

double logarithmOfGamma(double x) {
  int sign = 0; // the library's other function writes a global
  return ::lgamma_r(x, &sign);
}
float logarithmOfGamma(float x) {
  int sign = 0;
  return ::lgammaf_r(x, &sign);
}

template <class T, T (*function)(T)> void unary(const Operand<T> *operands, T *out, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    out[i] = function(operands[0].data[i]);
  }
}
template <class T, T (*function)(T, T)> void binary(const Operand<T> *operands, T *out, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    out[i] = function(operands[0].data[i], operands[1].data[i]);
  }
}

} // namespace

#define NEREID_UNARY(NAME, EXPRESSION)                                                             \
  case OpId::NAME:                                                                                 \
    return unary<T, [](T x) -> T { return static_cast<T>(EXPRESSION); }>
#define NEREID_BINARY(NAME, EXPRESSION)                                                            \
  case OpId::NAME:                                                                                 \
    return binary<T, [](T a, T b) -> T { return static_cast<T>(EXPRESSION); }>

template <class T> PointwiseLoop<T> libraryLoop(OpId op) {
  switch (op) {
    NEREID_UNARY(log10, std::log10(x));
    NEREID_UNARY(tan, std::tan(x));
    NEREID_UNARY(asin, std::asin(x));
    NEREID_UNARY(acos, std::acos(x));
    NEREID_UNARY(atan, std::atan(x));
    NEREID_UNARY(sinh, std::sinh(x));
    NEREID_UNARY(cosh, std::cosh(x));
    NEREID_UNARY(asinh, std::asinh(x));
    NEREID_UNARY(acosh, std::acosh(x));
    NEREID_UNARY(atanh, std::atanh(x));
    NEREID_UNARY(erfinv, inverseErf(static_cast<double>(x)));
    NEREID_UNARY(i0, besselI0(static_cast<double>(x)));
    NEREID_UNARY(lgamma, logarithmOfGamma(x));
    NEREID_BINARY(fmod, std::fmod(a, b));
    NEREID_BINARY(atan2, std::atan2(a, b));
    NEREID_BINARY(hypot, std::hypot(a, b));
    NEREID_BINARY(copysign, std::copysign(a, b));
  default:
    return nullptr;
  }
}

template PointwiseLoop<float> libraryLoop<float>(OpId);
template PointwiseLoop<double> libraryLoop<double>(OpId);

} // namespace nereid::eager
