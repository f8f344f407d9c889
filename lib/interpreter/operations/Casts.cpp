// SPDX-License-Identifier: Apache-2.0
// Conversions between element types. Floats become integers by truncation; what does not fit
// saturates and NaN gives 0, where the operation itself leaves the result open.
#include "lib/interpreter/Instance.h"

#include <cmath>

namespace arith = mlir::arith;

namespace nereid::interpreter {
namespace {

/// Calls Function(source tile, element number, target type) for every element.
template <auto Function> bool convert(Instance &instance, mlir::Operation *op) {
  const Tile &a = instance.operand(op, 0);
  std::optional<ElementType> type = elementTypeFor(op->getResult(0).getType());
  if (!type) {
    return instance.unsupported(op, "the result type");
  }
  Tile result = a.like(*type);
  for (size_t i = 0, n = result.size(); i < n; ++i) {
    result.at(i) = Function(a, i, *type) & type->mask();
  }
  return instance.finish(op, std::move(result));
}

template <class Integer> uint64_t floatFromInteger(Integer value, ElementType type) {
  if (type.kind == Kind::F64) {
    return std::bit_cast<uint64_t>(static_cast<double>(value));
  }
  return encodeFloat(stickyDouble(value), type);
}

uint64_t saturateSigned(double value, ElementType type) {
  const double limit = std::ldexp(1.0, static_cast<int>(type.bits) - 1);
  if (std::isnan(value)) {
    return 0;
  }
  if (value >= limit) {
    return type.signBit() - 1;
  }
  return value <= -limit ? type.signBit() : static_cast<uint64_t>(static_cast<int64_t>(value));
}

uint64_t saturateUnsigned(double value, ElementType type) {
  if (std::isnan(value) || value <= -1) {
    return 0;
  }
  return value >= std::ldexp(1.0, static_cast<int>(type.bits)) ? type.mask()
                                                               : static_cast<uint64_t>(value);
}

constexpr auto zeroExtend = [](const Tile &a, size_t i, ElementType) { return a[i]; };
constexpr auto signExtend = [](const Tile &a, size_t i, ElementType) {
  return static_cast<uint64_t>(a.integer(i));
};
constexpr auto reround = [](const Tile &a, size_t i, ElementType type) {
  return encodeFloat(a.number(i), type);
};

std::optional<Rounding> roundingOf(arith::RoundingMode mode) {
  switch (mode) {
  case arith::RoundingMode::to_nearest_even:
    return Rounding::NearestEven;
  case arith::RoundingMode::to_nearest_away:
    return Rounding::NearestAway;
  case arith::RoundingMode::toward_zero:
    return Rounding::TowardZero;
  case arith::RoundingMode::upward:
    return Rounding::Upward;
  case arith::RoundingMode::downward:
    return Rounding::Downward;
  }
  return std::nullopt;
}

bool narrowFloat(Instance &instance, mlir::Operation *op) {
  auto mode = mlir::cast<arith::TruncFOp>(op).getRoundingmode();
  if (!mode) {
    return convert<reround>(instance, op);
  }
  const Tile &a = instance.operand(op, 0);
  std::optional<ElementType> type = elementTypeFor(op->getResult(0).getType());
  std::optional<Rounding> rounding = roundingOf(*mode);
  if (!type || !rounding) {
    return instance.unsupported(op, "the rounding mode");
  }
  Tile result = a.like(*type);
  for (size_t i = 0, n = result.size(); i < n; ++i) {
    result.at(i) = roundToFormat(a.number(i), formatOf(type->kind), *rounding);
  }
  return instance.finish(op, std::move(result));
}

} // namespace

void addCastHandlers(HandlerTable &table) {
  table.add<arith::ExtUIOp>(convert<zeroExtend>);
  table.add<arith::ExtSIOp>(convert<signExtend>);
  table.add<arith::TruncIOp>(convert<zeroExtend>);
  table.add<arith::BitcastOp>(convert<zeroExtend>);
  table.add<arith::IndexCastOp>(convert<signExtend>);
  table.add<arith::IndexCastUIOp>(convert<zeroExtend>);
  table.add<arith::ExtFOp>(convert<reround>);
  table.add<arith::TruncFOp>(narrowFloat);
  table.add<arith::SIToFPOp>(convert<[](const Tile &a, size_t i, ElementType type) {
    return floatFromInteger(a.integer(i), type);
  }>);
  table.add<arith::UIToFPOp>(convert<[](const Tile &a, size_t i, ElementType type) {
    return floatFromInteger(a[i], type);
  }>);
  table.add<arith::FPToSIOp>(convert<[](const Tile &a, size_t i, ElementType type) {
    return saturateSigned(a.number(i), type);
  }>);
  table.add<arith::FPToUIOp>(convert<[](const Tile &a, size_t i, ElementType type) {
    return saturateUnsigned(a.number(i), type);
  }>);
}

} // namespace nereid::interpreter
