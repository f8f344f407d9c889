// SPDX-License-Identifier: Apache-2.0
// Which nests may take a delayed store (see PipelineRows.cpp), answered from the plans of the nests
// before anything is emitted.
#pragma once

#include "lib/targets/cpu/lower/plan/LanePlan.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <optional>
#include <string>

namespace nereid::cpu {

/// Vectors of one iteration of a nest that takes a part of a delayed store.
constexpr unsigned sharedCopies = 4;

/// The nest's masks when it may take a part of a delayed store, which needs a main part in steps of
/// `sharedCopies` vectors that nothing but these masks ends; nothing when it may not.
std::optional<llvm::SmallVector<mlir::Value>> masksOfSharedRows(llvm::ArrayRef<FusionRoot> roots,
                                                                const LanePlan &plan);

/// Both nests of a shared row end at the same place.
bool areSameMasks(llvm::ArrayRef<mlir::Value> masks, llvm::ArrayRef<mlir::Value> others);

/// Why the lowering would refuse the kernel's pipelined rows, or their scratch memory; empty when
/// it takes them.
std::string whyRowsAreRefused(mlir::func::FuncOp kernel, const Machine &machine);

} // namespace nereid::cpu
