// SPDX-License-Identifier: Apache-2.0
// What holds behind the phase `loops`, whoever wrote the text: code generation relies on it.
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Support/LogicalResult.h"

namespace nereid::cpu {

/// Emits an error at each place where the module is not what lowerTileToLoops leaves: an operation
/// of the dialect tile, a value that is a tile, a tile pointer or a
/// float of more than 64 bits, a kernel with another entry than
/// that of runtime/Kernel.h or without its description (`nereid.arguments`,
/// `nereid.scratch_bytes`), or one whose scratch memory no system has.
mlir::LogicalResult verifyLoops(mlir::ModuleOp module);

/// The same behind the phase `loops-opt`, and an error at each function that no instruction
/// computes and at arithmetic on floats of less than 32 bits: those would be calls into a library.
mlir::LogicalResult verifyLoopsOpt(mlir::ModuleOp module);

} // namespace nereid::cpu
