// SPDX-License-Identifier: Apache-2.0
// The passes of the phase `tile-nvidia`.
#pragma once

#include "mlir/Pass/Pass.h"

#include <memory>

namespace nereid::nvidia {

/// assign each tile a layout over the kernel's threads, with moves between threads where layouts
/// differ
std::unique_ptr<mlir::Pass> createAssignLayoutsPass();

} // namespace nereid::nvidia
