// SPDX-License-Identifier: Apache-2.0
// A tensor in pieces along a dimension: split, chunk, unbind. Each piece is a narrow. How many
// there are is known when the definition is read.
#include "lib/definition/reader/written/Written.h"

#include <fmt/format.h>

#include <algorithm>

namespace nereid::definition {
namespace {

using Sizes = WrittenCall::Sizes;

/// More are no pieces of a body.
constexpr int64_t mostPieces = 1024;

std::nullopt_t tooMany(WrittenCall &call, int64_t count) {
  return call.fail(
      "E0608",
      fmt::format("'{}' expects from 1 to {} pieces, but got {}", call.name, mostPieces, count),
      "each piece is an operation of the body");
}

/// Pieces of `length`, and what is left.
std::optional<Sizes> equalPieces(WrittenCall &call, const SizePolynomial &whole,
                                 const SizePolynomial &length) {
  std::optional<int64_t> count;
  if (whole.constant() && length.constant() && *length.constant() > 0) {
    const int64_t size = *length.constant();
    count = std::max<int64_t>(1, *whole.constant() / size + (*whole.constant() % size != 0));
  } else if (const auto exact = whole.dividedBy(length)) {
    count = exact->constant();
  }
  if (!count) {
    return call.fail("E0604",
                     fmt::format("'{}' expects a size that says how many pieces there are, but got "
                                 "{} of {}",
                                 call.name, length.text(), whole.text()),
                     "list the sizes: x.split([M, N - M])");
  }
  if (*count < 1 || *count > mostPieces) {
    return tooMany(call, *count);
  }
  Sizes sizes(static_cast<size_t>(*count), length);
  sizes.back() = whole - length * (*count - 1);
  return sizes;
}

/// As many of equal size as `count` says, the last one smaller where they do not divide.
std::optional<Sizes> chunks(WrittenCall &call, const SizePolynomial &whole) {
  const auto count = call.integer("chunks", 1);
  if (!count) {
    return std::nullopt;
  }
  if (*count > mostPieces) {
    return tooMany(call, *count);
  }
  const SizePolynomial length = (whole + (*count - 1)).floorDivide(*count);
  if (whole.constant()) { // of few elements there are fewer
    return equalPieces(call, whole, std::max<int64_t>(1, *length.constant()));
  }
  Sizes sizes(static_cast<size_t>(*count), length);
  sizes.back() = whole - length * (*count - 1);
  if (sizes.back() != length) { // else PyTorch returns fewer
    call.expectNotNegative(sizes.back() - 1, "'chunk' expects an element in its last piece");
  }
  return call.failed() ? std::nullopt : std::optional(sizes);
}

std::optional<Sizes> pieceSizes(WrittenCall &call, const SizePolynomial &whole) {
  if (call.name.ends_with("chunk")) {
    return chunks(call, whole);
  }
  if (call.name == "unbind") {
    return equalPieces(call, whole, 1);
  }
  const char *argument = call.name == "split"          ? "split_size_or_sections"
                         : call.name == "unsafe_split" ? "split_size"
                                                       : "split_sizes";
  const auto sizes = call.list(argument);
  if (!sizes) {
    return std::nullopt;
  }
  if (!call.isList(argument)) {
    return equalPieces(call, whole, sizes->front());
  }
  if (sizes->empty() || sizes->size() > mostPieces) {
    return tooMany(call, static_cast<int64_t>(sizes->size()));
  }
  SizePolynomial sum = 0;
  for (const SizePolynomial &size : *sizes) {
    sum = sum + size;
  }
  if (const SizePolynomial rest = whole - sum; rest != SizePolynomial(0)) {
    if (rest.constant()) {
      return call.fail("E0604",
                       fmt::format("'{}' expects sizes whose sum is {}, but got {}", call.name,
                                   whole.text(), sum.text()),
                       "they are the sizes of all pieces");
    }
    call.expectNotNegative(rest, fmt::format("'{}' expects sizes of all pieces", call.name));
    call.expectNotNegative(rest * -1, fmt::format("'{}' expects sizes of all pieces", call.name));
  }
  return call.failed() ? std::nullopt : sizes;
}

} // namespace

bool returnsPieces(const std::string &name) {
  return name == "unbind" || name.ends_with("chunk") || name.ends_with("split") ||
         name.ends_with("split_with_sizes");
}

std::vector<Value> pieces(WrittenCall &call) {
  const Value x = call.operand("tensor");
  const auto dim = x ? call.dimension("dim", *x) : std::nullopt;
  const auto sizes = dim ? pieceSizes(call, call.size(*x, *dim)) : std::nullopt;
  if (!sizes) {
    return {std::nullopt};
  }
  std::vector<Value> results;
  SizePolynomial start = 0;
  for (const SizePolynomial &size : *sizes) {
    const Value piece = call.narrowed(x, *dim, start, size);
    const bool isDropped = call.name == "unbind";
    results.push_back(isDropped ? call.squeezed(piece, *dim) : piece == x ? call.copied(x) : piece);
    start = start + size;
  }
  return results;
}

} // namespace nereid::definition
