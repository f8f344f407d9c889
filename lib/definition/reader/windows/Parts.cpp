// SPDX-License-Identifier: Apache-2.0
#include "lib/definition/reader/windows/Parts.h"

#include <algorithm>
#include <numeric>

namespace nereid::definition {
namespace {

/// i * from // to, with the first i.
Value quotient(WrittenCall &call, Value number, const SizePolynomial &from,
               const SizePolynomial &more, const SizePolynomial &to) {
  const Value sum = call.apply(
      "add", {call.apply("mul", {number, call.sizeNumber(from)}), call.sizeNumber(more)});
  return call.apply("floor_divide", {sum, call.sizeNumber(to)});
}

std::vector<int64_t> lastDims(size_t count) {
  std::vector<int64_t> dims;
  for (auto dim = -static_cast<int64_t>(count); dim < 0; ++dim) {
    dims.push_back(dim);
  }
  return dims;
}

/// Elements of the part of each place of the result, all sides together.
Value countOf(WrittenCall &call, const std::vector<Parts> &sides) {
  Value product = call.integerNumber(1);
  for (size_t side = 0; side < sides.size(); ++side) {
    const auto dim = static_cast<int64_t>(side) - static_cast<int64_t>(sides.size());
    const Value count = sides[side].areEqual ? call.sizeNumber(sides[side].most)
                                             : call.along(sides[side].count(call), dim);
    product = call.apply("mul", {count, product});
  }
  return product;
}

/// Nothing but another shape.
Value inEqualParts(WrittenCall &call, Value x, const std::vector<Parts> &sides) {
  const size_t count = sides.size();
  for (size_t side = 0; side < count && x; ++side) {
    const auto dim = -static_cast<int64_t>(count); // the places of the sides before stand behind
    x = call.unflattened(x, dim, {sides[side].to, sides[side].most});
    const auto rank = x ? static_cast<int64_t>(call.rank(*x)) : 0;
    std::vector<int64_t> order;
    for (int64_t each = 0; each < rank; ++each) {
      if (each != rank + dim) {
        order.push_back(each);
      }
    }
    order.push_back(rank + dim);
    x = call.permuted(x, order);
  }
  return x;
}

constexpr int64_t mostCounted = 1 << 16;

/// Of numbers.
int64_t longestPart(int64_t from, int64_t to) {
  int64_t longest = 0;
  for (int64_t part = 0; part < to / std::gcd(from, to); ++part) { // then they come again
    const int64_t end = ((part + 1) * from + to - 1) / to;
    longest = std::max(longest, end - part * from / to);
  }
  return longest;
}

} // namespace

Parts::Parts(SizePolynomial from, SizePolynomial to)
    : from(std::move(from)), to(std::move(to)), most(this->from) {
  const auto parts = this->to.constant(), elements = this->from.constant();
  if (const auto length = this->from.dividedBy(this->to)) {
    most = *length;
    areEqual = true;
  } else if (this->to.dividedBy(this->from)) { // each element becomes several
    most = 1;
  } else if (parts && elements && *elements > 0 && std::max(*parts, *elements) <= mostCounted) {
    most = longestPart(*elements, *parts);
  } else if (parts) { // a part may begin and end in the middle of an element
    most = (this->from + (*parts - 2)).floorDivide(*parts) + 1;
  }
}

Value Parts::begin(WrittenCall &call) const {
  return quotient(call, call.positions(to), from, 0, to);
}

Value Parts::count(WrittenCall &call) const {
  return call.apply("sub",
                    {quotient(call, call.positions(to), from, from + to - 1, to), begin(call)});
}

Value inParts(WrittenCall &call, Value x, const std::vector<Parts> &sides, double fill) {
  const size_t count = sides.size();
  if (std::all_of(sides.begin(), sides.end(), [](const Parts &parts) { return parts.areEqual; })) {
    return inEqualParts(call, x, sides);
  }
  Value isOutside;
  for (size_t side = 0; side < count; ++side) { // each one adds a dimension behind
    const Parts &parts = sides[side];
    const auto dim = -static_cast<int64_t>(count);
    x = parts.areEqual ? call.resampled(x, dim, parts.to, 0, parts.most, 1, parts.most)
                       : call.resampled(x, dim, parts.to, 0, parts.from, parts.to, parts.most);
    if (parts.areEqual) {
      continue;
    }
    Value isBehind =
        call.apply("ge", {call.positions(parts.most), call.unsqueezed(parts.count(call), -1)});
    for (size_t between = 1; between < count; ++between) {
      isBehind = call.unsqueezed(isBehind, -2);
    }
    for (size_t behind = side + 1; behind < count; ++behind) {
      isBehind = call.unsqueezed(isBehind, -1);
    }
    isOutside = isOutside ? call.apply("logical_or", {isOutside, isBehind}) : isBehind;
  }
  return isOutside ? call.apply("masked_fill", {x, isOutside, call.number(fill)}) : x;
}

Value meanOfParts(WrittenCall &call, Value x, const std::vector<Parts> &sides) {
  const Value sum = call.reduced("sum", inParts(call, x, sides, 0), lastDims(sides.size()));
  return call.apply("div", {sum, countOf(call, sides)});
}

/// The parts that have element h lie as the elements of part h do, the other way round.
Value meanOfPartsBack(WrittenCall &call, Value grad, const std::vector<Parts> &sides) {
  std::vector<Parts> back;
  for (const Parts &parts : sides) {
    back.emplace_back(parts.to, parts.from);
  }
  const Value share = call.apply("div", {grad, countOf(call, sides)});
  return call.reduced("sum", inParts(call, share, back, 0), lastDims(sides.size()));
}

} // namespace nereid::definition
