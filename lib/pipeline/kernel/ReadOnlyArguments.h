// SPDX-License-Identifier: Apache-2.0
// Which tensors a kernel only reads, so that a C header can say const; see MemoryAccesses.h.
#pragma once

namespace mlir {
class Operation;
}

namespace nereid::pipeline {

/// Sets `nereid.read_only` on the kernel function: the numbers of the pointer arguments that no
/// store and no atomic operation can reach.
void noteReadOnlyArguments(mlir::Operation *kernel);

} // namespace nereid::pipeline
