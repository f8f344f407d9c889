// SPDX-License-Identifier: Apache-2.0
// The lanes of several vectors that are combined alike, folded together: a lane's work costs the
// same in a full vector as in one whose other half is of no use any more.
//
// Example, + of a0..a3 and b0..b3:
//   [a0 a1 b0 b1] + [a2 a3 b2 b3] = [a' a" b' b"] ; + [a" a' b" b'] = [a a b b]
#pragma once

#include "lib/targets/cpu/lower/nest/Combiner.h"

namespace nereid::cpu {

/// Both combine one source in vectors, by the same operation.
bool combineAlike(const Combiner &a, const Combiner &b);

/// How many of the combiners from the first one on may be folded together: a power of two, and no
/// more than a vector has lanes.
unsigned foldableTogether(llvm::ArrayRef<Combiner> combiners, int64_t lanes);

/// One scalar for each vector. `vectors`: as many as foldableTogether says.
llvm::SmallVector<mlir::Value> foldTogether(const Combiner &combiner, Evaluator &evaluator,
                                            mlir::OpBuilder &builder,
                                            llvm::ArrayRef<mlir::Value> vectors);

} // namespace nereid::cpu
