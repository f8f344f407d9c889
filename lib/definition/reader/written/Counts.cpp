// SPDX-License-Identifier: Apache-2.0
// Results whose size PyTorch finds in the values, in the form in which the call says it: bincount
// with minlength, histc, nonzero_static.
#include "lib/definition/reader/written/Written.h"

#include "lib/definition/operations/Promotion.h"

#include <fmt/format.h>

namespace nereid::definition {
namespace {

using Sizes = WrittenCall::Sizes;

std::optional<SizePolynomial> neededSize(WrittenCall &call, const std::string &argument) {
  const auto size = call.sizes(argument, 1, 0);
  if (size && call.isNone(argument)) {
    return call.fail(
        "E0608",
        fmt::format("'{}' expects '{}': a size does not follow from values", call.name, argument),
        "a size is an integer, or made of the sizes of tensors and size inputs");
  }
  if (size) {
    call.expectNotNegative(size->front(),
                           fmt::format("'{}' expects a size of at least 0", call.name));
  }
  return size && !call.failed() ? std::optional(size->front()) : std::nullopt;
}

/// In row-major order.
Value flat(WrittenCall &call, Value x) {
  if (!x) {
    return x;
  }
  if (call.isNumber(*x) || call.isOpen(*x) || call.rank(*x) == 0) {
    return call.fail("E0604",
                     fmt::format("'{}' expects a tensor of known rank, but got the shape {}",
                                 call.name, text(call.shape(*x))),
                     "give every dimension a name or a size");
  }
  return call.flattened(x, -static_cast<int64_t>(call.rank(*x)), -1);
}

} // namespace

Value binCounts(WrittenCall &call) {
  const Value x = call.operand("input");
  const auto size = x ? neededSize(call, "minlength") : std::nullopt;
  const bool hasWeights = !call.isNone("weights");
  const Value weights = size && hasWeights ? call.operand("weights") : std::nullopt;
  if (!size || (hasWeights && !weights)) {
    return std::nullopt;
  }
  if (call.rank(*x) != 1 || call.isOpen(*x) || !call.isAlwaysInteger(*x)) {
    return call.fail("E0608",
                     fmt::format("'bincount' expects a vector of integers, but got the shape {}",
                                 text(call.shape(*x))),
                     "[inputs.x] dtype = \"int64\", range = [0, \"N\"]");
  }
  if (weights && (call.shape(*weights) != call.shape(*x) || !call.isAlwaysFloat(*weights))) {
    return call.fail("E0604",
                     fmt::format("'weights' of 'bincount' expects a float for each of {}, but got "
                                 "{}",
                                 text(call.shape(*x)), text(call.shape(*weights))),
                     "convert integers: weights.double()");
  }
  const SymbolicShape bins = {size->dim()};
  const Value none = call.filled(bins, 0, "int64");
  const Value each = weights ? weights : call.filled(call.shape(*x), 1, "int64");
  const Value start =
      weights ? call.writtenOut("out = none.to(each.dtype)", {{"none", none}, {"each", each}})
              : none;
  return call.addedAt(start, call.apply("to_int64", {x}), each);
}

Value histogram(WrittenCall &call) {
  const Value x = flat(call, call.operand("input"));
  const auto bins = x ? call.sizes("bins", 1, 1) : std::nullopt;
  const auto low = bins ? call.numbers("min", 1) : std::nullopt;
  const auto high = low ? call.numbers("max", 1) : std::nullopt;
  if (!high) {
    return std::nullopt;
  }
  if (!call.isAlwaysFloat(*x) || !(low->front() < high->front())) {
    return call.fail("E0608",
                     fmt::format("'histc' expects floats and min < max, but got {} and {}",
                                 low->front(), high->front()),
                     "write torch.histc(x, bins=64, min=-4, max=4); ends that follow from the data "
                     "are x.amin() and x.amax() in a body of its own");
  }
  call.expectNotNegative(bins->front() - 1, "'histc' expects a bin");
  if (call.failed()) {
    return std::nullopt;
  }
  const Value places =
      call.writtenOut("is_inside = (x >= low) & (x <= high)\n"
                      "place = torch.where(is_inside, (x - low) * bins / (high - low), 0)\n"
                      "out = torch.minimum(place.to(torch.int64), bins - 1)",
                      {{"x", x},
                       {"low", call.number(low->front())},
                       {"high", call.number(high->front())},
                       {"bins", call.sizeNumber(bins->front())}});
  const Value each = call.writtenOut(
      "out = ((x >= low) & (x <= high)).to(x.dtype)",
      {{"x", x}, {"low", call.number(low->front())}, {"high", call.number(high->front())}});
  const Value none =
      call.writtenOut("out = none.to(x.dtype)",
                      {{"x", x}, {"none", call.filled({bins->front().dim()}, 0, "int64")}});
  return call.addedAt(none, places, each);
}

/// The number of each element that is not 0 goes to the place that the ones before it leave, all
/// others to places of their own behind the end, where nothing is read.
Value nonzeroPlaces(WrittenCall &call) {
  const Value x = call.operand("input");
  const Value all = flat(call, x);
  const auto size = all ? neededSize(call, "size") : std::nullopt;
  const auto fill = size ? call.integer("fill_value", INT64_MIN) : std::nullopt;
  if (!fill) {
    return std::nullopt;
  }
  const SymbolicShape room = {(*size + call.size(*all, -1)).dim()};
  const Value found = call.writtenOut("is_there = x != 0\n"
                                      "place = torch.cumsum(is_there.to(torch.int64), dim=-1) - 1\n"
                                      "is_kept = is_there & (place < size)\n"
                                      "slot = torch.where(is_kept, place, size + numbers)\n"
                                      "out = torch.scatter(none, -1, slot, numbers)",
                                      {{"x", all},
                                       {"size", call.sizeNumber(*size)},
                                       {"none", call.filled(room, -1, "int64")},
                                       {"numbers", call.positions(call.size(*all, -1))}});
  const Value number = call.narrowed(found, -1, 0, *size);
  std::vector<Value> coordinates;
  SizePolynomial behind = 1;
  for (auto dim = static_cast<int64_t>(call.rank(*x)); number && dim-- > 0;) {
    const SizePolynomial own = call.size(*x, dim);
    std::string coordinate = behind == SizePolynomial(1) ? "number" : "number // behind";
    coordinate = dim == 0 ? coordinate : "(" + coordinate + ") % own";
    const Value one = call.writtenOut("out = torch.where(number < 0, fill, " + coordinate + ")",
                                      {{"number", number},
                                       {"fill", call.integerNumber(*fill)},
                                       {"behind", call.sizeNumber(behind)},
                                       {"own", call.sizeNumber(own)}});
    coordinates.insert(coordinates.begin(), call.unsqueezed(one, -1));
    behind = behind * own;
  }
  return coordinates.size() == 1 ? coordinates.front() : call.joined(coordinates, -1);
}

} // namespace nereid::definition
