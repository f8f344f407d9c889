// SPDX-License-Identifier: Apache-2.0
// Sums, products, and conversions between types: all of them exact modulo the type's range, except
// for widening, which breaks the runs that pass the end of the narrow type.
#include "lib/tile/analysis/axis/AxisRules.h"

#include "lib/tile/ir/Tile.h"

namespace arith = mlir::arith;

namespace nereid::tile {

static std::optional<int64_t> sumOf(const AxisRun &a, const AxisRun &b, int64_t sign) {
  if (!a.stride || !b.stride) {
    return std::nullopt;
  }
  return static_cast<int64_t>(static_cast<uint64_t>(*a.stride) +
                              static_cast<uint64_t>(sign) * static_cast<uint64_t>(*b.stride));
}

static void add(const AxisInfo &a, const AxisInfo &b, int64_t sign, AxisInfo &result) {
  result.twos = std::min(a.twos, b.twos);
  for (unsigned dim = 0; dim < result.axes.size(); ++dim) {
    auto [x, y] = withCommonLength(a, b, dim);
    AxisRun &run = result.axes[dim];
    run.length = x.length;
    run.stride = sumOf(x, y, sign);
    if (run.stride) {
      run.stride = wrapped(*run.stride, result.width);
    }
    run.startTwos = std::min(x.startTwos, y.startTwos);
    run.firstTwos = std::min(x.firstTwos, y.firstTwos);
  }
}

/// By a number that is the same in all of a run.
static std::optional<int64_t> scaled(const AxisRun &run, const AxisInfo &factor, unsigned width) {
  std::optional<llvm::APInt> number = factor.constant();
  if (!run.stride || !number) {
    return std::nullopt;
  }
  return wrapped(static_cast<int64_t>(static_cast<uint64_t>(*run.stride) * number->getZExtValue()),
                 width);
}

static void multiply(const AxisInfo &a, const AxisInfo &b, AxisInfo &result) {
  result.twos = a.twos + b.twos;
  for (unsigned dim = 0; dim < result.axes.size(); ++dim) {
    auto [x, y] = withCommonLength(a, b, dim);
    const bool isQuadratic = !x.isConstant() && !y.isConstant();
    AxisRun &run = result.axes[dim];
    run.firstTwos = x.firstTwos + y.firstTwos;
    if (isQuadratic) {
      run.startTwos = result.twos; // of every element
      continue;
    }
    run.length = x.length;
    run.stride = x.isConstant() && y.isConstant() ? std::optional<int64_t>(0)
                 : x.isConstant()                 ? scaled(y, a, result.width)
                                                  : scaled(x, b, result.width);
    run.startTwos = x.startTwos + y.startTwos;
  }
}

static void shiftLeft(const AxisInfo &a, const AxisInfo &amount, const AxisRule &rule,
                      AxisInfo &result) {
  std::optional<llvm::APInt> bits = amount.constant();
  if (bits && bits->ult(result.width)) {
    AxisInfo factor = amount;
    factor.twos = 0;
    factor.range = mlir::ConstantIntRanges::constant(
        llvm::APInt::getOneBitSet(result.width, static_cast<unsigned>(bits->getZExtValue())));
    factor.complete();
    multiply(a, factor, result);
    return;
  }
  rule.elementwise(result);
  result.twos = a.twos; // also where all bits are shifted out
  for (unsigned dim = 0; dim < result.axes.size(); ++dim) {
    const AxisRun run = shortened(
        a, dim, commonLength(a.axes[dim].size, a.axes[dim].length, result.axes[dim].length));
    result.axes[dim].startTwos = run.startTwos;
    result.axes[dim].firstTwos = run.firstTwos;
  }
}

/// A narrow multiple of a power of two beyond its range is zero, in any width.
static unsigned widenedTwos(unsigned twos, unsigned from, unsigned to) {
  return twos >= from ? to : twos;
}

static void widenTo(const AxisInfo &source, bool isSigned, Overflow overflow, AxisInfo &result) {
  const unsigned from = source.width, to = result.width;
  AxisInfo runs = source;
  for (unsigned dim = 0; dim < runs.axes.size(); ++dim) {
    while (!staysInRange(runs, dim, isSigned, overflow)) {
      const int64_t length = runs.axes[dim].length;
      runs.axes[dim] = shortened(runs, dim, length % 2 == 0 ? length / 2 : 1);
    }
    result.axes[dim] = runs.axes[dim];
    result.axes[dim].startTwos = widenedTwos(runs.axes[dim].startTwos, from, to);
    result.axes[dim].firstTwos = widenedTwos(runs.axes[dim].firstTwos, from, to);
  }
  result.twos = widenedTwos(source.twos, from, to);
}

static void narrow(const AxisInfo &source, AxisInfo &result) {
  result.twos = source.twos;
  for (unsigned dim = 0; dim < result.axes.size(); ++dim) {
    AxisRun &run = result.axes[dim];
    run = source.axes[dim];
    if (run.stride) {
      run.stride = wrapped(*run.stride, result.width);
    }
  }
}

static void convert(const AxisInfo &source, bool isSigned, Overflow overflow, AxisInfo &result) {
  if (result.width > source.width) {
    widenTo(source, isSigned, overflow, result);
  } else {
    narrow(source, result);
  }
}

/// Another type for the same bits: strides are counted in other units.
static void recount(const AxisInfo &source, AxisInfo &result) {
  result.twos = source.twos;
  for (unsigned dim = 0; dim < result.axes.size(); ++dim) {
    AxisRun &run = result.axes[dim];
    run = source.axes[dim];
    if (run.stride) {
      const auto bytes = static_cast<int64_t>(static_cast<uint64_t>(*run.stride) *
                                              static_cast<uint64_t>(source.unit));
      run.stride = bytes % result.unit == 0 ? std::optional(bytes / result.unit) : std::nullopt;
    }
  }
}

static void addToAddress(const AxisInfo &pointer, const AxisInfo &offset, Overflow overflow,
                         AxisInfo &result) {
  AxisInfo elements = pointer; // its shape and unit
  convert(offset, true, overflow, elements);
  const unsigned unitTwos = twosOf(static_cast<uint64_t>(pointer.unit));
  elements.twos += unitTwos;
  for (AxisRun &run : elements.axes) {
    run.startTwos += unitTwos;
    run.firstTwos += unitTwos;
  }
  elements.complete();
  add(pointer, elements, 1, result);
}

bool inferSum(const AxisRule &rule, AxisInfo &result) {
  if (mlir::isa<arith::AddIOp, arith::SubIOp>(rule.op)) {
    add(rule.operand(0), rule.operand(1), mlir::isa<arith::SubIOp>(rule.op) ? -1 : 1, result);
  } else if (mlir::isa<arith::MulIOp>(rule.op)) {
    multiply(rule.operand(0), rule.operand(1), result);
  } else if (mlir::isa<arith::ShLIOp>(rule.op)) {
    shiftLeft(rule.operand(0), rule.operand(1), rule, result);
  } else if (mlir::isa<AddPtrOp>(rule.op)) {
    addToAddress(rule.operand(0), rule.operand(1), rule.overflow, result);
  } else if (mlir::isa<arith::ExtSIOp, arith::IndexCastOp, arith::TruncIOp>(rule.op)) {
    convert(rule.operand(0), true, rule.overflow, result);
  } else if (mlir::isa<arith::ExtUIOp, arith::IndexCastUIOp>(rule.op)) {
    convert(rule.operand(0), false, rule.overflow, result);
  } else if (mlir::isa<PtrCastOp, PtrToIntOp, IntToPtrOp>(rule.op)) {
    recount(rule.operand(0), result);
  } else {
    return false;
  }
  return true;
}

} // namespace nereid::tile
