// SPDX-License-Identifier: Apache-2.0
// Conditions are those of PyTorch's pooling.
#include "lib/definition/reader/windows/WrittenCall.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace nereid::definition {

/// With ceil_mode a window may begin before the padding ends behind, but not in it.
int64_t WindowSides::behind(size_t side) const {
  return isCeil ? std::min(padding[side] + stride[side] - 1, reach(side)) : padding[side];
}

SizePolynomial WindowSides::windows(size_t side, const SizePolynomial &size) const {
  return (size + (padding[side] + behind(side) - reach(side) - 1)).floorDivide(stride[side]) + 1;
}

std::optional<WindowSides> windowSides(WrittenCall &call) {
  const size_t count = call.sides();
  const bool isPool = call.name.find("_pool") != std::string::npos;
  const bool isUnpool = call.name.find("_unpool") != std::string::npos;
  const bool isMax = call.name.starts_with("max"), isLp = call.name.starts_with("lp");
  WindowSides sides;
  auto kernel = call.integers("kernel_size", count, 1);
  if (!kernel) {
    return std::nullopt;
  }
  sides.kernel = *kernel;
  sides.stride = *kernel;
  sides.padding.assign(count, 0);
  sides.dilation.assign(count, 1);
  auto take = [&](std::vector<int64_t> &list, const char *argument, int64_t least) {
    auto numbers = call.integers(argument, count, least);
    list = numbers ? *numbers : list;
    return numbers.has_value();
  };
  if (((!isPool && !isUnpool) || !call.isNone("stride")) && !take(sides.stride, "stride", 1)) {
    return std::nullopt;
  }
  if (!isLp && !take(sides.padding, "padding", 0)) {
    return std::nullopt;
  }
  if ((isMax || !isPool) && !isUnpool && !take(sides.dilation, "dilation", 1)) {
    return std::nullopt;
  }
  if (isPool) {
    const std::optional<bool> isCeil = call.flag("ceil_mode");
    if (!isCeil) {
      return std::nullopt;
    }
    sides.isCeil = *isCeil;
    for (size_t side = 0; side < count; ++side) {
      if (2 * sides.padding[side] > sides.kernel[side]) {
        return call.fail("E0604",
                         fmt::format("'{}' expects a padding of at most half of its kernel, but "
                                     "got {} for {}",
                                     call.name, sides.padding[side], sides.kernel[side]),
                         "a window has an element of the image");
      }
    }
  }
  return sides;
}

Value countedAlong(WrittenCall &call, const WindowSides &sides, size_t side,
                   const SizePolynomial &size, bool countsPadding) {
  const int64_t padding = sides.padding[side];
  const Value first =
      call.apply("sub", {call.apply("mul", {call.positions(sides.windows(side, size)),
                                            call.integerNumber(sides.stride[side])}),
                         call.integerNumber(padding)});
  const Value end =
      call.apply("minimum", {call.apply("add", {first, call.integerNumber(sides.kernel[side])}),
                             call.sizeNumber(size + (countsPadding ? padding : 0))});
  const Value begin = countsPadding ? first : call.apply("maximum", {first, call.integerNumber(0)});
  return call.along(call.apply("sub", {end, begin}),
                    static_cast<int64_t>(side) - static_cast<int64_t>(sides.count()));
}

Value windowDivisor(WrittenCall &call, int x, const WindowSides &sides) {
  const bool hasOverride = call.sides() > 1 && !call.isNone("divisor_override");
  const std::optional<int64_t> override =
      hasOverride ? call.integer("divisor_override", std::numeric_limits<int64_t>::min())
                  : std::nullopt;
  const std::optional<bool> countsPadding = call.flag("count_include_pad");
  if (!countsPadding || (hasOverride && !override)) {
    return std::nullopt;
  }
  if (override) {
    return *override == 0
               ? call.fail("E0608",
                           fmt::format("'divisor_override' of '{}' expects not to be 0", call.name),
                           "leave it out to divide by the size of the window")
               : call.integerNumber(*override);
  }
  int64_t places = 1;
  std::vector<Value> counts;
  for (size_t side = 0; side < sides.count(); ++side) {
    const bool isWhole = sides.behind(side) <= sides.padding[side] &&
                         (*countsPadding || (sides.padding[side] == 0 && sides.behind(side) == 0));
    if (isWhole) {
      places *= sides.kernel[side];
    } else {
      const auto dim = static_cast<int64_t>(side) - static_cast<int64_t>(sides.count());
      counts.push_back(countedAlong(call, sides, side, call.size(x, dim), *countsPadding));
    }
  }
  Value divisor = call.integerNumber(places);
  for (const Value &each : counts) {
    divisor = call.apply("mul", {each, divisor});
  }
  return divisor;
}

Value windowed(WrittenCall &call, Value x, const WindowSides &sides, double fill) {
  const auto count = static_cast<int64_t>(sides.count());
  for (int64_t side = 0; side < count && x; ++side) {
    const auto at = static_cast<size_t>(side);
    x = call.padded(x, side - count, sides.padding[at], sides.behind(at), fill);
  }
  for (int64_t side = 0; side < count && x; ++side) { // each one adds a dimension behind
    const auto at = static_cast<size_t>(side);
    x = call.windows(x, -count, sides.kernel[at], sides.stride[at], sides.dilation[at]);
  }
  return x;
}

/// One sum over all places: those of the side that is spread come last.
Value spreadBack(WrittenCall &call, Value x, const WindowSides &sides,
                 const std::vector<SizePolynomial> &sizes) {
  const auto count = static_cast<int64_t>(sides.count());
  std::vector<int64_t> places;
  for (int64_t side = count - 1; side >= 0 && x; --side) {
    const auto at = static_cast<size_t>(side);
    places.insert(places.begin(), -side - 1);
    x = call.spread(x, side - 2 * count, sizes[at], sides.stride[at], sides.dilation[at],
                    sides.padding[at]);
    if (side > 0 && x) {
      const auto rank = static_cast<int64_t>(call.rank(*x));
      std::vector<int64_t> order;
      for (int64_t dim = 0; dim < rank - count; ++dim) {
        order.push_back(dim);
      }
      order.push_back(rank - 1);
      for (int64_t dim = rank - count; dim < rank - 1; ++dim) {
        order.push_back(dim);
      }
      x = call.permuted(x, order);
    }
  }
  std::sort(places.begin(), places.end());
  return call.reduced("sum", x, places);
}

} // namespace nereid::definition
