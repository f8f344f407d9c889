// SPDX-License-Identifier: Apache-2.0
// The passes of the phase `tile-nvidia` that come before layouts.
#pragma once

#include "lib/targets/nvidia/NvidiaMachine.h"

#include "mlir/Pass/Pass.h"

#include <memory>

namespace nereid::nvidia {

/// copy operands of products into shared memory turns ahead of their use
std::unique_ptr<mlir::Pass> createPipelineLoopsPass(const NvidiaMachine &machine);

} // namespace nereid::nvidia
