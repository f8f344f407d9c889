// SPDX-License-Identifier: Apache-2.0
// Kernels whose results depend on the order in which their programs run, and are right all the
// same: sums of floating-point numbers in memory that programs share.
#pragma once

namespace mlir {
class Operation;
}

namespace nereid::pipeline {

/// Marks a kernel of tile IR that adds floating-point numbers atomically; see
/// runtime::KernelInfo::addsFloats.
void noteOrderDependence(mlir::Operation *kernel);

} // namespace nereid::pipeline
