// SPDX-License-Identifier: Apache-2.0
// Test data of integer and bool tensors, exact to 64 bits: the whole range of the type and its
// ends, where sums and products wrap.
#include "lib/definition/cases/CaseData.h"
#include "lib/definition/operations/Promotion.h"
#include "runtime/elements/IntegerElements.h"

#include <algorithm>
#include <cmath>

namespace nereid::definition {
namespace {

using runtime::Tensor;

/// Ordinary numbers lie between it and its negative.
constexpr int64_t ordinary = 100;

class IntegerFiller {
public:
  IntegerFiller(const Tensor &tensor, const Data &data, uint64_t seed)
      : tensor(tensor), data(data), seed(seed), dtype(tensor.dtype()),
        isSigned(isSignedInteger(dtype)), highest(highestInteger(dtype)) {}

  void run() const {
    const int64_t count = tensor.elementCount();
    const int64_t length = tensor.shape().empty() ? 1 : std::max<int64_t>(tensor.shape().back(), 1);
    for (int64_t i = 0; i < count; ++i) {
      runtime::storeInteger(tensor, i, value(i / length, i % length, length));
    }
  }

private:
  uint64_t draw(int64_t number) const { return hashed(seed, number); }

  /// From -limit to limit, or 0 to limit.
  uint64_t within(uint64_t hash, uint64_t limit) const {
    if (!isSigned) {
      return limit == ~uint64_t{0} ? hash : hash % (limit + 1);
    }
    // The low half of the range has one number more, which the whole range includes.
    const uint64_t width = 2 * limit + (limit == highest ? 1 : 0);
    const uint64_t offset = width == ~uint64_t{0} ? hash : hash % (width + 1);
    return offset - (limit == highest ? limit + 1 : limit);
  }

  uint64_t plain(int64_t number) const {
    return within(draw(number), std::min<uint64_t>(ordinary, highest));
  }

  /// 1 for a range of 0, the type's largest number for 1 and -1.
  uint64_t limitOf(double range) const {
    const double bits = std::log2(static_cast<double>(highest)) * std::fabs(range);
    return std::fabs(range) >= 1 ? highest
                                 : std::max<uint64_t>(static_cast<uint64_t>(std::exp2(bits)), 1);
  }

  uint64_t extreme(int64_t turn) const {
    switch (turn % specialTurns) {
    case 0:
      return highest;
    case 1:
      return static_cast<uint64_t>(lowestInteger(dtype));
    case 2:
      return isSigned ? ~uint64_t{0} : highest - 1; // -1
    default:
      return 0;
    }
  }

  uint64_t value(int64_t row, int64_t column, int64_t length) const {
    const int64_t number = row * length + column;
    const uint64_t magnitude = plain(number) & 0x7F;
    switch (data.kind) {
    case DataKind::Normal:
      return plain(number);
    case DataKind::Scaled:
      return within(draw(number), limitOf(data.range));
    case DataKind::Decades:
      return within(draw(number), std::max<uint64_t>(highest >> (draw(~number) % 64), 1));
    case DataKind::Special:
      return column == static_cast<int64_t>(draw(row) % static_cast<uint64_t>(length))
                 ? extreme(row + data.turn)
                 : plain(number);
    case DataKind::Negative:
      return draw(number) % 3 == 0 ? 0 : isSigned ? uint64_t{0} - magnitude : magnitude;
    case DataKind::Zeros:
      return 0;
    case DataKind::Ones:
      return 1;
    case DataKind::ConstantRows:
      return plain(row);
    case DataKind::SortedRows:
      return sorted(column, length);
    case DataKind::Cancelling:
      return column % 2 == 0 ? within(draw(number), limitOf(data.range))
                             : uint64_t{0} - within(draw(number - 1), limitOf(data.range));
    }
    return 0;
  }

  /// From the lowest number to the highest.
  uint64_t sorted(int64_t column, int64_t length) const {
    const double part = static_cast<double>(column) / static_cast<double>(length);
    const auto up = static_cast<uint64_t>(part * static_cast<double>(highest >> 1));
    return static_cast<uint64_t>(lowestInteger(dtype)) + (isSigned ? 2 * up : up);
  }

  const Tensor &tensor;
  const Data &data;
  uint64_t seed;
  DType dtype;
  bool isSigned;
  uint64_t highest;
};

/// The nearest of the type's numbers that the range has, or the first.
uint64_t fitted(double value, DType dtype, const ValueRange &allowed) {
  const double moved = allowed.fitted(value);
  const auto lowest = static_cast<double>(lowestInteger(dtype));
  const auto highest = static_cast<double>(highestInteger(dtype));
  for (double each : {std::floor(moved), std::ceil(moved), std::floor(allowed.low) + 1,
                      std::ceil(allowed.high) - 1, allowed.low, allowed.high, 1.0, 0.0}) {
    if (each >= lowest && each < std::max(highest, 2.0) && allowed.contains(each)) {
      return each < 0 ? static_cast<uint64_t>(static_cast<int64_t>(each))
                      : static_cast<uint64_t>(each);
    }
  }
  return 0;
}

} // namespace

void fillIntegerData(const Tensor &tensor, const Data &data, uint64_t seed,
                     const ValueRange &allowed) {
  if (tensor.dtype() == DType::Bool) {
    bool isPlain = data.kind == DataKind::Zeros || data.kind == DataKind::Ones;
    int64_t low = data.kind == DataKind::Ones ? 1 : 0;
    runtime::fillIntegers(tensor, seed, low, isPlain ? low + 1 : 2);
    return;
  }
  IntegerFiller(tensor, data, seed).run();
  for (int64_t i = 0; !allowed.isEverything() && i < tensor.elementCount(); ++i) {
    const double value = tensor.at(i);
    if (!allowed.contains(value)) {
      runtime::storeInteger(tensor, i, fitted(value, tensor.dtype(), allowed));
    }
  }
}

} // namespace nereid::definition
