// SPDX-License-Identifier: Apache-2.0
// Gradients of other sizes: what each pixel gets back from those that it became, or that it was a
// neighbour of.
#include "lib/definition/reader/windows/BodyWindows.h"
#include "lib/definition/reader/windows/Ratio.h"

#include <fmt/format.h>

namespace nereid::definition {
namespace {

/// So many are read one by one.
constexpr int64_t fewPixels = 8;

/// Of nearest neighbours.
Value nearestBack(WrittenCall &call, Value grad, const Ratio &ratio) {
  const bool areAsMany = ratio.numerator == SizePolynomial(1); // each became
  const auto each = ratio.denominator.constant();
  if (areAsMany && each && *each <= fewPixels) {
    return call.reduced(
        "sum",
        call.resampled(grad, ratio.dim, ratio.from, 0, ratio.denominator, 1, ratio.denominator),
        {-1});
  }
  if (areAsMany) {
    const Value groups = call.unflattened(grad, ratio.dim, {ratio.from, ratio.denominator});
    return call.reduced("sum", groups, {ratio.dim});
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
    const Value from = call.resampled(grad, ratio.dim, ratio.from, start, *by, *step);
    const Value own = call.positions(ratio.from);
    const Value other = call.apply(
        "floor_divide", {call.apply("add", {call.apply("mul", {own, call.integerNumber(*by)}),
                                            call.sizeNumber(start)}),
                         call.integerNumber(*step)});
    const Value back =
        call.apply("floor_divide", {call.apply("mul", {other, call.integerNumber(*step)}),
                                    call.integerNumber(*by)});
    const Value isOther = call.along(call.apply("ne", {back, own}), ratio.dim);
    const Value part = call.apply("masked_fill", {from, isOther, call.number(0)});
    sum = place == 0 ? part : call.apply("add", {sum, part});
  }
  return sum;
}

} // namespace

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
  const bool isLinear = call.name.find("linear") != std::string::npos;
  const bool isCubic = call.name.find("cubic") != std::string::npos;
  const auto areCorners = isLinear || isCubic ? call.flag("align_corners") : std::optional(false);
  if (!areCorners) {
    return std::nullopt;
  }
  Value result = grad;
  for (auto dim = -static_cast<int64_t>(call.sides()); dim < 0; ++dim) {
    Ratio ratio;
    ratio.dim = dim;
    ratio.from = *(image->end() + dim);
    ratio.to = *((*output).end() + dim);
    setRatio(ratio);
    result = call.sized(result, dim, ratio.to);
    if (ratio.from == ratio.to) {
      continue;
    }
    result = isLinear || isCubic ? neighboursBack(call, result, ratio, *areCorners, isCubic)
                                 : nearestBack(call, result, ratio);
  }
  return isLinear || isCubic ? call.castTo(result, *grad) : result;
}

} // namespace nereid::definition
