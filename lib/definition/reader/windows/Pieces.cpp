// SPDX-License-Identifier: Apache-2.0
// Paddings of edges and their gradients, and the gradients of slices: parts of a tensor that are
// added to where they came from.
#include "lib/definition/reader/windows/BodyWindows.h"

#include <fmt/format.h>

namespace nereid::definition {
namespace {

using Sizes = WrittenCall::Sizes;

/// What lies in front of the ends and behind, per dimension from the last one.
std::optional<Sizes> paddings(WrittenCall &call) {
  return call.sizes("padding", 2 * call.sides(), 0);
}

/// Elements that repeat an edge are few, as a rule: their sum is written out, so that whatever
/// needs it can compute it.
Value summedUp(WrittenCall &call, Value part, int64_t dim, const SizePolynomial &count) {
  constexpr int64_t few = 8;
  const auto number = count.constant();
  if (!number || *number > few) {
    return call.reduced("sum", part, {dim}, true);
  }
  Value sum;
  for (int64_t place = 0; place < *number; ++place) {
    const Value one = call.narrowed(part, dim, place, 1);
    sum = place == 0 ? one : call.apply("add", {sum, one});
  }
  return sum;
}

/// Elements beyond an edge go back to the ones they repeat.
Value edgesBack(WrittenCall &call, Value grad, int64_t dim, const SizePolynomial &size,
                const SizePolynomial &before, const SizePolynomial &after, bool isReflected) {
  const SizePolynomial none = 0;
  Value sum = call.narrowed(grad, dim, before, size);
  auto add = [&](Value part, const SizePolynomial &front, const SizePolynomial &behind) {
    sum = call.apply("add", {sum, call.padded(part, dim, front, behind)});
  };
  if (before != none) {
    const Value part = call.narrowed(grad, dim, 0, before);
    if (isReflected) {
      add(call.flipped(part, dim), 1, size - 1 - before);
    } else {
      add(summedUp(call, part, dim, before), 0, size - 1);
    }
  }
  if (after != none) {
    const Value part = call.narrowed(grad, dim, before + size, after);
    if (isReflected) {
      add(call.flipped(part, dim), size - 1 - after, 1);
    } else {
      add(summedUp(call, part, dim, after), size - 1, 0);
    }
  }
  return sum;
}

/// Input sizes, one dimension of them and whether the gradient fits.
Value pieceAt(WrittenCall &call, const Sizes &sizes, int64_t dim, Value grad) {
  const auto rank = static_cast<int64_t>(sizes.size());
  const bool isSelect = call.name == "select_backward";
  const auto own = static_cast<int64_t>(call.rank(*grad));
  const int64_t at = dim < 0 ? dim + rank : dim;
  if (at < 0 || at >= rank || own != rank - (isSelect ? 1 : 0)) {
    return call.fail("E0604",
                     fmt::format("'{}' expects a dimension of its input, and a gradient of {} "
                                 "dimensions, but got {}",
                                 call.name, rank - (isSelect ? 1 : 0), own),
                     "input_sizes lists all sizes of what the piece was taken of");
  }
  if (isSelect) {
    grad = call.unsqueezed(grad, at);
  }
  for (int64_t each = 0; each < rank && grad; ++each) {
    if (each != at && call.size(*grad, each) != sizes[static_cast<size_t>(each)]) {
      return call.fail(
          "E0604",
          fmt::format("'{}' expects a gradient of the input's sizes but in dim={}", call.name, dim),
          "input_sizes lists all sizes of what the piece was taken of");
    }
  }
  return grad;
}

} // namespace

Value paddedEdges(WrittenCall &call) {
  const bool isReflected = call.name.starts_with("reflection");
  const bool isBackward = call.name.ends_with("_backward");
  const Value x = call.image("self");
  const auto pads = x ? paddings(call) : std::nullopt;
  Value result = isBackward && pads ? call.image("grad_output") : x;
  for (size_t side = 0; pads && side < call.sides() && result; ++side) {
    const auto dim = -static_cast<int64_t>(side) - 1;
    const SizePolynomial &before = (*pads)[2 * side], &after = (*pads)[2 * side + 1];
    if (!isBackward) {
      result = call.padded(result, dim, before, after, 0, isReflected ? "reflect" : "replicate");
      continue;
    }
    const SizePolynomial size = call.size(*x, dim);
    result = call.sized(result, dim, size + before + after);
    result = edgesBack(call, result, dim, size, before, after, isReflected);
  }
  return pads ? result : std::nullopt;
}

Value pieceGradient(WrittenCall &call) {
  Value grad = call.operand("grad_output");
  const auto sizes = grad ? call.list("input_sizes") : std::nullopt;
  const auto dim = call.integer("dim", INT64_MIN);
  if (!sizes || !dim) {
    return std::nullopt;
  }
  grad = pieceAt(call, *sizes, *dim, grad);
  if (!grad) {
    return std::nullopt;
  }
  const auto rank = static_cast<int64_t>(sizes->size());
  const int64_t at = *dim < 0 ? *dim : *dim - rank;
  const SizePolynomial size = *(sizes->end() + at);
  auto place = [&](const char *argument) -> std::optional<SizePolynomial> {
    const auto value = call.sizes(argument, 1);
    const bool isFromEnd = value && (*value)[0].constant().value_or(0) < 0;
    return value ? std::optional(isFromEnd ? (*value)[0] + size : (*value)[0]) : std::nullopt;
  };
  if (call.name == "select_backward") {
    const auto index = place("index");
    if (!index) {
      return std::nullopt;
    }
    call.expectNotNegative(*index, "'select_backward' expects an index of its dimension");
    call.expectNotNegative(size - *index - 1,
                           "'select_backward' expects an index of its dimension");
    return call.failed() ? std::nullopt : call.padded(grad, at, *index, size - *index - 1);
  }
  const auto start = place("start");
  const auto step = call.integer("step", 1);
  auto end = place("end");
  if (!start || !step || !end) {
    return std::nullopt;
  }
  if (size.constant() && end->constant()) { // what lies behind is cut off, as in Python
    end = std::min(*end->constant(), *size.constant());
  } else if (end->constant().value_or(0) == INT64_MAX) {
    end = size;
  }
  const SizePolynomial length = (*end - *start + (*step - 1)).floorDivide(*step);
  grad = call.sized(grad, at, length);
  call.expectNotNegative(*start, "'slice_backward' expects to begin in its dimension");
  call.expectNotNegative(size - *end, "'slice_backward' expects to end in its dimension");
  if (call.failed()) {
    return std::nullopt;
  }
  if (*step == 1) {
    return call.padded(grad, at, *start, size - *end);
  }
  const Value apart = call.unsqueezed(grad, -1);
  return call.squeezed(call.spread(apart, at - 1, size, *step, 1, *start * -1), -1);
}

} // namespace nereid::definition
