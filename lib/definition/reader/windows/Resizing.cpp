// SPDX-License-Identifier: Apache-2.0
// Other sizes: neighbours and weights as PyTorch documents them, places exact where PyTorch
// computes them in floats; and elements of channels that become pixels.
#include "lib/definition/reader/windows/BodyWindows.h"

#include <fmt/format.h>

#include <cmath>
#include <numeric>

namespace nereid::definition {
namespace {

using Sizes = WrittenCall::Sizes;

/// One dimension: a step of the result is numerator / denominator of a step of the source.
struct Ratio {
  int64_t dim = -1;
  SizePolynomial from, to, numerator = 1, denominator = 1;
};

struct Fraction {
  int64_t numerator, denominator;
};

/// With a denominator of at most 64.
std::optional<Fraction> fractionOf(double value) {
  constexpr int64_t most = 64;
  constexpr double largest = 1 << 20, slack = 1e-9;
  for (int64_t by = 1; by <= most && value > 0 && value < largest; ++by) {
    const double product = value * static_cast<double>(by);
    if (std::abs(product - std::round(product)) < slack) {
      return Fraction{static_cast<int64_t>(std::llround(product)), by};
    }
  }
  return std::nullopt;
}

/// Of two sizes, without what they have in common.
void setRatio(Ratio &ratio) {
  const auto from = ratio.from.constant(), to = ratio.to.constant();
  if (from && to && *from > 0 && *to > 0) {
    const int64_t common = std::gcd(*from, *to);
    ratio.numerator = *from / common;
    ratio.denominator = *to / common;
  } else if (const auto by = ratio.to.dividedBy(ratio.from)) {
    ratio.denominator = *by;
  } else if (const auto step = ratio.from.dividedBy(ratio.to)) {
    ratio.numerator = *step;
  } else {
    ratio.numerator = ratio.from;
    ratio.denominator = ratio.to;
  }
}

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

/// Between two neighbours at (start + step · i) / divisor.
Value linear(WrittenCall &call, Value x, const Ratio &ratio, bool areCorners) {
  SizePolynomial start = 0, step = ratio.from - 1, divisor = ratio.to - 1;
  if (!areCorners) {
    start = ratio.numerator - ratio.denominator;
    step = ratio.numerator * 2;
    divisor = ratio.denominator * 2;
  } else if (ratio.to == SizePolynomial(1)) {
    step = 0;
    divisor = 1;
  }
  const Value low = call.resampled(x, ratio.dim, ratio.to, start, step, divisor);
  const Value high = call.resampled(x, ratio.dim, ratio.to, start + divisor, step, divisor);
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

/// The sizes of the result, from its sizes or from factors.
std::optional<std::vector<Ratio>> ratiosOf(WrittenCall &call, int x, size_t sides,
                                           const char *sizeName, bool areCorners) {
  std::vector<Ratio> ratios(sides);
  const bool isSized = !call.isNone(sizeName);
  const auto sizes = isSized ? call.sizes(sizeName, sides, 1) : Sizes(sides, SizePolynomial(1));
  std::vector<double> factors;
  if (!isSized) {
    const auto given = call.numbers("scale_factor", sides);
    factors = given ? *given : factors;
  }
  if (!sizes || (!isSized && factors.empty())) {
    return std::nullopt;
  }
  for (size_t side = 0; side < sides; ++side) {
    Ratio &ratio = ratios[side];
    ratio.dim = static_cast<int64_t>(side) - static_cast<int64_t>(sides);
    ratio.from = call.size(x, ratio.dim);
    if (isSized) {
      ratio.to = (*sizes)[side];
      setRatio(ratio);
      continue;
    }
    const auto factor = fractionOf(factors[side]);
    if (!factor) {
      return call.fail("E0608",
                       fmt::format("'scale_factor' of '{}' expects numbers above 0 that are "
                                   "fractions of at most 64 parts, but got {}",
                                   call.name, factors[side]),
                       "give the result's sizes as size=");
    }
    ratio.to = (ratio.from * factor->numerator).floorDivide(factor->denominator);
    ratio.numerator = factor->denominator;
    ratio.denominator = factor->numerator;
    if (areCorners || call.flag("recompute_scale_factor").value_or(false)) {
      setRatio(ratio);
    }
  }
  return ratios;
}

/// "linear" with the name of the image's dimensions.
const char *linearName(size_t sides) {
  return sides == 1 ? "linear" : sides == 2 ? "bilinear" : "trilinear";
}

std::vector<int64_t> sidesOf(size_t sides) {
  std::vector<int64_t> dims;
  for (auto dim = -static_cast<int64_t>(sides); dim < 0; ++dim) {
    dims.push_back(dim);
  }
  return dims;
}

Value resizedTo(WrittenCall &call, Value x, const std::vector<Ratio> &ratios,
                const std::string &mode, bool areCorners) {
  for (auto ratio = ratios.rbegin(); ratio != ratios.rend() && x; ++ratio) {
    if (ratio->from == ratio->to && ratio->numerator == ratio->denominator) {
      continue;
    }
    x = mode == "linear" ? linear(call, x, *ratio, areCorners)
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
  std::string mode = isAten && call.name.find("linear") != std::string::npos ? "linear" : "nearest";
  bool areCorners = false;
  if (!isAten) {
    const auto word = call.word("mode");
    const auto antialias = call.flag("antialias");
    if (!word || !antialias) {
      return std::nullopt;
    }
    const bool isKnown = *word == "nearest" || *word == "nearest-exact" || *word == "area" ||
                         *word == linearName(sides);
    if (!isKnown || *antialias) {
      return call.fail("E0608",
                       fmt::format("'interpolate' of {} sides has the modes \"nearest\", "
                                   "\"nearest-exact\", \"area\" and \"{}\", without antialias, but "
                                   "got \"{}\"",
                                   sides, linearName(sides), *word),
                       "bicubic is not available");
    }
    mode = *word == linearName(sides) ? "linear" : *word;
  }
  if (mode == "linear") {
    const auto corners = call.flag("align_corners");
    areCorners = corners.value_or(false);
    if (!corners || !call.isAlwaysFloat(*x)) {
      return corners ? Value(call.fail("E0608", fmt::format("'{}' expects floats", call.name),
                                       "write x * 1.0"))
                     : std::nullopt;
    }
  } else if (!isAten && !call.isNone("align_corners")) {
    return call.fail("E0608", fmt::format("'align_corners' is of no use to mode=\"{}\"", mode),
                     "leave it out");
  }
  const auto ratios = ratiosOf(call, *x, sides, isAten ? "output_size" : "size", areCorners);
  if (!ratios) {
    return std::nullopt;
  }
  if (mode != "area") {
    return resizedTo(call, x, *ratios, mode, areCorners);
  }
  Value result = x; // the mean of each part, of one size
  for (const Ratio &ratio : *ratios) {
    const auto part = ratio.from.dividedBy(ratio.to);
    if (!part) {
      return call.fail("E0604", "'interpolate' of mode=\"area\" expects sizes that divide",
                       "give the image sizes that are multiples of the result's");
    }
    result = call.unflattened(result, ratio.dim, {ratio.to, *part});
    result = call.reduced("mean", result, {ratio.dim});
  }
  return result;
}

/// Of nearest neighbours: each pixel gets the sum of those that it became.
Value resizedGradient(WrittenCall &call) {
  const Value grad = call.image("grad_output");
  const auto image = grad ? call.list("input_size") : std::nullopt;
  const auto output = grad ? call.sizes("output_size", call.sides(), 1) : std::nullopt;
  if (!image || !output) {
    return std::nullopt;
  }
  if (image->size() != call.sides() + 2) {
    return call.fail(
        "E0604", fmt::format("'{}' expects an input_size of {} sizes", call.name, call.sides() + 2),
        "batch, channels, then the sizes of the image");
  }
  Value result = grad;
  for (int64_t dim : sidesOf(call.sides())) {
    Ratio ratio;
    ratio.dim = dim;
    ratio.from = *(image->end() + dim);
    ratio.to = *((*output).end() + dim);
    setRatio(ratio);
    result = call.sized(result, dim, ratio.to);
    if (ratio.from == ratio.to) {
      continue;
    }
    if (ratio.numerator == SizePolynomial(1)) { // each became as many
      result = call.unflattened(result, dim, {ratio.from, ratio.denominator});
      result = call.reduced("sum", result, {dim});
      continue;
    }
    const auto step = ratio.numerator.constant(), by = ratio.denominator.constant();
    if (!step || !by) {
      return call.fail(
          "E0604",
          fmt::format("'{}' expects sizes as numbers, or multiples of each other", call.name),
          "how many pixels one became is not known");
    }
    // Pixel h became those from ceil(h · by / step) on, while (o · step) // by is h.
    Value sum;
    for (int64_t place = 0; place < (*by + *step - 1) / *step; ++place) {
      const SizePolynomial start = *step - 1 + place * *step;
      const Value from = call.resampled(result, dim, ratio.from, start, *by, *step);
      const Value own = call.positions(ratio.from);
      const Value other = call.apply(
          "floor_divide", {call.apply("add", {call.apply("mul", {own, call.integerNumber(*by)}),
                                              call.sizeNumber(start)}),
                           call.integerNumber(*step)});
      const Value back =
          call.apply("floor_divide", {call.apply("mul", {other, call.integerNumber(*step)}),
                                      call.integerNumber(*by)});
      const Value isOther = call.along(call.apply("ne", {back, own}), dim);
      const Value part = call.apply("masked_fill", {from, isOther, call.number(0)});
      sum = place == 0 ? part : call.apply("add", {sum, part});
    }
    result = sum;
  }
  return result;
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
