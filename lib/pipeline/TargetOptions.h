// SPDX-License-Identifier: Apache-2.0
// The options of a kernel that one target alone knows (TargetVendor::options).
#pragma once

#include "lib/support/Diagnostics.h"

namespace mlir {
class Operation;
}

namespace nereid::pipeline {

class Target;

/// E0306 when the kernel asks for an option (`tile.target_options`) that `target` has not declared,
/// E0235 when it has and the value cannot be, as in a file written by hand.
Status checkTargetOptions(mlir::Operation *kernel, const Target &target);

} // namespace nereid::pipeline
