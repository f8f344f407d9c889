// SPDX-License-Identifier: Apache-2.0
// Pooling: a reduction over the places of windows. NaN wins, and what lies in the padding never is
// the largest. Formulas are those that PyTorch documents.
#include "lib/definition/reader/windows/BodyWindows.h"
#include "lib/definition/reader/windows/Parts.h"

#include <fmt/format.h>

#include <algorithm>
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

Value averaged(WrittenCall &call, int x, const WindowSides &sides) {
  const Value divisor = windowDivisor(call, x, sides);
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

/// The sizes of the image and of what is made of it; in parts of several lengths -inf stands behind
/// the shorter ones.
std::optional<std::vector<Parts>> partsOf(WrittenCall &call, int x) {
  const auto wanted = call.sizes("output_size", call.sides(), 1);
  std::vector<Parts> sides;
  for (size_t side = 0; wanted && side < wanted->size(); ++side) {
    const auto dim = static_cast<int64_t>(side) - static_cast<int64_t>(wanted->size());
    sides.emplace_back(call.size(x, dim), (*wanted)[side]);
  }
  const bool areEqual =
      std::all_of(sides.begin(), sides.end(), [](const Parts &parts) { return parts.areEqual; });
  return wanted && (areEqual || call.expectFloats(x)) ? std::optional(sides) : std::nullopt;
}

Value adaptive(WrittenCall &call, int x) {
  const auto sides = partsOf(call, x);
  if (!sides) {
    return std::nullopt;
  }
  return call.name.starts_with("adaptive_max")
             ? call.reduced("amax", inParts(call, x, *sides, lowest), lastDims(sides->size()))
             : meanOfParts(call, x, *sides);
}

} // namespace

