// SPDX-License-Identifier: Apache-2.0
// What PyTorch answers with another view of the same memory, or with a copy that computes nothing.
// An operator has results of its own, so that each of them is a copy where it is a result.
#include "lib/definition/reader/written/Written.h"

#include <fmt/format.h>

namespace nereid::definition {
namespace {

using Sizes = WrittenCall::Sizes;

Sizes sizesOf(const SymbolicShape &shape) {
  Sizes sizes;
  for (const Dim &dim : shape) {
    sizes.push_back(SizePolynomial::of(dim));
  }
  return sizes;
}

/// The number of each element in memory, counted from the first one that is read.
Value placesOf(WrittenCall &call, const Sizes &sizes, const Sizes &strides,
               const SizePolynomial &first) {
  const auto rank = static_cast<int64_t>(sizes.size());
  Value place = call.sizeNumber(first);
  for (int64_t d = 0; d < rank; ++d) {
    const auto at = static_cast<size_t>(d);
    const Value steps =
        call.apply("mul", {call.positions(sizes[at]), call.sizeNumber(strides[at])});
    place = call.apply("add", {call.along(steps, d - rank), place});
  }
  return place;
}

} // namespace

Value copy(WrittenCall &call) {
  if (call.name == "_to_copy") {
    return call.converted(call.operand("self"), "dtype");
  }
  return call.copied(call.operand("input"));
}

Value shapedLike(WrittenCall &call) {
  const Value x = call.operand("input");
  const Value other = x ? call.operand("other") : std::nullopt;
  if (!other) {
    return std::nullopt;
  }
  if (call.isOpen(*x) || call.isOpen(*other)) {
    return call.fail("E0604",
                     fmt::format("'{}' expects known ranks, but got the shapes {} and {}",
                                 call.name, text(call.shape(*x)), text(call.shape(*other))),
                     "give every dimension a name or a size");
  }
  const Sizes sizes = sizesOf(call.shape(*other));
  const Value result =
      call.name == "expand_as" ? call.expanded(x, sizes) : call.reshaped(x, call.rank(*x), sizes);
  return result == x ? call.copied(x) : result;
}

Value strided(WrittenCall &call) {
  const Value x = call.operand("input");
  const auto sizes = x ? call.list("size") : std::nullopt;
  const auto strides = sizes ? call.list("stride") : std::nullopt;
  const auto first = strides ? call.sizes("storage_offset", 1, 0) : std::nullopt;
  if (!first) {
    return std::nullopt;
  }
  if (call.isOpen(*x) || call.rank(*x) == 0) {
    return call.fail(
        "E0604",
        fmt::format("'as_strided' expects a tensor of known rank, but got the shape {}",
                    text(call.shape(*x))),
        "give every dimension a name or a size");
  }
  if (sizes->size() != strides->size()) {
    return call.fail("E0608",
                     fmt::format("'as_strided' expects a stride for each size, but got {} sizes "
                                 "and {} strides",
                                 sizes->size(), strides->size()),
                     "its form is x.as_strided((M, N), (N, 1))");
  }
  SizePolynomial last = first->front();
  for (size_t d = 0; d < sizes->size(); ++d) {
    call.expectNotNegative((*sizes)[d], "'as_strided' expects sizes of at least 0");
    call.expectNotNegative((*strides)[d], "'as_strided' expects strides of at least 0");
    last = last + ((*sizes)[d] - 1) * (*strides)[d];
  }
  SizePolynomial count = 1;
  for (const SizePolynomial &size : sizesOf(call.shape(*x))) {
    count = count * size;
  }
  call.expectNotNegative(count - last - 1, "'as_strided' expects to read inside of its tensor");
  call.expectContiguous(*x);
  if (call.failed()) {
    return std::nullopt;
  }
  const Value flat = call.flattened(x, -static_cast<int64_t>(call.rank(*x)), -1);
  if (sizes->empty()) {
    return call.squeezed(call.narrowed(flat, -1, first->front(), 1), -1);
  }
  return call.writtenOut(
      "out = flat[place]",
      {{"flat", flat}, {"place", placesOf(call, *sizes, *strides, first->front())}});
}

} // namespace nereid::definition
