// SPDX-License-Identifier: Apache-2.0
// The `math` dialect on floats: float64 is computed in long double and smaller types in double,
// then rounded once, so results are within 0.51 ulp of the true value.
#include "lib/interpreter/Instance.h"

#include <cmath>

namespace math = mlir::math;

namespace nereid::interpreter {
namespace {

using Wide = long double;

template <auto Function> bool unary(Instance &instance, mlir::Operation *op) {
  const Tile &a = instance.operand(op, 0);
  Tile result = a.like(a.type);
  const bool isDouble = a.type.kind == Kind::F64;
  for (size_t i = 0, n = result.size(); i < n; ++i) {
    const double x = a.number(i);
    result.at(i) = encodeFloat(
        isDouble ? static_cast<double>(Function(static_cast<Wide>(x))) : Function(x), a.type);
  }
  return instance.finish(op, std::move(result));
}

template <auto Function> bool binary(Instance &instance, mlir::Operation *op) {
  const Tile &a = instance.operand(op, 0), &b = instance.operand(op, 1);
  Tile result = shapeSource(a, b).like(a.type);
  const bool isDouble = a.type.kind == Kind::F64;
  for (size_t i = 0, n = result.size(); i < n; ++i) {
    const double x = a.number(i), y = b.number(i);
    result.at(i) = encodeFloat(
        isDouble ? static_cast<double>(Function(static_cast<Wide>(x), static_cast<Wide>(y)))
                 : Function(x, y),
        a.type);
  }
  return instance.finish(op, std::move(result));
}

bool powerOfInteger(Instance &instance, mlir::Operation *op) {
  const Tile &a = instance.operand(op, 0), &b = instance.operand(op, 1);
  Tile result = shapeSource(a, b).like(a.type);
  for (size_t i = 0, n = result.size(); i < n; ++i) {
    result.at(i) = encodeFloat(static_cast<double>(std::pow(static_cast<Wide>(a.number(i)),
                                                            static_cast<Wide>(b.integer(i)))),
                               a.type);
  }
  return instance.finish(op, std::move(result));
}

uint64_t fusedMultiplyAdd(double x, double y, double z, ElementType type) {
  switch (type.kind) {
  case Kind::F64:
    return std::bit_cast<uint64_t>(std::fma(x, y, z));
  default:
    return encodeFloat(stickyFma(x, y, z), type);
  }
}

bool fma(Instance &instance, mlir::Operation *op) {
  const Tile &a = instance.operand(op, 0), &b = instance.operand(op, 1);
  const Tile &c = instance.operand(op, 2);
  Tile result = (a.isTile ? a : shapeSource(b, c)).like(a.type);
  for (size_t i = 0, n = result.size(); i < n; ++i) {
    result.at(i) = fusedMultiplyAdd(a.number(i), b.number(i), c.number(i), a.type);
  }
  return instance.finish(op, std::move(result));
}

/// A magnitude with a sign. Signs are bits: no rounding, and a NaN keeps its payload; but in a
/// format without -0 a sign bit alone is the NaN, so zero and NaN keep their bits.
uint64_t withSign(uint64_t x, bool isNegative, ElementType type) {
  const uint64_t sign = type.signBit();
  if (formatOf(type.kind).specials == Specials::MinusZero && (x & ~sign) == 0) {
    return x;
  }
  return (x & ~sign) | (isNegative ? sign : 0);
}

bool absolute(Instance &instance, mlir::Operation *op) {
  const Tile &a = instance.operand(op, 0);
  return instance.finish(
      op, mapWords(a, a.type, [&](uint64_t x) { return withSign(x, false, a.type); }));
}

bool copySign(Instance &instance, mlir::Operation *op) {
  const Tile &a = instance.operand(op, 0), &b = instance.operand(op, 1);
  const uint64_t sign = a.type.signBit();
  return instance.finish(op, zipWords(a, b, a.type, [&](uint64_t x, uint64_t y) {
                           return withSign(x, (y & sign) != 0, a.type);
                         }));
}

} // namespace

void addMathHandlers(HandlerTable &table) {
  table.add<math::AbsFOp>(absolute);
  table.add<math::CopySignOp>(copySign);
  table.add<math::FmaOp>(fma);
  table.add<math::FPowIOp>(powerOfInteger);
  table.add<math::SqrtOp>(unary<[](auto x) { return std::sqrt(x); }>);
  table.add<math::RsqrtOp>(unary<[](auto x) { return 1 / std::sqrt(x); }>);
  table.add<math::CbrtOp>(unary<[](auto x) { return std::cbrt(x); }>);
  table.add<math::ExpOp>(unary<[](auto x) { return std::exp(x); }>);
  table.add<math::Exp2Op>(unary<[](auto x) { return std::exp2(x); }>);
  table.add<math::ExpM1Op>(unary<[](auto x) { return std::expm1(x); }>);
  table.add<math::LogOp>(unary<[](auto x) { return std::log(x); }>);
  table.add<math::Log2Op>(unary<[](auto x) { return std::log2(x); }>);
  table.add<math::Log10Op>(unary<[](auto x) { return std::log10(x); }>);
  table.add<math::Log1pOp>(unary<[](auto x) { return std::log1p(x); }>);
  table.add<math::SinOp>(unary<[](auto x) { return std::sin(x); }>);
  table.add<math::CosOp>(unary<[](auto x) { return std::cos(x); }>);
  table.add<math::TanOp>(unary<[](auto x) { return std::tan(x); }>);
  table.add<math::AsinOp>(unary<[](auto x) { return std::asin(x); }>);
  table.add<math::AcosOp>(unary<[](auto x) { return std::acos(x); }>);
  table.add<math::AtanOp>(unary<[](auto x) { return std::atan(x); }>);
  table.add<math::SinhOp>(unary<[](auto x) { return std::sinh(x); }>);
  table.add<math::CoshOp>(unary<[](auto x) { return std::cosh(x); }>);
  table.add<math::TanhOp>(unary<[](auto x) { return std::tanh(x); }>);
  table.add<math::AsinhOp>(unary<[](auto x) { return std::asinh(x); }>);
  table.add<math::AcoshOp>(unary<[](auto x) { return std::acosh(x); }>);
  table.add<math::AtanhOp>(unary<[](auto x) { return std::atanh(x); }>);
  table.add<math::ErfOp>(unary<[](auto x) { return std::erf(x); }>);
  table.add<math::FloorOp>(unary<[](auto x) { return std::floor(x); }>);
  table.add<math::CeilOp>(unary<[](auto x) { return std::ceil(x); }>);
  table.add<math::TruncOp>(unary<[](auto x) { return std::trunc(x); }>);
  table.add<math::RoundOp>(unary<[](auto x) { return std::round(x); }>);
  table.add<math::RoundEvenOp>(unary<[](auto x) { return std::nearbyint(x); }>);
  table.add<math::PowFOp>(binary<[](auto x, auto y) { return std::pow(x, y); }>);
  table.add<math::Atan2Op>(binary<[](auto x, auto y) { return std::atan2(x, y); }>);
}

} // namespace nereid::interpreter
