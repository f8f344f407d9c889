// SPDX-License-Identifier: Apache-2.0
// Algebra of symbolic shapes: PyTorch's broadcasting and reductions where dimensions are names.
// "..." may only lead; two shapes broadcast when every aligned pair is equal or one of them is 1.
#pragma once

#include "lib/definition/Graph.h"

#include <optional>
#include <span>

namespace nereid::definition {

/// Reads dimensions as a definition writes them: "...", "D", "128" or integers; error text else.
std::variant<SymbolicShape, std::string> parseShape(const std::vector<std::string> &entries);
/// The same where dimensions may be computed of sizes: "N - 1", "(N + 1) // 2".
std::variant<SymbolicShape, std::string>
parseComputedShape(const std::vector<std::string> &entries);

/// Shape of a pointwise result, or nothing when the two do not broadcast for every binding.
std::optional<SymbolicShape> broadcast(const SymbolicShape &a, const SymbolicShape &b);

/// Makes dimensions negative and ascending; error text when one is out of range, repeated, or
/// counted from the front of a shape that begins with "...".
std::variant<std::vector<int64_t>, std::string> normaliseDims(const SymbolicShape &shape,
                                                              std::vector<int64_t> dims);

/// Shape after reducing `dims` (as normaliseDims makes them; empty = all); error text when keepdim
/// is asked of "..." itself.
std::variant<SymbolicShape, std::string> reduce(const SymbolicShape &shape,
                                                std::span<const int64_t> dims, bool keepdim);

/// Shape of PyTorch's matmul: [..., M, K] by [..., K, N] with broadcast leading dimensions; a
/// vector on either side lends its one dimension to the contraction. Error text otherwise.
std::variant<SymbolicShape, std::string> multiply(const SymbolicShape &a, const SymbolicShape &b);

/// Concrete broadcasting; nothing when the sizes disagree.
std::optional<std::vector<int64_t>> broadcastSizes(std::span<const int64_t> a,
                                                   std::span<const int64_t> b);
/// Row-major steps of a tensor of the sizes `from` walked in the shape `to`; 0 where it is
/// broadcast.
std::vector<int64_t> broadcastSteps(std::span<const int64_t> from, std::span<const int64_t> to);
/// Product; nothing when it exceeds 2^62.
std::optional<int64_t> elementCountOf(std::span<const int64_t> sizes);
/// "[8, 1024, 1024]".
std::string sizesText(std::span<const int64_t> sizes);

} // namespace nereid::definition
