// SPDX-License-Identifier: Apache-2.0
// What this target refuses, told at the operation's place with its code, which the pipeline reads
// off the message's end.
#pragma once

#include "mlir/IR/Operation.h"

namespace nereid::nvidia {

/// E0301: what the target has no code for, why, and what to write instead.
mlir::LogicalResult unsupported(mlir::Operation *op, const llvm::Twine &why,
                                const llvm::Twine &help);

} // namespace nereid::nvidia
