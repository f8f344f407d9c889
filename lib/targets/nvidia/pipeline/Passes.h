// SPDX-License-Identifier: Apache-2.0
// The passes of the phase `tile-nvidia` that come before layouts.
#pragma once

#include "lib/targets/nvidia/NvidiaMachine.h"

#include "mlir/Pass/Pass.h"

#include <memory>

namespace nereid::nvidia {

/// add a product to what it is added to while it is made
std::unique_ptr<mlir::Pass> createAccumulateProductsPass();
/// read single numbers before a reduction rather than behind it
std::unique_ptr<mlir::Pass> createHoistScalarLoadsPass();
/// write out the steps of sorting networks, each with its own distance
std::unique_ptr<mlir::Pass> createUnrollNetworksPass();
/// write out loops of few turns that read a few elements in each
std::unique_ptr<mlir::Pass> createUnrollTapsPass();
/// copy operands of products into shared memory turns ahead of their use
std::unique_ptr<mlir::Pass> createPipelineLoopsPass(const NvidiaMachine &machine);

} // namespace nereid::nvidia
