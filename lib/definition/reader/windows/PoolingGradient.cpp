// SPDX-License-Identifier: Apache-2.0
// What pooling hands back: shares of a mean, and values at the places where the largest were.
#include "lib/definition/reader/windows/BodyWindows.h"
#include "lib/definition/reader/windows/Parts.h"

#include <fmt/format.h>

namespace nereid::definition {
namespace {

WrittenCall::Sizes imageSizes(WrittenCall &call, int x) {
  WrittenCall::Sizes sizes;
  for (auto dim = -static_cast<int64_t>(call.sides()); dim < 0; ++dim) {
    sizes.push_back(call.size(x, dim));
  }
  return sizes;
}

/// Several windows may have chosen one element.
Value largestBack(WrittenCall &call, Value grad, Value x) {
  const auto count = static_cast<int64_t>(call.sides());
  const Value places = call.image("indices");
  const Value zeros =
      call.apply("masked_fill",
                 {x, call.apply("logical_or", {call.apply("eq", {x, x}), call.apply("ne", {x, x})}),
                  call.number(0)});
  if (!places || !zeros) {
    return std::nullopt;
  }
  const Value sum =
      call.addedAt(call.flattened(zeros, -count, -1), call.flattened(places, -count, -1),
                   call.flattened(grad, -count, -1));
  return call.reshaped(sum, 1, imageSizes(call, *x));
}

/// Along one side the sum of what the windows over each element hold: few begin at or in front of
/// it, and of these all whose end is behind it.
Value windowsOver(WrittenCall &call, Value windows, const WindowSides &sides, size_t side,
                  const SizePolynomial &size) {
  const auto dim = static_cast<int64_t>(side) - static_cast<int64_t>(sides.count());
  const int64_t kernel = sides.kernel[side], stride = sides.stride[side];
  const int64_t most = (kernel + stride - 1) / stride;
  const int64_t start = sides.padding[side] - stride * (most - 1);
  const Value over = call.resampled(windows, dim, size, start, 1, stride, SizePolynomial(most));
  const Value own = call.unsqueezed(
      call.apply("add", {call.positions(size), call.integerNumber(sides.padding[side])}), -1);
  const Value last = call.apply("floor_divide", {own, call.integerNumber(stride)});
  const Value back = call.apply("sub", {call.integerNumber(most - 1), call.positions(most)});
  const Value number = call.apply("sub", {last, back});
  // How far the element is behind the begin of that window.
  const Value inside =
      call.apply("add", {call.apply("remainder", {own, call.integerNumber(stride)}),
                         call.apply("mul", {back, call.integerNumber(stride)})});
  Value isOver = call.apply(
      "logical_and", {call.apply("ge", {number, call.integerNumber(0)}),
                      call.apply("lt", {number, call.sizeNumber(sides.windows(side, size))})});
  isOver =
      call.apply("logical_and", {isOver, call.apply("lt", {inside, call.integerNumber(kernel)})});
  Value isNone = call.apply("logical_not", {isOver});
  for (int64_t behind = dim + 1; behind < 0; ++behind) {
    isNone = call.unsqueezed(isNone, -2);
  }
  return call.reduced("sum", call.apply("masked_fill", {over, isNone, call.number(0)}), {-1});
}

Value averagesBack(WrittenCall &call, Value grad, int x, const WindowSides &sides) {
  const auto count = static_cast<int64_t>(sides.count());
  const WrittenCall::Sizes sizes = imageSizes(call, x);
  Value windows = grad;
  for (int64_t side = 0; side < count; ++side) {
    const auto at = static_cast<size_t>(side);
    windows = call.sized(windows, side - count, sides.windows(at, sizes[at]));
  }
  Value share = call.apply("div", {windows, windowDivisor(call, x, sides)});
  if (!share) {
    return std::nullopt;
  }
  for (int64_t side = 0; side < count; ++side) {
    share = windowsOver(call, share, sides, static_cast<size_t>(side),
                        sizes[static_cast<size_t>(side)]);
  }
  return share;
}

} // namespace

Value poolingGradient(WrittenCall &call) {
  const Value grad = call.image("grad_output"), x = call.image("self");
  if (!grad || !x || !call.expectFloats(*x)) {
    return std::nullopt;
  }
  if (call.name.starts_with("adaptive_max")) {
    return largestBack(call, grad, x);
  }
  if (call.name.starts_with("_adaptive_avg")) {
    const WrittenCall::Sizes from = imageSizes(call, *x), to = imageSizes(call, *grad);
    std::vector<Parts> parts;
    for (size_t side = 0; side < from.size(); ++side) {
      parts.emplace_back(from[side], to[side]);
    }
    return meanOfPartsBack(call, grad, parts);
  }
  const std::optional<WindowSides> sides = windowSides(call);
  if (!sides) {
    return std::nullopt;
  }
  return call.name.starts_with("max") ? largestBack(call, grad, x)
                                      : averagesBack(call, grad, *x, *sides);
}

/// Zeros but for the values, each at its place.
Value unpooled(WrittenCall &call) {
  const Value x = call.image("input"), places = x ? call.image("indices") : x;
  if (!places) {
    return std::nullopt;
  }
  const auto count = static_cast<int64_t>(call.sides());
  const auto sides = windowSides(call);
  const auto given = sides && !call.isNone("output_size") ? call.list("output_size")
                                                          : std::optional(WrittenCall::Sizes());
  if (!sides || !given) {
    return std::nullopt;
  }
  WrittenCall::Sizes sizes;
  for (size_t side = 0; side < sides->count(); ++side) {
    const SizePolynomial size = call.size(*x, static_cast<int64_t>(side) - count);
    sizes.push_back((size - 1) * sides->stride[side] + sides->kernel[side] -
                    2 * sides->padding[side]);
  }
  if (!given->empty()) {
    if (given->size() < sizes.size()) {
      return call.fail("E0608",
                       fmt::format("'output_size' of '{}' expects {} sizes or all of them, but got "
                                   "{}",
                                   call.name, count, given->size()),
                       "the sizes of the image that was pooled");
    }
    sizes.assign(given->end() - count, given->end());
  }
  SizePolynomial all = 1;
  for (const SizePolynomial &size : sizes) {
    call.expectNotNegative(size, fmt::format("'{}' expects a size of at least 0", call.name));
    all = all * size;
  }
  const Value values = call.flattened(x, -count, -1);
  const Value nothing = call.failed() ? std::nullopt : call.narrowed(values, -1, 0, 0);
  const Value zeros = call.padded(nothing, -1, 0, all);
  return call.reshaped(call.putAt(zeros, call.flattened(places, -count, -1), values), 1, sizes);
}

} // namespace nereid::definition
