// SPDX-License-Identifier: Apache-2.0
#include "lib/definition/cases/IndexData.h"

#include "lib/definition/operations/SizeExpression.h"
#include "runtime/elements/IntegerElements.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace nereid::definition {
namespace {

using runtime::Tensor;

/// Values that come again and again.
constexpr int64_t fewValues = 3;

int64_t within(uint64_t hash, int64_t low, int64_t high) {
  return low + static_cast<int64_t>(hash % static_cast<uint64_t>(high - low));
}

int64_t valueAt(int64_t i, int64_t length, int64_t count, const Data &data, uint64_t seed,
                int64_t low, int64_t high) {
  const int64_t column = i % length, row = i / length, span = high - low;
  const uint64_t hash = hashed(seed, i);
  switch (data.kind) {
  case DataKind::Zeros:
    return std::clamp<int64_t>(0, low, high - 1);
  case DataKind::Ones:
    return high - 1;
  case DataKind::ConstantRows:
    return within(hashed(seed, row), low, high);
  case DataKind::Special:
    return (hash + static_cast<uint64_t>(data.turn)) % 2 == 0 ? low : high - 1;
  case DataKind::Negative:
    return low < 0 ? within(hash, low, std::min<int64_t>(high, 0)) : within(hash, low, high);
  case DataKind::SortedRows:
    return low + static_cast<int64_t>(static_cast<__int128>(column) * span / length);
  case DataKind::Cancelling:
    return high - 1 - static_cast<int64_t>(static_cast<__int128>(column) * span / length);
  case DataKind::Scaled:
  case DataKind::Decades:
    return within(hashed(seed, static_cast<int64_t>(hash % fewValues)), low, high);
  case DataKind::Normal:
    break;
  }
  // Both ends, where kernels go wrong.
  return i == 0 ? high - 1 : i + 1 == count ? low : within(hash, low, high);
}

/// The first `count` of the numbers below `size` in an order of their own.
std::vector<int64_t> distinctValues(int64_t count, int64_t size, const Data &data, uint64_t seed) {
  std::vector<int64_t> values(static_cast<size_t>(size));
  std::iota(values.begin(), values.end(), int64_t{0});
  if (data.kind == DataKind::Cancelling || data.kind == DataKind::Ones) {
    std::reverse(values.begin(), values.end());
  } else if (data.kind != DataKind::SortedRows && data.kind != DataKind::Zeros) {
    for (size_t i = values.size(); i > 1; --i) {
      std::swap(values[i - 1], values[hashed(seed, static_cast<int64_t>(i)) % i]);
    }
  }
  values.resize(static_cast<size_t>(count));
  return values;
}

} // namespace

Result<std::pair<int64_t, int64_t>> rangeOf(const IndexRange &range, const Binding &binding) {
  auto low = evaluateSizes(range.low, binding), high = evaluateSizes(range.high, binding);
  if (!low || !high) {
    return (low ? high : low).error();
  }
  return std::pair(low->whole, high->whole);
}

std::string rangeProblem(const Parameter &parameter, const Binding &binding) {
  const Result<std::vector<int64_t>> sizes = bind(parameter.shape, binding);
  const auto ends = rangeOf(*parameter.range, binding);
  if (!sizes || !ends) {
    return (sizes ? ends.error() : sizes.error()).message;
  }
  const bool isEmpty = std::find(sizes->begin(), sizes->end(), 0) != sizes->end();
  if (!isEmpty && ends->first >= ends->second) {
    return fmt::format("'{}' has elements, but its range [{}, {}) has none", parameter.name,
                       ends->first, ends->second);
  }
  const int64_t distinct = parameter.range->distinct;
  const int64_t length =
      distinct == 0 || isEmpty ? 0 : *(sizes->end() + static_cast<ptrdiff_t>(distinct));
  if (length > ends->second - std::max<int64_t>(ends->first, 0)) {
    return fmt::format("'{}' has {} elements along dimension {}, but its range [{}, {}) has fewer "
                       "distinct ones",
                       parameter.name, length, distinct, ends->first, ends->second);
  }
  return "";
}

void fillIndices(const Tensor &tensor, const Data &data, uint64_t seed, int64_t low, int64_t high,
                 int64_t distinct) {
  const int64_t count = tensor.elementCount();
  const std::vector<int64_t> &shape = tensor.shape();
  auto store = [&](int64_t i, int64_t value) {
    runtime::storeInteger(tensor, i, static_cast<uint64_t>(value));
  };
  if (count == 0) {
    return;
  }
  if (distinct == 0) {
    const int64_t length = shape.empty() ? 1 : shape.back();
    for (int64_t i = 0; i < count; ++i) {
      store(i, valueAt(i, length, count, data, seed, low, high));
    }
    return;
  }
  const auto dim = static_cast<size_t>(static_cast<int64_t>(shape.size()) + distinct);
  int64_t inner = 1;
  for (size_t d = dim + 1; d < shape.size(); ++d) {
    inner *= shape[d];
  }
  const int64_t first = std::max<int64_t>(low, 0), length = shape[dim];
  for (int64_t line = 0; line < count / length; ++line) {
    const int64_t begin = line / inner * length * inner + line % inner;
    const auto values = distinctValues(length, high - first, data, hashed(seed, line));
    for (int64_t i = 0; i < length; ++i) {
      const int64_t value = first + values[static_cast<size_t>(i)];
      const bool wraps = value - high >= low && hashed(seed, begin + i) % 2 == 1;
      store(begin + i * inner, wraps ? value - high : value);
    }
  }
}

} // namespace nereid::definition
