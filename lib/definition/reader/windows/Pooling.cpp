// SPDX-License-Identifier: Apache-2.0
// Pooling: a reduction over the places of windows. NaN wins, and what lies in the padding never is
// the largest. Formulas are those that PyTorch documents.
#include "lib/definition/reader/windows/BodyWindows.h"

#include <fmt/format.h>

#include <limits>

namespace nereid::definition {
namespace {

constexpr double lowest = -std::numeric_limits<double>::infinity();

std::vector<int64_t> lastDims(size_t count) {
  std::vector<int64_t> dims;
  for (auto dim = -static_cast<int64_t>(count); dim < 0; ++dim) {
    dims.push_back(dim);
  }
  return dims;
}

/// How many elements of a window are counted along one side: those of the image, and with the
/// padding those up to its end, as ceil_mode may go beyond.
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

/// What sums of windows are divided by: one number, or one for each window.
Value divisorOf(WrittenCall &call, int x, const WindowSides &sides) {
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

bool expectsFloats(WrittenCall &call, int x) {
  if (!call.isAlwaysFloat(x)) {
    call.fail("E0608", fmt::format("'{}' expects floats", call.name),
              "an operator of integers has no mean: write x * 1.0 for floats");
    return false;
  }
  return true;
}

Value averaged(WrittenCall &call, int x, const WindowSides &sides) {
  const Value divisor = divisorOf(call, x, sides);
  const Value sum = call.reduced("sum", windowed(call, x, sides, 0), lastDims(sides.count()));
  return call.apply("div", {sum, divisor});
}

/// (Σ x^p)^(1/p), as PyTorch has it of the mean of x^p.
Value ofPowers(WrittenCall &call, int x, const WindowSides &sides) {
  const auto power = call.numbers("norm_type", 1);
  if (!power) {
    return std::nullopt;
  }
  int64_t places = 1;
  for (int64_t size : sides.kernel) {
    places *= size;
  }
  const Value exponent = call.number((*power)[0]);
  Value sum = call.reduced("sum", windowed(call, call.apply("pow", {x, exponent}), sides, 0),
                           lastDims(sides.count()));
  if (sides.isCeil) { // windows that lie beyond the end in part count as whole ones
    sum = call.apply("mul", {sum, call.integerNumber(places)});
    for (size_t side = 0; side < sides.count(); ++side) {
      const auto dim = static_cast<int64_t>(side) - static_cast<int64_t>(sides.count());
      sum = call.apply("div", {sum, countedAlong(call, sides, side, call.size(x, dim), true)});
    }
  }
  const Value positive = call.apply(
      "mul", {call.apply("sign", {sum}), call.apply("relu", {call.apply("abs", {sum})})});
  return call.apply("pow", {positive, call.number(1 / (*power)[0])});
}

/// Parts of equal size: one where the result has one place.
Value adaptive(WrittenCall &call, int x) {
  const size_t count = call.sides();
  std::optional<WrittenCall::Sizes> wanted = call.sizes("output_size", count, 1);
  if (!wanted) {
    return std::nullopt;
  }
  Value result = x;
  std::vector<int64_t> places;
  for (size_t side = 0; side < count && result; ++side) {
    // Places of the sides before stand behind the image already.
    const auto dim = static_cast<int64_t>(side) - static_cast<int64_t>(count + places.size());
    const SizePolynomial size = call.size(*result, dim);
    const std::optional<SizePolynomial> part = size.dividedBy((*wanted)[side]);
    if (!part) {
      return call.fail("E0604",
                       fmt::format("'{}' expects a size that its output's divides, but got {} and "
                                   "{}",
                                   call.name, size.text(), (*wanted)[side].text()),
                       "parts of several sizes are not available: give the image sizes that are "
                       "multiples, or 1 as output_size");
    }
    result = call.unflattened(result, dim, {(*wanted)[side], *part});
    const auto rank = result ? static_cast<int64_t>(call.rank(*result)) : 0;
    std::vector<int64_t> order; // the new dimension goes behind all
    for (int64_t each = 0; each < rank; ++each) {
      if (each != rank + dim) {
        order.push_back(each);
      }
    }
    order.push_back(rank + dim);
    result = call.permuted(result, order);
    places.insert(places.begin(), -static_cast<int64_t>(places.size()) - 1);
  }
  const bool isMax = call.name.starts_with("adaptive_max");
  return call.reduced(isMax ? "amax" : "mean", result, places);
}

} // namespace

Value pooled(WrittenCall &call, const std::string &kind) {
  const Value x = call.image(call.name.ends_with("_with_indices") ? "self" : "input");
  if (!x || (kind != "max" && !expectsFloats(call, *x))) {
    return std::nullopt;
  }
  if (kind == "adaptive") {
    return adaptive(call, *x);
  }
  const std::optional<WindowSides> sides = windowSides(call);
  if (!sides) {
    return std::nullopt;
  }
  if (kind == "max") {
    return call.reduced("amax", windowed(call, x, *sides, lowest), lastDims(sides->count()));
  }
  return kind == "avg" ? averaged(call, *x, *sides) : ofPowers(call, *x, *sides);
}

/// The first of equal elements, but the last NaN. In a window of nothing but -inf that reaches into
/// the padding it is the first element of the image: a place in front of it moves up by whole
/// steps.
std::vector<Value> pooledWithPlaces(WrittenCall &call) {
  const Value x = call.image(call.name.ends_with("_with_indices") ? "self" : "input");
  if (x && call.name.starts_with("adaptive")) {
    call.fail("E0608", fmt::format("'{}' without return_indices is available", call.name),
              "where the sizes divide, max_pool returns places as well");
    return {};
  }
  const std::optional<WindowSides> sides = x ? windowSides(call) : std::nullopt;
  if (!sides) {
    return {};
  }
  const auto count = static_cast<int64_t>(sides->count());
  const Value window = windowed(call, x, *sides, lowest);
  const Value values = call.reduced("amax", window, lastDims(sides->count()));
  const Value line = call.flattened(window, -count, -1);
  Value place = call.position("argmax", line, -1);
  int64_t places = 1;
  for (int64_t size : sides->kernel) {
    places *= size;
  }
  if (line && call.isAlwaysFloat(*line)) {
    const Value isNaN =
        call.apply("where", {call.apply("ne", {line, line}), call.number(1), call.number(0)});
    const Value last = call.apply("sub", {call.integerNumber(places - 1),
                                          call.position("argmax", call.flipped(isNaN, -1), -1)});
    place = call.apply("where", {call.apply("ne", {values, values}), last, place});
  }
  Value number;
  for (int64_t side = 0; side < count; ++side) {
    const auto at = static_cast<size_t>(side);
    int64_t behind = 1;
    for (size_t each = at + 1; each < sides->count(); ++each) {
      behind *= sides->kernel[each];
    }
    const SizePolynomial size = x ? call.size(*x, side - count) : SizePolynomial(0);
    Value step = call.apply("floor_divide", {place, call.integerNumber(behind)});
    step =
        side == 0 ? step : call.apply("remainder", {step, call.integerNumber(sides->kernel[at])});
    const Value first =
        call.along(call.apply("sub", {call.apply("mul", {call.positions(sides->windows(at, size)),
                                                         call.integerNumber(sides->stride[at])}),
                                      call.integerNumber(sides->padding[at])}),
                   side - count);
    Value index = call.apply(
        "add", {call.apply("mul", {step, call.integerNumber(sides->dilation[at])}), first});
    if (sides->padding[at] > 0) {
      index = call.apply("where",
                         {call.apply("lt", {index, call.integerNumber(0)}),
                          call.apply("remainder", {index, call.integerNumber(sides->dilation[at])}),
                          index});
    }
    number = side == 0
                 ? index
                 : call.apply("add", {call.apply("mul", {number, call.sizeNumber(size)}), index});
  }
  return {values, number};
}

/// The share of each element in what its windows hand back.
Value poolingGradient(WrittenCall &call, const std::string &kind) {
  const Value grad = call.image("grad_output"), x = call.image("self");
  const std::optional<WindowSides> sides = grad && x ? windowSides(call) : std::nullopt;
  if (!sides || !expectsFloats(call, *x)) {
    return std::nullopt;
  }
  const auto count = static_cast<int64_t>(sides->count());
  WrittenCall::Sizes sizes;
  for (int64_t side = 0; side < count; ++side) {
    sizes.push_back(call.size(*x, side - count));
  }
  if (kind == "max") { // several windows may have chosen one element
    const Value places = call.image("indices");
    const Value zeros = call.apply(
        "masked_fill",
        {x, call.apply("logical_or", {call.apply("eq", {x, x}), call.apply("ne", {x, x})}),
         call.number(0)});
    if (!places || !zeros) {
      return std::nullopt;
    }
    const Value sum =
        call.addedAt(call.flattened(zeros, -count, -1), call.flattened(places, -count, -1),
                     call.flattened(grad, -count, -1));
    return call.reshaped(sum, 1, sizes);
  }
  Value windows = grad;
  for (int64_t side = 0; side < count; ++side) {
    const auto at = static_cast<size_t>(side);
    windows = call.sized(windows, side - count, sides->windows(at, sizes[at]));
  }
  Value share = call.apply("div", {windows, divisorOf(call, *x, *sides)});
  if (!share) {
    return std::nullopt;
  }
  WrittenCall::Sizes wide;
  for (size_t dim = 0; dim < call.rank(*share); ++dim) {
    wide.push_back(call.size(*share, static_cast<int64_t>(dim)));
  }
  for (int64_t size : sides->kernel) {
    share = call.unsqueezed(share, -1);
    wide.emplace_back(size);
  }
  return spreadBack(call, call.expanded(share, wide), *sides, sizes);
}

} // namespace nereid::definition
