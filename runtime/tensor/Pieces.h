// SPDX-License-Identifier: Apache-2.0
// The memory of a tensor's elements without what lies between them, for copies that must leave the
// rest alone. Private to the runtime.
#pragma once

#include "runtime/tensor/Tensor.h"

#include <cstdint>
#include <vector>

namespace nereid::runtime {

/// Bytes side by side.
struct Piece {
  uint64_t offset = 0; ///< from the beginning of the tensor's extent
  uint64_t bytes = 0;
};

/// All elements of a tensor whose extent fits the address space, by rising offsets, as few pieces
/// as its dimensions allow. Elements that share memory may be in several of them.
std::vector<Piece> piecesOf(const Tensor &tensor);

} // namespace nereid::runtime
