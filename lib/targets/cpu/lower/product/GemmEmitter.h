// SPDX-License-Identifier: Apache-2.0
// The code of a matrix product's loop, once it is known what is multiplied and which operands must
// be computed into scratch.
#pragma once

#include "lib/targets/cpu/lower/product/GemmOperands.h"

#include <functional>

namespace nereid::cpu {

/// An operand in scratch; no buffers = it is always read in place.
struct GemmCopy {
  /// Computes the operand's tile of iteration t into its buffer.
  std::function<void(mlir::OpBuilder &, mlir::Value t)> compute;
  int tile = -1;   ///< one iteration, row-major
  int joined = -1; ///< all iterations of a block; may be the tile itself
};

struct GemmCopies {
  GemmCopy a, b;
};

struct GemmSums {
  int buffer = -1;
  bool startAtZero = false; ///< else from what is in the buffer
};

/// True when the loop makes the store that takes the sums as well.
bool emitGemm(KernelState &kernel, mlir::scf::ForOp loop, const GemmLoop &gemm,
              const GemmShape &shape, Scope &scope, const GemmCopies &copies, const GemmSums &sums);

} // namespace nereid::cpu
