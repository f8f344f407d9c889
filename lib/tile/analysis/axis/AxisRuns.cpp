// SPDX-License-Identifier: Apache-2.0
#include "lib/tile/analysis/axis/AxisRuns.h"

#include <bit>
#include <numeric>

namespace nereid::tile {

using llvm::APInt;

unsigned twosOf(const APInt &number) { return number.countr_zero(); }

unsigned twosOf(uint64_t number) { return static_cast<unsigned>(std::countr_zero(number)); }

unsigned twosOf(int64_t stride, const AxisInfo &value) {
  return twosOf(static_cast<uint64_t>(stride)) + twosOf(static_cast<uint64_t>(value.unit));
}

int64_t commonLength(int64_t size, int64_t a, int64_t b) {
  if (a == size || b == size) {
    return std::min(a, b);
  }
  return std::gcd(a, b);
}

AxisRun shortened(const AxisInfo &value, unsigned dim, int64_t length) {
  AxisRun run = value.axes[dim];
  if (length == run.length) {
    return run;
  }
  if (run.stride != 0) {
    // An unknown stride of addresses may be no whole number of elements.
    const unsigned step = run.stride ? twosOf(*run.stride, value) : 0;
    run.startTwos = std::min(run.startTwos, twosOf(static_cast<uint64_t>(length)) + step);
  }
  run.startTwos = std::min(std::max(run.startTwos, value.twos), value.width);
  run.length = length;
  if (length == 1) {
    run.stride = 0;
  }
  return run;
}

std::pair<AxisRun, AxisRun> withCommonLength(const AxisInfo &a, const AxisInfo &b, unsigned dim) {
  const AxisRun &x = a.axes[dim], &y = b.axes[dim];
  const int64_t length = commonLength(x.size, x.length, y.length);
  return {shortened(a, dim, length), shortened(b, dim, length)};
}

int64_t wrapped(int64_t number, unsigned width) {
  const unsigned unused = width == 0 ? 0 : 64 - width;
  return static_cast<int64_t>(static_cast<uint64_t>(number) << unused) >> unused;
}

bool staysInRange(const AxisInfo &value, unsigned dim, bool isSigned, Overflow overflow) {
  const AxisRun &run = value.axes[dim];
  if (run.length == 1 || run.stride == 0) {
    return true;
  }
  const bool isExcluded = overflow == Overflow::Excluded && value.width >= 32;
  if (isExcluded && (isSigned || value.isNonNegative())) {
    return true;
  }
  using Wide = unsigned __int128;
  if (run.stride && *run.stride > 0) {
    const unsigned aligned = std::min(run.startTwos, isSigned ? value.width - 1 : value.width);
    const Wide reach = Wide(run.length - 1) * static_cast<uint64_t>(*run.stride);
    if (reach < Wide(1) << aligned) {
      return true; // all of it lies between two multiples of one power of two
    }
  }
  if (!value.range) {
    return false;
  }
  const mlir::ConstantIntRanges &range = *value.range;
  const APInt extent = isSigned ? range.smax() - range.smin() : range.umax() - range.umin();
  // Two numbers that far apart at most differ by the stride itself, or by it and the type's range,
  // which would be more than that.
  const uint64_t stride = !run.stride        ? extent.getZExtValue()
                          : *run.stride >= 0 ? static_cast<uint64_t>(*run.stride)
                                             : -static_cast<uint64_t>(*run.stride);
  return Wide(extent.getZExtValue()) + stride < Wide(1) << value.width;
}

int64_t lengthWithin(const AxisInfo &value, unsigned dim, unsigned span) {
  const AxisRun &run = value.axes[dim];
  const unsigned bits = std::min({run.startTwos, span, 62U});
  if (!run.stride || *run.stride <= 0 || (int64_t(1) << bits) % *run.stride != 0) {
    return 1;
  }
  return commonLength(run.size, run.length, (int64_t(1) << bits) / *run.stride);
}

} // namespace nereid::tile
