// SPDX-License-Identifier: Apache-2.0
// Norms of images with channels as their second dimension: by given statistics, or by those of a
// batch, of an image, of a group of channels or of neighbouring channels.
#include "lib/definition/reader/windows/BodyWindows.h"

#include <fmt/format.h>

namespace nereid::definition {
namespace {

using Sizes = WrittenCall::Sizes;

/// All but the first two, or all but the channels.
std::vector<int64_t> spatial(int64_t rank, bool takesBatch) {
  std::vector<int64_t> dims;
  for (int64_t dim = -rank; dim < 0; ++dim) {
    if (dim >= 2 - rank || (takesBatch && dim == -rank)) {
      dims.push_back(dim);
    }
  }
  return dims;
}

Value centred(WrittenCall &call, Value x, Value mean, Value variance) {
  const Value root = call.apply("rsqrt", {call.apply("add", {variance, call.operand("eps")})});
  return call.apply("mul", {call.apply("sub", {x, mean}), root});
}

Value scaled(WrittenCall &call, Value x, int64_t rank) {
  if (!call.isNone("weight")) {
    x = call.apply("mul", {x, call.along(call.operand("weight"), 1 - rank)});
  }
  if (!call.isNone("bias")) {
    x = call.apply("add", {x, call.along(call.operand("bias"), 1 - rank)});
  }
  return x;
}

/// Squares of neighbouring channels, of which the middle one is the channel itself.
Value ofNeighbours(WrittenCall &call, int x) {
  const auto size = call.integer("size", 1);
  const Value alpha = call.operand("alpha"), beta = call.operand("beta"), k = call.operand("k");
  if (!size || !alpha || !beta || !k) {
    return std::nullopt;
  }
  const auto rank = static_cast<int64_t>(call.rank(x));
  Value squares = call.padded(call.apply("mul", {x, x}), 1 - rank, *size / 2, (*size - 1) / 2);
  squares = call.reduced("mean", call.windows(squares, 1 - rank, *size, 1, 1), {-1});
  const Value sum = call.apply("add", {call.apply("mul", {squares, alpha}), k});
  return call.apply("div", {x, call.apply("pow", {sum, beta})});
}

} // namespace

Value channelNorm(WrittenCall &call) {
  const Value x = call.operand("input");
  if (!x) {
    return std::nullopt;
  }
  const auto rank = static_cast<int64_t>(call.rank(*x));
  const bool isBatch = call.name == "batch_norm";
  if (call.isOpen(*x) || rank < (isBatch || call.name == "group_norm" ? 2 : 3)) {
    return call.fail("E0604",
                     fmt::format("'{}' expects channels as second dimension of a known "
                                 "rank",
                                 call.name),
                     "batch, channels, then the sizes of an image");
  }
  if (!call.isAlwaysFloat(*x)) {
    return call.fail("E0608", fmt::format("'{}' expects floats", call.name), "write x * 1.0");
  }
  if (call.name == "local_response_norm") {
    return ofNeighbours(call, *x);
  }
  if (call.name == "group_norm") {
    const auto groups = call.integer("num_groups", 1);
    const auto part = groups ? call.size(*x, 1).dividedBy(*groups) : std::nullopt;
    if (!part) {
      return groups ? Value(call.fail("E0604",
                                      fmt::format("'group_norm' expects channels that {} divides, "
                                                  "but got {}",
                                                  *groups, call.size(*x, 1).text()),
                                      "give their number as a number"))
                    : std::nullopt;
    }
    // One line for each group.
    Sizes image = {call.size(*x, 1)};
    for (int64_t dim = 2; dim < rank; ++dim) {
      image.push_back(call.size(*x, dim));
    }
    Value lines = call.flattened(call.unflattened(x, 1 - rank, {*groups, *part}), 1 - rank, -1);
    lines =
        centred(call, lines, call.reduced("mean", lines, {-1}, true), call.variance(lines, {-1}));
    return scaled(call, call.reshaped(lines, 2, image), rank);
  }
  const auto isOfInput = call.flag(isBatch ? "training" : "use_input_stats");
  if (!isOfInput) {
    return std::nullopt;
  }
  if (*isOfInput) {
    const std::vector<int64_t> dims = spatial(rank, isBatch);
    return scaled(
        call, centred(call, x, call.reduced("mean", x, dims, true), call.variance(x, dims)), rank);
  }
  if (call.isNone("running_mean") || call.isNone("running_var")) {
    return call.fail("E0608", fmt::format("'{}' expects running_mean and running_var", call.name),
                     "or takes the statistics of its input");
  }
  return scaled(call,
                centred(call, x, call.along(call.operand("running_mean"), 1 - rank),
                        call.along(call.operand("running_var"), 1 - rank)),
                rank);
}

} // namespace nereid::definition