Value pooled(WrittenCall &call, const std::string &kind) {
  const Value x = call.image(call.name.ends_with("_with_indices") ? "self" : "input");
  const bool isMax = kind == "max" || call.name.starts_with("adaptive_max");
  if (!x || (!isMax && !call.expectFloats(*x))) {
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

namespace {

/// Places of a window along one side: where they begin in the image, and how far they are apart.
struct PlacesAlong {
  SizePolynomial count;
  Value first;
  int64_t dilation = 1, padding = 0;
};

/// The place in its window of the largest element, of all places one after another: the first of
/// equal elements, but the last NaN.
Value largestPlace(WrittenCall &call, Value values, Value line, const SizePolynomial &places) {
  const Value place = call.position("argmax", line, -1);
  if (!line || !call.isAlwaysFloat(*line)) {
    return place;
  }
  const Value isNaN =
      call.apply("where", {call.apply("ne", {line, line}), call.number(1), call.number(0)});
  const Value last = call.apply(
      "sub", {call.sizeNumber(places - 1), call.position("argmax", call.flipped(isNaN, -1), -1)});
  return call.apply("where", {call.apply("ne", {values, values}), last, place});
}

/// Windows of so few places are walked through one by one.
constexpr int64_t fewPlaces = 32;

/// Of windows of few places: what is larger than all before it is the largest, and each NaN.
Value largestOfFew(WrittenCall &call, int x, Value window, const std::vector<PlacesAlong> &sides,
                   int64_t places) {
  const auto count = static_cast<int64_t>(sides.size());
  const Value line = call.flattened(window, -count, -1);
  Value most, number;
  for (int64_t place = 0; place < places && line; ++place) {
    Value here;
    int64_t behind = places, rest = place;
    for (int64_t at = 0; at < count; ++at) {
      const PlacesAlong &side = sides[static_cast<size_t>(at)];
      behind /= *side.count.constant();
      Value index = call.apply("add", {call.along(side.first, at - count),
                                       call.integerNumber(rest / behind * side.dilation)});
      rest %= behind;
      if (place == 0 && side.padding > 0) {
        index = call.apply(
            "where", {call.apply("lt", {index, call.integerNumber(0)}),
                      call.apply("remainder", {index, call.integerNumber(side.dilation)}), index});
      }
      const Value size = call.sizeNumber(call.size(x, at - count));
      here = at == 0 ? index : call.apply("add", {call.apply("mul", {here, size}), index});
    }
    const Value value = call.squeezed(call.narrowed(line, -1, place, 1), -1);
    if (place == 0) {
      most = value;
      number = here;
      continue;
    }
    Value isLarger = call.apply("gt", {value, most});
    if (value && call.isAlwaysFloat(*value)) {
      isLarger = call.apply("logical_or", {isLarger, call.apply("ne", {value, value})});
    }
    most = place + 1 < places ? call.apply("where", {isLarger, value, most}) : most;
    number = call.apply("where", {isLarger, here, number});
  }
  return number;
}

/// Values of windows and where they are in the image. In a window of nothing but -inf that reaches
/// into the padding it is the first element of the image: a place in front of it moves up by whole
/// steps.
std::vector<Value> largestWithPlaces(WrittenCall &call, int x, Value window,
                                     const std::vector<PlacesAlong> &sides) {
  const auto count = static_cast<int64_t>(sides.size());
  const Value values = call.reduced("amax", window, lastDims(sides.size()));
  SizePolynomial all = 1;
  for (const PlacesAlong &side : sides) {
    all = all * side.count;
  }
  if (const auto few = all.constant(); few && *few <= fewPlaces) {
    return {values, largestOfFew(call, x, window, sides, *few)};
  }
  std::vector<SizePolynomial> behind(sides.size(), 1); // places of the sides behind each one
  for (size_t at = sides.size() - 1; at > 0; --at) {
    behind[at - 1] = behind[at] * sides[at].count;
  }
  const Value place =
      largestPlace(call, values, call.flattened(window, -count, -1), behind[0] * sides[0].count);
  Value number;
  for (int64_t at = 0; at < count; ++at) {
    const PlacesAlong &side = sides[static_cast<size_t>(at)];
    Value step =
        call.apply("floor_divide", {place, call.sizeNumber(behind[static_cast<size_t>(at)])});
    step = at == 0 ? step : call.apply("remainder", {step, call.sizeNumber(side.count)});
    Value index = call.apply("add", {call.apply("mul", {step, call.integerNumber(side.dilation)}),
                                     call.along(side.first, at - count)});
    if (side.padding > 0) {
      index = call.apply(
          "where", {call.apply("lt", {index, call.integerNumber(0)}),
                    call.apply("remainder", {index, call.integerNumber(side.dilation)}), index});
    }
    const Value size = call.sizeNumber(call.size(x, at - count));
    number = at == 0 ? index : call.apply("add", {call.apply("mul", {number, size}), index});
  }
  return {values, number};
}

} // namespace

std::vector<Value> pooledWithPlaces(WrittenCall &call) {
  const Value x = call.image(call.name.ends_with("_with_indices") ? "self" : "input");
  std::vector<PlacesAlong> places;
  if (x && call.name.starts_with("adaptive")) {
    const auto sides = partsOf(call, *x);
    for (size_t side = 0; sides && side < sides->size(); ++side) {
      places.push_back({(*sides)[side].most, (*sides)[side].begin(call)});
    }
    return sides ? largestWithPlaces(call, *x, inParts(call, x, *sides, lowest), places)
                 : std::vector<Value>();
  }
  const std::optional<WindowSides> sides = x ? windowSides(call) : std::nullopt;
  if (!sides) {
    return {};
  }
  const auto count = static_cast<int64_t>(sides->count());
  for (int64_t side = 0; side < count; ++side) {
    const auto at = static_cast<size_t>(side);
    const SizePolynomial windows = sides->windows(at, call.size(*x, side - count));
    const Value first = call.apply(
        "sub", {call.apply("mul", {call.positions(windows), call.integerNumber(sides->stride[at])}),
                call.integerNumber(sides->padding[at])});
    places.push_back({sides->kernel[at], first, sides->dilation[at], sides->padding[at]});
  }
  return largestWithPlaces(call, *x, windowed(call, x, *sides, lowest), places);
}

} // namespace nereid::definition
