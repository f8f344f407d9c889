// SPDX-License-Identifier: Apache-2.0
// Other sizes: neighbours and weights as PyTorch documents them, places exact where PyTorch
// computes them in floats; and elements of channels that become pixels.
#include "lib/definition/reader/windows/BodyWindows.h"
#include "lib/definition/reader/windows/Parts.h"
#include "lib/definition/reader/windows/Ratio.h"

#include <fmt/format.h>

namespace nereid::definition {
namespace {

using Sizes = WrittenCall::Sizes;

Value nearest(WrittenCall &call, Value x, const Ratio &ratio, bool isExact) {
  if (isExact) { // the middle of a pixel
    return call.resampled(x, ratio.dim, ratio.to, ratio.numerator, ratio.numerator * 2,
                          ratio.denominator * 2);
  }
  const auto step = ratio.numerator.constant();
  if (step && ratio.denominator == SizePolynomial(1)) {
    return call.narrowed(x, ratio.dim, 0, ratio.to, *step);
  }
  if (ratio.numerator == SizePolynomial(1) && ratio.to == ratio.from * ratio.denominator) {
    return call.repeatedEach(x, ratio.dim, ratio.denominator);
  }
  return call.resampled(x, ratio.dim, ratio.to, 0, ratio.numerator, ratio.denominator);
}

/// Between two neighbours at (start + step · i) / divisor. In front of the first element the other
/// one is the second, as in PyTorch: what it is multiplied by is 0, which shows where it is
/// infinite.
Value linear(WrittenCall &call, Value x, const Ratio &ratio, bool areCorners) {
  const auto [start, step, divisor] = Line(ratio, areCorners);
  const Value low = call.resampled(x, ratio.dim, ratio.to, start, step, divisor);
  const Value high = call.resampled(x, ratio.dim, ratio.to, start + divisor, step, divisor,
                                    std::nullopt, areCorners ? 0 : 1);
  const Value place = call.apply(
      "maximum",
      {call.apply("add", {call.apply("mul", {call.positions(ratio.to), call.sizeNumber(step)}),
                          call.sizeNumber(start)}),
       call.integerNumber(0)});
  const Value rest = call.apply("remainder", {place, call.sizeNumber(divisor)});
  const Value share = call.apply(
      "div", {call.inTypeOf(low, call.along(rest, ratio.dim)), call.sizeNumber(divisor)});
  return call.apply("add", {call.apply("mul", {low, call.apply("rsub", {share, call.number(1)})}),
                            call.apply("mul", {high, share})});
}

/// "linear" with the name of the image's dimensions.
const char *linearName(size_t sides) {
  return sides == 1 ? "linear" : sides == 2 ? "bilinear" : "trilinear";
}

Value resizedTo(WrittenCall &call, Value x, const std::vector<Ratio> &ratios,
                const std::string &mode, bool areCorners) {
  for (auto ratio = ratios.rbegin(); ratio != ratios.rend() && x; ++ratio) {
    if (ratio->isSame()) {
      continue;
    }
    x = mode == "linear"  ? linear(call, x, *ratio, areCorners)
        : mode == "cubic" ? cubic(call, x, *ratio, areCorners)
                          : nearest(call, x, *ratio, mode == "nearest-exact");
  }
  return x;
}

} // namespace

Value resized(WrittenCall &call) {
  const bool isAten = call.name != "interpolate";
  const Value x = call.operand(isAten ? "self" : "input");
  if (!x) {
    return std::nullopt;
  }
  const size_t sides = isAten ? call.sides() : call.rank(*x) - std::min<size_t>(2, call.rank(*x));
  const bool isOpen = call.isOpen(*x);
  if (isOpen || sides < 1 || sides > 3 || call.rank(*x) != sides + 2) {
    return call.fail("E0604", fmt::format("'{}' expects 3 to 5 dimensions", call.name),
                     "batch, channels, then the sizes of an image");
  }
  std::string mode = "nearest";
  for (const char *other : {"linear", "cubic"}) {
    mode = isAten && call.name.find(other) != std::string::npos ? other : mode;
  }
  bool areCorners = false;
  if (!isAten) {
    const auto word = call.word("mode");
    const auto antialias = call.flag("antialias");
    if (!word || !antialias) {
      return std::nullopt;
    }
    const bool isCubic = *word == "bicubic" && sides == 2;
    const bool isKnown = *word == "nearest" || *word == "nearest-exact" || *word == "area" ||
                         *word == linearName(sides) || isCubic;
    if (!isKnown || *antialias) {
      return call.fail("E0608",
                       fmt::format("'interpolate' of {} sides has the modes \"nearest\", "
                                   "\"nearest-exact\", \"area\"{} and \"{}\", without antialias, "
                                   "but got \"{}\"{}",
                                   sides, sides == 2 ? ", \"bicubic\"" : "", linearName(sides),
                                   *word, *antialias ? " with antialias" : ""),
                       "leave antialias out, and take the mode that has the image's sides");
    }
    mode = *word == linearName(sides) ? "linear" : isCubic ? "cubic" : *word;
  }
  if (mode == "linear" || mode == "cubic" || mode == "area") {
    if (!call.isAlwaysFloat(*x)) {
      return call.fail("E0608", fmt::format("'{}' expects floats", call.name), "write x * 1.0");
    }
  }
  if (mode == "linear" || mode == "cubic") {
    const auto corners = call.flag("align_corners");
    if (!corners) {
      return std::nullopt;
    }
    areCorners = *corners;
  } else if (!isAten && !call.isNone("align_corners")) {
    return call.fail("E0608", fmt::format("'align_corners' is of no use to mode=\"{}\"", mode),
                     "leave it out");
  }
  const auto ratios = ratiosOf(call, *x, sides, isAten ? "output_size" : "size", areCorners);
  if (!ratios) {
    return std::nullopt;
  }
  if (mode == "area") {
    std::vector<Parts> parts;
    for (const Ratio &ratio : *ratios) {
      parts.emplace_back(ratio.from, ratio.to);
    }
    return meanOfParts(call, *x, parts);
  }
  const Value result = resizedTo(call, x, *ratios, mode, areCorners);
  return mode == "cubic" ? call.castTo(result, *x) : result;
}

Value shuffled(WrittenCall &call) {
  const Value x = call.operand("input");
  const bool isGroups = call.name == "channel_shuffle", isUp = call.name == "pixel_shuffle";
  const auto by = call.integer(isGroups ? "groups"
                               : isUp   ? "upscale_factor"
                                        : "downscale_factor",
                               1);
  if (!x || !by) {
    return std::nullopt;
  }
  const auto rank = static_cast<int64_t>(call.rank(*x));
  if (call.isOpen(*x) || rank < 3) {
    return call.fail("E0604", fmt::format("'{}' expects 3 dimensions at least", call.name),
                     "channels, height and width are the last ones");
  }
  auto divided = [&](const SizePolynomial &size, int64_t number) -> std::optional<SizePolynomial> {
    auto part = size.dividedBy(number);
    if (!part) {
      call.fail("E0604",
                fmt::format("'{}' expects a size that {} divides, but got {}", call.name, number,
                            size.text()),
                "give it as a number, or two dimensions for it");
    }
    return part;
  };
  std::vector<int64_t> order;
  if (isGroups) {
    const auto part = divided(call.size(*x, 1), *by);
    const Value apart = part ? call.unflattened(x, 1 - rank, {*by, *part}) : std::nullopt;
    for (int64_t dim = 0; dim <= rank; ++dim) {
      order.push_back(dim == 1 ? 2 : dim == 2 ? 1 : dim);
    }
    return call.flattened(call.permuted(apart, order), -rank, 1 - rank);
  }
  for (int64_t dim = 0; dim < rank - 3; ++dim) {
    order.push_back(dim);
  }
  if (isUp) { // C·r·r, H, W to C, H, r, W, r
    const auto part = divided(call.size(*x, -3), *by * *by);
    const Value apart = part ? call.unflattened(x, -3, {*part, *by, *by}) : std::nullopt;
    for (int64_t dim : {0, 3, 1, 4, 2}) {
      order.push_back(rank - 3 + dim);
    }
    return call.flattened(call.flattened(call.permuted(apart, order), -2, -1), -3, -2);
  }
  const auto height = divided(call.size(*x, -2), *by), width = divided(call.size(*x, -1), *by);
  Value apart = height && width ? call.unflattened(x, -1, {*width, *by}) : std::nullopt;
  apart = height ? call.unflattened(apart, -3, {*height, *by}) : apart;
  for (int64_t dim : {0, 2, 4, 1, 3}) { // C, H, r, W, r to C, r, r, H, W
    order.push_back(rank - 3 + dim);
  }
  return call.flattened(call.permuted(apart, order), -5, -3);
}

/// The points that a matrix makes of those of an image, from -1 to 1.
Value affineGrid(WrittenCall &call) {
  const Value theta = call.operand("theta");
  const auto size = theta ? call.list("size") : std::nullopt;
  const auto areCorners = call.flag("align_corners");
  if (!size || !areCorners) {
    return std::nullopt;
  }
  const size_t sides = size->size() - std::min<size_t>(2, size->size());
  if ((sides != 2 && sides != 3) || call.rank(*theta) != 3 ||
      call.size(*theta, 1) != SizePolynomial(static_cast<int64_t>(sides)) ||
      call.size(*theta, 2) != SizePolynomial(static_cast<int64_t>(sides) + 1)) {
    return call.fail("E0604",
                     "'affine_grid' expects theta of [N, 2, 3] and a size of 4, or [N, 3, 4] and 5",
                     "size is that of an image: (N, C, H, W)");
  }
  const auto column = [&](int64_t number) {
    Value part = call.narrowed(theta, -1, number, 1);
    for (size_t side = 1; side < sides; ++side) { // [N, 1.., sides]
      part = call.unsqueezed(part, 1);
    }
    part = call.permuted(part, sides == 2 ? std::vector<int64_t>{0, 1, 3, 2}
                                          : std::vector<int64_t>{0, 1, 2, 4, 3});
    return part;
  };
  Value result;
  for (size_t side = 0; side < sides; ++side) { // x is the last dimension
    const auto dim = -static_cast<int64_t>(side) - 1;
    const SizePolynomial length = *(size->end() + dim);
    const SizePolynomial steps = *areCorners ? length - 1 : length;
    // (2 i + 1 - n) / n, and (2 i + 1 - n) / (n - 1) where corners are the ends.
    Value place =
        call.apply("add", {call.apply("mul", {call.positions(length), call.integerNumber(2)}),
                           call.sizeNumber(SizePolynomial(1) - length)});
    const Value row = column(static_cast<int64_t>(side));
    place = call.inTypeOf(row, call.along(place, dim - 1));
    if (steps == SizePolynomial(0)) {
      place = call.apply("mul", {place, call.number(0)});
    } else {
      call.expectNotNegative(steps - 1, "'affine_grid' expects an image");
      place = call.apply("div", {place, call.sizeNumber(steps)});
    }
    const Value part = call.apply("mul", {row, place});
    result = side == 0 ? part : call.apply("add", {result, part});
  }
  return call.apply("add", {result, column(static_cast<int64_t>(sides))});
}

} // namespace nereid::definition
