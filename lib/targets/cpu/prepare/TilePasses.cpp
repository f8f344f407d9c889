// SPDX-License-Identifier: Apache-2.0
#include "lib/targets/cpu/prepare/TilePasses.h"

#include "lib/targets/cpu/lower/Recognisers.h"
#include "lib/targets/cpu/lower/block/DeferredAdditions.h"
#include "lib/targets/cpu/lower/plan/TileAxes.h"
#include "lib/tile/transforms/Passes.h"

#include "mlir/Pass/PassManager.h"

using namespace mlir;

namespace nereid::cpu {

/// Reducing the lanes of the last vectors costs as much as carrying a block of half as many.
constexpr int64_t leastReducedBlock = 128;
/// The call for a tile costs about as much as two additions without contention.
constexpr int64_t leastDeferredElements = 64;

static tile::RewriteListener tallyAs(Recogniser recogniser) {
  return [=](Operation *, std::string_view declined) { tally(recogniser, declined.empty()); };
}

static tile::PrivatiseAtomicsOptions deferredAdditions() {
  tile::PrivatiseAtomicsOptions options;
  options.leastElements = leastDeferredElements;
  options.canSum = [](Type element) { return additionKindOf(element).has_value(); };
  return options;
}

static LogicalResult run(PassManager &passes, func::FuncOp kernel) {
  passes.enableVerifier(false);
  return passes.run(kernel);
}

OwningOpRef<func::FuncOp> loopOverPrograms(func::FuncOp kernel) {
  tile::CoarsenProgramsOptions options;
  options.isLong = isExchange;
  options.atomics = deferredAdditions();
  options.jams = tallyAs(Recogniser::JammedPrograms);
  if (!tally(Recogniser::ProgramLoop, tile::mayCoarsenPrograms(kernel, options))) {
    return {};
  }
  OwningOpRef<func::FuncOp> copy(kernel.clone());
  PassManager passes(kernel.getContext(), func::FuncOp::getOperationName());
  passes.addPass(tile::createCoarsenProgramsPass(std::move(options)));
  return succeeded(run(passes, *copy)) ? std::move(copy) : OwningOpRef<func::FuncOp>();
}

LogicalResult runTilePasses(func::FuncOp kernel) {
  PassManager passes(kernel.getContext(), func::FuncOp::getOperationName());
  passes.addPass(tile::createPrepareHistogramsPass());
  passes.addPass(tile::createHoistBeforeProductsPass());
  tile::ReduceBlocksOptions blocks;
  blocks.leastElements = leastReducedBlock;
  blocks.listener = [](Operation *op, std::string_view declined) {
    declined.empty() ? countFired(Recogniser::BlockReductions)
                     : decline(Recogniser::BlockReductions, op, declined);
  };
  passes.addPass(tile::createReduceBlocksPass(std::move(blocks)));
  tile::PrivatiseAtomicsOptions additions = deferredAdditions();
  additions.listener = tallyAs(Recogniser::DeferredAdditions);
  passes.addPass(tile::createPrivatiseAtomicsPass(std::move(additions)));
  return run(passes, kernel);
}

} // namespace nereid::cpu
