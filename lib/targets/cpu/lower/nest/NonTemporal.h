// SPDX-License-Identifier: Apache-2.0
// Plain stores that become non-temporal, past the caches, when the launch writes more than the
// caches hold: reading the lines before writing them would be a third of the traffic. The launch's
// size is known only at run time, so each such store has both forms.
#pragma once

#include "lib/targets/cpu/lower/KernelState.h"

namespace nereid::cpu {

/// A store of a kernel that neither reads the tensor as well, nor multiplies matrices, nor says
/// where it wants the data.
bool mayBeNonTemporal(tile::StoreOp store, const FusionPlan &plan, const Machine &machine);

/// Programs of a launch that is large enough.
int64_t leastNonTemporalPrograms(tile::StoreOp store, const Machine &machine);

/// The same store elsewhere bypasses the caches: this one never does.
void keepInCaches(tile::StoreOp store);

/// An i1 in the prologue: the launch is large enough. Null when the store never bypasses the
/// caches.
mlir::Value isLargeLaunch(KernelState &kernel, tile::StoreOp store);

/// Non-temporal stores are weakly ordered; what reads them next may run on another core. Whoever
/// runs the programs fences all of them at once (a fence costs as much as storing a kilobyte),
/// except where a program may signal another one.
void fenceNonTemporalStores(KernelState &kernel, mlir::OpBuilder &builder, mlir::Location loc);

} // namespace nereid::cpu
