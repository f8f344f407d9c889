// SPDX-License-Identifier: Apache-2.0
// Plain stores that bypass the caches when the launch writes more than the caches hold: reading
// the lines before writing them would be a third of the traffic. The launch's size is known only at
// run time, so each such store has both forms.
#pragma once

#include "lib/targets/cpu/lower/KernelState.h"

namespace nereid::cpu {

/// An i1 in the prologue: the launch is large enough. Null when the store never bypasses the
/// caches: the kernel reads the tensor as well, multiplies matrices, or says where it wants the
/// data.
mlir::Value isLargeLaunch(KernelState &kernel, tile::StoreOp store);

/// Streaming stores are weakly ordered; what reads them next may run on another core. Whoever runs
/// the programs fences all of them at once (a fence costs as much as storing a kilobyte), except
/// where a program may signal another one.
void fenceStreams(KernelState &kernel, mlir::OpBuilder &builder, mlir::Location loc);

} // namespace nereid::cpu
