// SPDX-License-Identifier: Apache-2.0
// The passes of the phase `tile-nvidia`.
#pragma once

#include "lib/targets/nvidia/NvidiaMachine.h"

#include "mlir/Pass/Pass.h"

#include <memory>

namespace nereid::nvidia {

/// assign each tile a layout over the kernel's threads, with moves between threads where layouts
/// differ
std::unique_ptr<mlir::Pass> createAssignLayoutsPass();
/// keep large tiles that reductions are waited for with in shared memory
std::unique_ptr<mlir::Pass> createHoldLoadsPass(const NvidiaMachine &machine);

} // namespace nereid::nvidia
