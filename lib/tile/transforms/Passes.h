// SPDX-License-Identifier: Apache-2.0
// Passes over tile IR and the list of them that makes the phase `tile-opt`. Everything here is
// target-independent and must stay cheap: the phase runs on every compilation, also on small
// kernels whose whole way to machine code takes a few milliseconds.
#pragma once

#include "lib/tile/ir/Tile.h"

#include "mlir/Pass/PassManager.h"

#include <functional>
#include <memory>
#include <string_view>

namespace nereid::tile {

// loadDialects(context) is declared in lib/tile/ir/Tile.h.

/// The phase `tile-opt`: roll what was unrolled beyond use, simplify, remove common subexpressions,
/// hoist what a loop does not change.
void buildTileOptPipeline(mlir::OpPassManager &manager);

/// `tile-roll-iterations`: a loop of the iterations of a large unrolled loop that do the same.
std::unique_ptr<mlir::Pass> createRollIterationsPass();

/// `tile-lower-descriptors`: accesses through descriptors as accesses through addresses.
std::unique_ptr<mlir::Pass> createLowerDescriptorsPass();

/// `tile-drop-assumptions`: promises in the place of assumptions.
std::unique_ptr<mlir::Pass> createDropAssumptionsPass();

/// `tile-simplify`: folds and dead-code removal, with the tile, arith and scf patterns that pay.
std::unique_ptr<mlir::Pass> createSimplifyPass();

/// `tile-hoist-invariants`: loop-invariant code motion that never moves what could trap.
std::unique_ptr<mlir::Pass> createHoistInvariantsPass();

// ---- rewrites for targets, with criteria of theirs ----

/// Told of each place that a rewrite looks at, and why it leaves it as it is: nothing where it
/// fires.
using RewriteListener = std::function<void(mlir::Operation *op, std::string_view declined)>;

inline void tell(const RewriteListener &listener, mlir::Operation *op,
                 std::string_view declined = {}) {
  if (listener) {
    listener(op, declined);
  }
}

/// `tile-prepare-histograms`: the number behind the last bin for what is not counted.
std::unique_ptr<mlir::Pass> createPrepareHistogramsPass();

/// `tile-hoist-before-products`: what a product's loop is followed by in front of it.
std::unique_ptr<mlir::Pass> createHoistBeforeProductsPass();

/// `tile-reduce-blocks`: tiles that a loop accumulates only to be reduced, as one number.
struct ReduceBlocksOptions {
  int64_t leastElements = 1; ///< of a tile
  RewriteListener listener;  ///< of reductions
};
std::unique_ptr<mlir::Pass> createReduceBlocksPass(ReduceBlocksOptions options = {});

/// `tile-privatise-atomics`: marks additions that threads may sum up until the launch ends.
struct PrivatiseAtomicsOptions {
  int64_t leastElements = 1;              ///< of one of the kernel's additions, and of each marked
  std::function<bool(mlir::Type)> canSum; ///< elements of this type; unset = of all
  RewriteListener listener;               ///< of atomics
};
bool mayPrivatiseAtomics(mlir::func::FuncOp kernel, const PrivatiseAtomicsOptions &options);
std::unique_ptr<mlir::Pass> createPrivatiseAtomicsPass(PrivatiseAtomicsOptions options = {});

/// `tile-coarsen-programs`: a loop over neighbouring programs of a kernel of rows.
struct CoarsenProgramsOptions {
  /// An operation of which a program is so long that it gains nothing; unset = none but dots.
  std::function<bool(mlir::Operation *)> isLong;
  /// An operation whose code has branches: products and sums on its two sides may be joined to one
  /// operation in one loop and not in the other, so such programs are taken one at a time.
  std::function<bool(mlir::Operation *)> branches;
  PrivatiseAtomicsOptions atomics;     ///< what private additions are, which end no program
  int64_t longestJammedRow = 256;      ///< elements of rows that are taken several at a time
  int64_t jammedPrograms = 4;          ///< how many; a power of two
  int mostJammedReductions = 8;        ///< of one program
  int64_t mostJammedBytes = INT64_MAX; ///< of all tiles of the programs that are taken at a time
  RewriteListener loops;               ///< of the kernels
  RewriteListener jams;                ///< of the loops over programs
};
bool mayCoarsenPrograms(mlir::func::FuncOp kernel, const CoarsenProgramsOptions &options);
std::unique_ptr<mlir::Pass> createCoarsenProgramsPass(CoarsenProgramsOptions options = {});
bool isCoarsenedLoop(mlir::scf::ForOp loop);
/// The operation runs in two loops, for several programs at a time and for those left over: what it
/// combines must be combined in one order, however many programs stand beside it.
bool combinesInOneOrder(mlir::Operation *op);
/// A `tile.program_id` that stands for the id behind the last program of the loop.
bool isEndOfRange(mlir::Operation *op);

} // namespace nereid::tile
