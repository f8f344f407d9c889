// SPDX-License-Identifier: Apache-2.0
// Weights of neighbours: how far each one lies from a place is a quotient of integers, and what it
// counts follows from that.
#include "lib/definition/reader/windows/Ratio.h"

namespace nereid::definition {

Value cubicOf(WrittenCall &call, Value distance, Value isNext) {
  constexpr double a = -0.75;
  const auto horner = [&](std::initializer_list<double> factors) {
    Value sum;
    for (double factor : factors) {
      const Value next = call.number(factor);
      sum = sum ? call.apply("add", {call.apply("mul", {sum, distance}), next}) : next;
    }
    return sum;
  };
  return call.apply("where",
                    {isNext, horner({a + 2, -(a + 3), 0, 1}), horner({a, -5 * a, 8 * a, -4 * a})});
}

namespace {

/// What a neighbour at a distance of away / divisor counts in the cubic: 1 at 0, and 0 at all other
/// whole numbers, so exactly that its product with an infinity is known.
Value weightOf(WrittenCall &call, Value away, const SizePolynomial &divisor) {
  const Value by = call.sizeNumber(divisor);
  const Value distance = call.apply("div", {call.widened(away), by});
  const Value between = cubicOf(call, distance, call.apply("le", {away, by}));
  const Value isHere = call.apply("eq", {away, call.integerNumber(0)});
  const Value isWhole =
      call.apply("eq", {call.apply("remainder", {away, by}), call.integerNumber(0)});
  const Value whole = call.apply("where", {isHere, call.number(1), call.number(0)});
  return call.apply("where", {isWhole, whole, between});
}

/// [elements, places], with dimensions between them as a tensor has behind `dim`.
Value besides(WrittenCall &call, Value perPlace, int64_t dim) {
  for (int64_t behind = dim + 1; behind < 0; ++behind) {
    perPlace = call.unsqueezed(perPlace, -2);
  }
  return perPlace;
}

/// first + step · number
Value onLine(WrittenCall &call, Value number, const SizePolynomial &step,
             const SizePolynomial &first) {
  return call.apply("add",
                    {call.apply("mul", {number, call.sizeNumber(step)}), call.sizeNumber(first)});
}

/// How far the place, which is `rest` beyond a neighbour, is from the one `number` behind that.
Value awayFrom(WrittenCall &call, Value rest, Value number, const SizePolynomial &divisor) {
  return call.apply(
      "abs", {call.apply("sub", {rest, call.apply("mul", {number, call.sizeNumber(divisor)})})});
}

/// Of how many elements of the result one of the source may be among the `taps` neighbours, where
/// that does not grow with the sizes.
std::optional<SizePolynomial> mostBack(const Ratio &ratio, const Line &line, bool areCorners,
                                       int64_t taps) {
  const SizePolynomial reach = line.divisor * taps;
  const auto step = line.step.constant();
  if (step) {
    return *step > 0 ? std::optional((reach + (*step - 1)).floorDivide(*step)) : std::nullopt;
  }
  if (!areCorners) {
    return std::nullopt;
  }
  // (r n - 1) / (n - 1) is at most 2 r - 1 from n = 2 on, its inverse at most 1 / r.
  const auto larger = ratio.to.dividedBy(ratio.from), smaller = ratio.from.dividedBy(ratio.to);
  if (larger && larger->constant()) {
    return SizePolynomial(taps * (2 * *larger->constant() - 1));
  }
  return smaller && smaller->constant()
             ? std::optional((SizePolynomial(taps) + (*smaller->constant() - 1))
                                 .floorDivide(*smaller->constant()))
             : std::nullopt;
}

/// What an element of the source counts for one of the result, and whether it is a neighbour at
/// all: the product of 0 and an infinity is NaN.
struct Share {
  Value weight, isAny;
};

/// Of two neighbours: 1 where the place is the element's own, and less by 1 / divisor with each
/// step away from it. In front of the first element and behind the last one these count all. The
/// place is asked to lie in front of the next element; `isEither`: behind the one before, too,
/// which the first place of a window does already.
Share shareBetween(WrittenCall &call, Value own, Value place, const Ratio &ratio, const Line &line,
                   bool areCorners, bool isEither) {
  const Value here = call.apply("mul", {own, call.sizeNumber(line.divisor)});
  const Value apart = call.apply("sub", {here, place});
  Share share;
  share.isAny = call.apply("gt", {apart, call.sizeNumber(SizePolynomial(0) - line.divisor)});
  if (isEither) {
    share.isAny = call.apply(
        "logical_and", {share.isAny, call.apply("le", {apart, call.sizeNumber(line.divisor)})});
  }
  Value rest = apart;
  if (!areCorners) {
    const Value inside =
        call.apply("minimum", {call.apply("maximum", {place, call.integerNumber(0)}),
                               call.sizeNumber((ratio.from - 1) * line.divisor)});
    rest = call.apply("sub", {here, inside});
  }
  const Value distance =
      call.apply("div", {call.widened(call.apply("abs", {rest})), call.sizeNumber(line.divisor)});
  share.weight = call.apply("rsub", {distance, call.number(1)});
  return share;
}

/// Of several neighbours, each of which may be the element where it lies beyond an edge.
Share shareOfTaps(WrittenCall &call, Value own, Value place, const Ratio &ratio, const Line &line,
                  int64_t taps) {
  const Value low = call.apply("floor_divide", {place, call.sizeNumber(line.divisor)});
  const Value rest = call.apply("remainder", {place, call.sizeNumber(line.divisor)});
  Share all;
  for (int64_t number = 1 - taps / 2; number <= taps / 2; ++number) {
    const Value tap = call.integerNumber(number);
    const Value at = call.apply(
        "minimum", {call.apply("maximum", {call.apply("add", {low, tap}), call.integerNumber(0)}),
                    call.sizeNumber(ratio.from - 1)});
    const Value isOwn = call.apply("eq", {at, own});
    const Value weight = weightOf(call, awayFrom(call, rest, tap, line.divisor), line.divisor);
    const Value share = call.apply("where", {isOwn, weight, call.number(0)});
    all.weight = all.weight ? call.apply("add", {all.weight, share}) : share;
    all.isAny = all.isAny ? call.apply("logical_or", {all.isAny, isOwn}) : isOwn;
  }
  return all;
}

} // namespace

Value cubic(WrittenCall &call, Value x, const Ratio &ratio, bool areCorners) {
  constexpr int64_t taps = 4;
  const Line line(ratio, areCorners);
  const Value window = call.resampled(x, ratio.dim, ratio.to, line.start - line.divisor, line.step,
                                      line.divisor, SizePolynomial(taps));
  const Value place = onLine(call, call.positions(ratio.to), line.step, line.start);
  const Value rest =
      call.unsqueezed(call.apply("remainder", {place, call.sizeNumber(line.divisor)}), -1);
  const Value number = call.apply("sub", {call.positions(taps), call.integerNumber(1)});
  const Value weight = weightOf(call, awayFrom(call, rest, number, line.divisor), line.divisor);
  return call.reduced("sum", call.apply("mul", {window, besides(call, weight, ratio.dim)}), {-1});
}

/// Element h was among the neighbours of those from the first one at h - taps / 2 on, in front of
/// h + taps / 2; beyond an edge the last element stands for all. Where it is not known how many
/// they are it is asked of all.
Value neighboursBack(WrittenCall &call, Value grad, const Ratio &ratio, bool areCorners,
                     bool isCubic) {
  const int64_t taps = isCubic ? 4 : 2;
  const Line line(ratio, areCorners);
  SizePolynomial first = 0, step = 0, by = 1, most = ratio.to;
  const auto count = mostBack(ratio, line, areCorners, taps);
  if (count) {
    first = line.step - 1 - line.divisor * (taps / 2) - line.start;
    step = line.divisor;
    by = line.step;
    most = *count;
  }
  const Value window = call.resampled(grad, ratio.dim, ratio.from, first, step, by, most);
  const Value own = call.unsqueezed(call.positions(ratio.from), -1);
  const Value begin =
      call.apply("floor_divide", {onLine(call, own, step, first), call.sizeNumber(by)});
  const Value other = call.apply("add", {begin, call.positions(most)});
  const Value place = onLine(call, other, line.step, line.start);
  const Share share = isCubic ? shareOfTaps(call, own, place, ratio, line, taps)
                              : shareBetween(call, own, place, ratio, line, areCorners, !count);
  const Value isThere =
      call.apply("logical_and", {call.apply("ge", {other, call.integerNumber(0)}),
                                 call.apply("lt", {other, call.sizeNumber(ratio.to)})});
  const Value isOutside =
      call.apply("logical_not", {call.apply("logical_and", {share.isAny, isThere})});
  const Value part = call.apply(
      "masked_fill", {call.apply("mul", {window, besides(call, share.weight, ratio.dim)}),
                      besides(call, isOutside, ratio.dim), call.number(0)});
  return call.reduced("sum", part, {-1});
}

} // namespace nereid::definition
