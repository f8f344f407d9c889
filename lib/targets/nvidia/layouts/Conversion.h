// SPDX-License-Identifier: Apache-2.0
// Which way a tile takes from one layout to another, for those who write the code of it and those
// who explain it.
#pragma once

#include "lib/layout/LinearLayout.h"

#include "lib/targets/nvidia/ir/Nvidia.h"

#include <cstdint>
#include <vector>

namespace nereid::nvidia {

struct Conversion {
  enum class Way {
    Registers, ///< each thread has what it needs, in other registers
    Fragment,  ///< vectors into shared memory, `ldmatrix` out of it
    Vectors,   ///< vectors into shared memory and out of it, without conflicts of banks
    Elements,  ///< element by element through shared memory
  };
  Way way = Way::Elements;
  std::vector<size_t> registers; ///< of Registers: where each register of the result comes from
  int64_t fastest = 1;    ///< of Fragment, Vectors: the dimension that shared memory runs along
  int64_t vector = 1;     ///< of Fragment, Vectors: registers that are stored at a time
  int64_t readVector = 1; ///< of Vectors: registers that are loaded at a time
  int64_t parts = 1;      ///< of Elements: that are staged one after the other
};

/// How many registers from a multiple on are neighbours along a dimension of a matrix; 8 at most.
int64_t neighboursAlong(const layout::LinearLayout &layout, int64_t dim);

/// `mostStaged`: bytes of shared memory that it may take.
Conversion conversionOf(mlir::Type element, const layout::LinearLayout &from,
                        const layout::LinearLayout &to, int64_t mostStaged);
/// That of an operation in its place.
Conversion conversionOf(ConvertLayoutOp op);

} // namespace nereid::nvidia
