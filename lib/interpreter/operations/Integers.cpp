// SPDX-License-Identifier: Apache-2.0
// Integer arithmetic of `arith` and `math`: values wrap at their width, the operation says whether
// they are signed. A shift by the width or more gives 0, or the sign. Division by zero stops a
// scalar; in a tile the element becomes undefined instead, since a mask may drop it later.
#include "lib/interpreter/Instance.h"

#include <algorithm>
#include <bit>
#include <functional>

namespace arith = mlir::arith;
namespace math = mlir::math;

namespace nereid::interpreter {
namespace {

template <auto Function> bool unary(Instance &instance, mlir::Operation *op) {
  const Tile &a = instance.operand(op, 0);
  return instance.finish(op,
                         mapWords(a, a.type, [&](uint64_t x) { return Function(x, a.type.bits); }));
}

template <auto Function> bool binary(Instance &instance, mlir::Operation *op) {
  const Tile &a = instance.operand(op, 0), &b = instance.operand(op, 1);
  return instance.finish(op, zipWords(a, b, a.type, [&](uint64_t x, uint64_t y) {
                           return Function(x, y, a.type.bits);
                         }));
}

template <auto Function> bool signedBinary(Instance &instance, mlir::Operation *op) {
  return binary<[](uint64_t x, uint64_t y, unsigned bits) {
    return static_cast<uint64_t>(Function(asSigned(x, bits), asSigned(y, bits)));
  }>(instance, op);
}

/// Function gets a divisor that is neither 0 nor, for signed operands, -1.
template <auto Function, auto ByMinusOne, bool isSigned>
bool division(Instance &instance, mlir::Operation *op) {
  const Tile &a = instance.operand(op, 0), &b = instance.operand(op, 1);
  if (!a.isTile && !b.isTile && b[0] == 0) {
    instance.report(op, "E0402", "integer division by zero")
        .note("the dividend is " + std::to_string(a.integer(0)))
        .withHelp("make sure the divisor is not 0");
    return false;
  }
  const uint64_t undefined = undefinedElement(a.type);
  return instance.finish(op, zipWords(a, b, a.type, [&](uint64_t x, uint64_t y) -> uint64_t {
                           if (y == 0) {
                             return undefined;
                           }
                           if constexpr (!isSigned) {
                             return Function(x, y);
                           } else {
                             const int64_t dividend = asSigned(x, a.type.bits);
                             const int64_t divisor = asSigned(y, a.type.bits);
                             // -1 is apart: the smallest number has no negative and wraps.
                             return divisor == -1
                                        ? ByMinusOne(x)
                                        : static_cast<uint64_t>(Function(dividend, divisor));
                           }
                         }));
}

constexpr auto negate = [](uint64_t x) { return uint64_t(0) - x; };
constexpr auto zero = [](uint64_t) { return uint64_t(0); };

template <bool isSigned> bool extendedMultiply(Instance &instance, mlir::Operation *op) {
  const Tile &a = instance.operand(op, 0), &b = instance.operand(op, 1);
  const unsigned bits = a.type.bits;
  auto product = [&](uint64_t x, uint64_t y) -> unsigned __int128 {
    if constexpr (isSigned) {
      return static_cast<unsigned __int128>(static_cast<__int128>(asSigned(x, bits)) *
                                            asSigned(y, bits));
    } else {
      return static_cast<unsigned __int128>(x) * y;
    }
  };
  Tile low = zipWords(a, b, a.type,
                      [&](uint64_t x, uint64_t y) { return static_cast<uint64_t>(product(x, y)); });
  Tile high = zipWords(a, b, a.type, [&](uint64_t x, uint64_t y) {
    return static_cast<uint64_t>(product(x, y) >> bits);
  });
  instance.set(op->getResult(0), std::move(low));
  instance.set(op->getResult(1), std::move(high));
  return true;
}

bool addWithCarry(Instance &instance, mlir::Operation *op) {
  const Tile &a = instance.operand(op, 0), &b = instance.operand(op, 1);
  Tile sum = zipWords(a, b, a.type, [](uint64_t x, uint64_t y) { return x + y; });
  Tile carry =
      zipWords(sum, a, boolType, [](uint64_t s, uint64_t x) { return uint64_t(s < x ? 1 : 0); });
  instance.set(op->getResult(0), std::move(sum));
  instance.set(op->getResult(1), std::move(carry));
  return true;
}

/// The predicate is looked at once, not for each element.
bool compareIntegers(Instance &instance, mlir::Operation *op) {
  const Tile &a = instance.operand(op, 0), &b = instance.operand(op, 1);
  const unsigned bits = a.type.bits;
  const auto unsignedly = [&](auto holds) {
    return instance.finish(op, zipWords(a, b, boolType, [&](uint64_t x, uint64_t y) {
                             return uint64_t(holds(x, y) ? 1 : 0);
                           }));
  };
  const auto signedly = [&](auto holds) {
    return unsignedly(
        [&](uint64_t x, uint64_t y) { return holds(asSigned(x, bits), asSigned(y, bits)); });
  };
  switch (mlir::cast<arith::CmpIOp>(op).getPredicate()) {
  case arith::CmpIPredicate::eq:
    return unsignedly(std::equal_to<>());
  case arith::CmpIPredicate::ne:
    return unsignedly(std::not_equal_to<>());
  case arith::CmpIPredicate::slt:
    return signedly(std::less<>());
  case arith::CmpIPredicate::sle:
    return signedly(std::less_equal<>());
  case arith::CmpIPredicate::sgt:
    return signedly(std::greater<>());
  case arith::CmpIPredicate::sge:
    return signedly(std::greater_equal<>());
  case arith::CmpIPredicate::ult:
    return unsignedly(std::less<>());
  case arith::CmpIPredicate::ule:
    return unsignedly(std::less_equal<>());
  case arith::CmpIPredicate::ugt:
    return unsignedly(std::greater<>());
  case arith::CmpIPredicate::uge:
    return unsignedly(std::greater_equal<>());
  }
  return false;
}

uint64_t integerPower(uint64_t base, uint64_t exponent, unsigned bits) {
  const int64_t power = asSigned(exponent, bits);
  if (power < 0) {
    const int64_t number = asSigned(base, bits);
    if (number == 1) {
      return 1;
    }
    // Only 1 and -1 have an integer reciprocal; 1/0 has no value and the rest truncate to 0.
    return number == -1 ? (power % 2 != 0 ? ~uint64_t(0) : 1) : 0;
  }
  uint64_t result = 1;
  for (auto left = static_cast<uint64_t>(power); left != 0; left >>= 1) {
    result *= (left & 1) != 0 ? base : 1;
    base *= base;
  }
  return result;
}

} // namespace

void addIntegerHandlers(HandlerTable &table) {
  table.add<arith::AddIOp>(binary<[](uint64_t x, uint64_t y, unsigned) { return x + y; }>);
  table.add<arith::SubIOp>(binary<[](uint64_t x, uint64_t y, unsigned) { return x - y; }>);
  table.add<arith::MulIOp>(binary<[](uint64_t x, uint64_t y, unsigned) { return x * y; }>);
  table.add<arith::AndIOp>(binary<[](uint64_t x, uint64_t y, unsigned) { return x & y; }>);
  table.add<arith::OrIOp>(binary<[](uint64_t x, uint64_t y, unsigned) { return x | y; }>);
  table.add<arith::XOrIOp>(binary<[](uint64_t x, uint64_t y, unsigned) { return x ^ y; }>);
  table.add<arith::MaxUIOp>(
      binary<[](uint64_t x, uint64_t y, unsigned) { return std::max(x, y); }>);
  table.add<arith::MinUIOp>(
      binary<[](uint64_t x, uint64_t y, unsigned) { return std::min(x, y); }>);
  table.add<arith::MaxSIOp>(signedBinary<[](int64_t x, int64_t y) { return std::max(x, y); }>);
  table.add<arith::MinSIOp>(signedBinary<[](int64_t x, int64_t y) { return std::min(x, y); }>);
  table.add<arith::ShLIOp>(binary<[](uint64_t x, uint64_t y, unsigned bits) {
    return y >= bits ? uint64_t(0) : x << y;
  }>);
  table.add<arith::ShRUIOp>(binary<[](uint64_t x, uint64_t y, unsigned bits) {
    return y >= bits ? uint64_t(0) : x >> y;
  }>);
  table.add<arith::ShRSIOp>(binary<[](uint64_t x, uint64_t y, unsigned bits) {
    return static_cast<uint64_t>(asSigned(x, bits) >> std::min<uint64_t>(y, bits - 1));
  }>);

  table.add<arith::DivSIOp>(division<[](int64_t x, int64_t y) { return x / y; }, negate, true>);
  table.add<arith::RemSIOp>(division<[](int64_t x, int64_t y) { return x % y; }, zero, true>);
  table.add<arith::FloorDivSIOp>(division<[](int64_t x, int64_t y) {
    return x / y - ((x % y != 0 && (x < 0) != (y < 0)) ? 1 : 0);
  },
                                          negate, true>);
  table.add<arith::CeilDivSIOp>(division<[](int64_t x, int64_t y) {
    return x / y + ((x % y != 0 && (x < 0) == (y < 0)) ? 1 : 0);
  },
                                         negate, true>);
  table.add<arith::DivUIOp>(division<[](uint64_t x, uint64_t y) { return x / y; }, zero, false>);
  table.add<arith::RemUIOp>(division<[](uint64_t x, uint64_t y) { return x % y; }, zero, false>);
  table.add<arith::CeilDivUIOp>(
      division<[](uint64_t x, uint64_t y) { return x / y + (x % y != 0 ? 1 : 0); }, zero, false>);

  table.add<arith::AddUIExtendedOp>(addWithCarry);
  table.add<arith::MulSIExtendedOp>(extendedMultiply<true>);
  table.add<arith::MulUIExtendedOp>(extendedMultiply<false>);
  table.add<arith::CmpIOp>(compareIntegers);

  table.add<math::AbsIOp>(
      unary<[](uint64_t x, unsigned bits) { return asSigned(x, bits) < 0 ? uint64_t(0) - x : x; }>);
  table.add<math::CountLeadingZerosOp>(unary<[](uint64_t x, unsigned bits) {
    return static_cast<uint64_t>(std::countl_zero(x)) - (64 - bits);
  }>);
  table.add<math::CountTrailingZerosOp>(unary<[](uint64_t x, unsigned bits) {
    return std::min<uint64_t>(std::countr_zero(x), bits);
  }>);
  table.add<math::CtPopOp>(
      unary<[](uint64_t x, unsigned) { return static_cast<uint64_t>(std::popcount(x)); }>);
  table.add<math::IPowIOp>(
      binary<[](uint64_t x, uint64_t y, unsigned bits) { return integerPower(x, y, bits); }>);
}

} // namespace nereid::interpreter
