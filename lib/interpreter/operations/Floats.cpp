// SPDX-License-Identifier: Apache-2.0
// Floating-point arithmetic of `arith`. Every operation rounds once to its own type. Computing
// float32 and smaller in double and rounding the result is exact for + - * /: double has more than
// twice their digits and two (Figueroa, "When is double rounding innocuous?", 1995).
#include "lib/interpreter/Instance.h"

#include <cmath>

namespace arith = mlir::arith;

namespace nereid::interpreter {
namespace {

template <auto Function> bool binary(Instance &instance, mlir::Operation *op) {
  const Tile &a = instance.operand(op, 0), &b = instance.operand(op, 1);
  return instance.finish(op, zipWords(a, b, a.type, [&](uint64_t x, uint64_t y) {
                           return encodeFloat(
                               Function(decodeFloat(x, a.type), decodeFloat(y, a.type)), a.type);
                         }));
}

bool negate(Instance &instance, mlir::Operation *op) {
  const Tile &a = instance.operand(op, 0);
  const uint64_t sign = a.type.signBit();
  const bool hasMinusZero = formatOf(a.type.kind).specials != Specials::MinusZero;
  return instance.finish(op, mapWords(a, a.type, [&](uint64_t x) {
                           // Zero and NaN of a format without -0 are their own negatives.
                           return hasMinusZero || (x & ~sign) != 0 ? x ^ sign : x;
                         }));
}

/// Of equal numbers, which may be zeros of both signs, the positive one is the larger.
double larger(double x, double y) { return x == y ? (std::signbit(x) ? y : x) : (x > y ? x : y); }
double smaller(double x, double y) { return x == y ? (std::signbit(x) ? x : y) : (x < y ? x : y); }

bool compare(arith::CmpFPredicate predicate, double x, double y) {
  const bool isUnordered = std::isnan(x) || std::isnan(y);
  switch (predicate) {
  case arith::CmpFPredicate::AlwaysFalse:
    return false;
  case arith::CmpFPredicate::OEQ:
    return x == y;
  case arith::CmpFPredicate::OGT:
    return x > y;
  case arith::CmpFPredicate::OGE:
    return x >= y;
  case arith::CmpFPredicate::OLT:
    return x < y;
  case arith::CmpFPredicate::OLE:
    return x <= y;
  case arith::CmpFPredicate::ONE:
    return !isUnordered && x != y;
  case arith::CmpFPredicate::ORD:
    return !isUnordered;
  case arith::CmpFPredicate::UEQ:
    return isUnordered || x == y;
  case arith::CmpFPredicate::UGT:
    return isUnordered || x > y;
  case arith::CmpFPredicate::UGE:
    return isUnordered || x >= y;
  case arith::CmpFPredicate::ULT:
    return isUnordered || x < y;
  case arith::CmpFPredicate::ULE:
    return isUnordered || x <= y;
  case arith::CmpFPredicate::UNE:
    return isUnordered || x != y;
  case arith::CmpFPredicate::UNO:
    return isUnordered;
  case arith::CmpFPredicate::AlwaysTrue:
    return true;
  }
  return false;
}

bool compareFloats(Instance &instance, mlir::Operation *op) {
  const Tile &a = instance.operand(op, 0), &b = instance.operand(op, 1);
  const auto predicate = mlir::cast<arith::CmpFOp>(op).getPredicate();
  return instance.finish(op, zipWords(a, b, boolType, [&](uint64_t x, uint64_t y) {
                           const double left = decodeFloat(x, a.type);
                           return uint64_t(compare(predicate, left, decodeFloat(y, b.type)));
                         }));
}

bool select(Instance &instance, mlir::Operation *op) {
  const Tile &condition = instance.operand(op, 0);
  const Tile &yes = instance.operand(op, 1), &no = instance.operand(op, 2);
  const Tile &values = shapeSource(yes, no);
  Tile result = (values.isTile ? values : condition).like(yes.type);
  for (size_t i = 0, n = result.size(); i < n; ++i) {
    result.at(i) = condition.element(i) != 0 ? yes.element(i) : no.element(i);
  }
  return instance.finish(op, std::move(result));
}

} // namespace

void addFloatHandlers(HandlerTable &table) {
  table.add<arith::AddFOp>(binary<[](double x, double y) { return x + y; }>);
  table.add<arith::SubFOp>(binary<[](double x, double y) { return x - y; }>);
  table.add<arith::MulFOp>(binary<[](double x, double y) { return x * y; }>);
  table.add<arith::DivFOp>(binary<[](double x, double y) { return x / y; }>);
  table.add<arith::RemFOp>(binary<[](double x, double y) { return std::fmod(x, y); }>);
  table.add<arith::NegFOp>(negate);
  // maximumf and minimumf give NaN when either operand is NaN; the others the operand that is none.
  table.add<arith::MaximumFOp>(binary<[](double x, double y) {
    return std::isnan(x) || std::isnan(y) ? x + y : larger(x, y);
  }>);
  table.add<arith::MinimumFOp>(binary<[](double x, double y) {
    return std::isnan(x) || std::isnan(y) ? x + y : smaller(x, y);
  }>);
  constexpr auto largerNumber = [](double x, double y) {
    return std::isnan(x) ? y : std::isnan(y) ? x : larger(x, y);
  };
  constexpr auto smallerNumber = [](double x, double y) {
    return std::isnan(x) ? y : std::isnan(y) ? x : smaller(x, y);
  };
  table.add<tile::MaxNumOp>(binary<largerNumber>);
  table.add<tile::MinNumOp>(binary<smallerNumber>);
  table.add<arith::MaxNumFOp>(binary<largerNumber>);
  table.add<arith::MinNumFOp>(binary<smallerNumber>);
  table.add<arith::CmpFOp>(compareFloats);
  table.add<arith::SelectOp>(select);
}

} // namespace nereid::interpreter
