// SPDX-License-Identifier: Apache-2.0
// The facts themselves: what follows from them, what two have in common, and their text.
#include "lib/tile/analysis/axis/AxisRuns.h"

#include "lib/tile/ir/Tile.h"

#include "mlir/IR/BuiltinTypes.h"

namespace nereid::tile {

using llvm::APInt;
using mlir::ConstantIntRanges;

static unsigned widthOf(mlir::Type element) {
  if (mlir::isa<mlir::IndexType, PtrType>(element)) {
    return 64;
  }
  return element.isIntOrIndex() ? element.getIntOrFloatBitWidth() : 0;
}

static int64_t unitOf(mlir::Type element) {
  auto pointer = mlir::dyn_cast<PtrType>(element);
  if (!pointer) {
    return 1;
  }
  mlir::Type pointee = pointer.getPointee();
  return pointee.isIntOrFloat() ? std::max(8U, pointee.getIntOrFloatBitWidth()) / 8 : 8;
}

AxisInfo::AxisInfo(mlir::Type type) {
  mlir::Type element = elementTypeOf(type);
  width = widthOf(element);
  unit = unitOf(element);
  if (width != 0 && !mlir::isa<PtrType>(element)) {
    range = ConstantIntRanges::maxRange(width);
  }
  for (int64_t size : shapeOf(type)) {
    axes.push_back({.size = size});
  }
}

std::optional<APInt> AxisInfo::constant() const {
  return range ? range->getConstantValue() : std::nullopt;
}

void AxisInfo::complete() {
  if (range && twos >= width) {
    range = ConstantIntRanges::constant(APInt::getZero(width));
  }
  if (std::optional<APInt> value = constant()) {
    twos = twosOf(*value);
    for (AxisRun &axis : axes) {
      axis = {axis.size, axis.size, 0, twos, twos};
    }
    return;
  }
  for (AxisRun &axis : axes) {
    if (axis.length == 1) {
      axis.stride = 0;
    }
    if (axis.stride) {
      twos = std::max(twos, std::min(axis.startTwos, twosOf(*axis.stride, *this)));
    }
  }
  twos = std::min(twos, width);
  for (AxisRun &axis : axes) {
    axis.startTwos = std::min(std::max(axis.startTwos, twos), width);
    axis.firstTwos = std::min(std::max(axis.firstTwos, axis.startTwos), width);
  }
}

void AxisInfo::join(const AxisInfo &other) {
  twos = std::min(twos, other.twos);
  if (range && other.range) {
    range = range->rangeUnion(*other.range);
  }
  for (unsigned dim = 0; dim < axes.size(); ++dim) {
    auto [a, b] = withCommonLength(*this, other, dim);
    axes[dim] = {a.size, a.length, a.stride == b.stride ? a.stride : std::nullopt,
                 std::min(a.startTwos, b.startTwos), std::min(a.firstTwos, b.firstTwos)};
  }
  complete();
}

void AxisInfo::widen(const AxisInfo &before) {
  if (!range || !before.range) {
    return;
  }
  const ConstantIntRanges &old = *before.range;
  APInt umin = range->umin(), umax = range->umax(), smin = range->smin(), smax = range->smax();
  if (umin != old.umin()) {
    umin = APInt::getZero(width);
  }
  if (umax != old.umax()) {
    umax = APInt::getMaxValue(width);
  }
  if (smin != old.smin()) {
    smin = smin.isNegative() ? APInt::getSignedMinValue(width) : APInt::getZero(width);
  }
  if (smax != old.smax()) {
    smax = APInt::getSignedMaxValue(width);
  }
  range = ConstantIntRanges(umin, umax, smin, smax);
}

// ---- text ----

/// The largest power of two; 0 where that is only 0's.
static void printMultiple(unsigned twos, unsigned width, llvm::raw_ostream &out) {
  if (twos >= width) {
    out << 0;
  } else {
    out << AxisInfo::divisorOf(twos);
  }
}

static void printStride(const AxisRun &axis, llvm::raw_ostream &out) {
  if (axis.length == 1 && axis.size != 1) {
    out << "-";
    return;
  }
  if (axis.stride) {
    out << *axis.stride;
  } else {
    out << "?";
  }
  if (!axis.isWhole()) {
    out << " in " << axis.length;
  }
}

static void printBounds(const APInt &low, const APInt &high, bool isSigned,
                        llvm::raw_ostream &out) {
  out << "[";
  low.print(out, isSigned);
  out << ", ";
  high.print(out, isSigned);
  out << "]";
}

void AxisInfo::print(llvm::raw_ostream &out) const {
  auto list = [&](llvm::StringRef name, auto &&print) {
    out << name << " = [";
    for (unsigned dim = 0; dim < axes.size(); ++dim) {
      out << (dim == 0 ? "" : ", ");
      print(dim);
    }
    out << "], ";
  };
  if (!axes.empty()) {
    list("contiguity", [&](unsigned dim) { out << contiguity(dim); });
    list("constancy", [&](unsigned dim) { out << constancy(dim); });
    list("divisibility", [&](unsigned dim) { printMultiple(axes[dim].startTwos, width, out); });
    list("first", [&](unsigned dim) { printMultiple(axes[dim].firstTwos, width, out); });
    list("stride", [&](unsigned dim) { printStride(axes[dim], out); });
  }
  out << "multiple = ";
  printMultiple(twos, width, out);
  if (!range) {
    return;
  }
  const ConstantIntRanges any = ConstantIntRanges::maxRange(width);
  const bool isBounded = range->smin() != any.smin() || range->smax() != any.smax();
  if (isBounded) {
    out << ", range = ";
    printBounds(range->smin(), range->smax(), true, out);
  }
  const bool isBoundedUnsigned = range->umin() != any.umin() || range->umax() != any.umax();
  if (isBoundedUnsigned && (!isBounded || range->smin().isNegative())) {
    out << ", unsigned = ";
    printBounds(range->umin(), range->umax(), false, out);
  }
}

} // namespace nereid::tile
