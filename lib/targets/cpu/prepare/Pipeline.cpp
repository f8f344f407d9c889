// SPDX-License-Identifier: Apache-2.0
// The list of passes that makes the phase `tile-cpu`, with this target's criteria.
#include "lib/targets/cpu/lower/Recognisers.h"
#include "lib/targets/cpu/lower/block/PrivatisedAtomics.h"
#include "lib/targets/cpu/lower/plan/TileAxes.h"
#include "lib/targets/cpu/prepare/Passes.h"
#include "lib/tile/transforms/Passes.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;

namespace nereid::cpu {

/// Reducing the lanes of the last vectors costs as much as carrying a block of half as many.
constexpr int64_t leastReducedBlock = 128;
/// The call for a tile costs about as much as two additions without contention.
constexpr int64_t leastPrivatisedElements = 64;

static tile::RewriteListener tallyAs(Recogniser recogniser) {
  return [=](Operation *, std::string_view declined) { tally(recogniser, declined.empty()); };
}

static tile::PrivatiseAtomicsOptions privatisedAtomics() {
  tile::PrivatiseAtomicsOptions options;
  options.leastElements = leastPrivatisedElements;
  options.canSum = [](Type element) { return additionKindOf(element).has_value(); };
  return options;
}

void buildTileCpuPipeline(OpPassManager &manager, const Machine &machine) {
  manager.addPass(createUseLlvmExtremaPass());
  tile::CoarsenProgramsOptions programs;
  programs.isLong = isCrossLane;
  programs.branches = [](Operation *op) { return isa<math::SinOp, math::CosOp>(op); };
  programs.atomics = privatisedAtomics();
  programs.mostJammedBytes = static_cast<int64_t>(machine.scratchLimitBytes);
  programs.loops = tallyAs(Recogniser::CoarsenedPrograms);
  programs.jams = tallyAs(Recogniser::JammedPrograms);
  manager.addPass(tile::createCoarsenProgramsPass(std::move(programs)));
  manager.addPass(tile::createPrepareHistogramsPass());
  manager.addPass(tile::createHoistBeforeProductsPass());
  tile::ReduceBlocksOptions blocks;
  blocks.leastElements = leastReducedBlock;
  blocks.listener = [](Operation *op, std::string_view declined) {
    declined.empty() ? countFired(Recogniser::BlockReductions)
                     : decline(Recogniser::BlockReductions, op, declined);
  };
  manager.addPass(tile::createReduceBlocksPass(std::move(blocks)));
  tile::PrivatiseAtomicsOptions additions = privatisedAtomics();
  additions.listener = tallyAs(Recogniser::PrivatisedAtomics);
  manager.addPass(tile::createPrivatiseAtomicsPass(std::move(additions)));
  manager.addPass(createPipelineRowsPass(machine));
}

} // namespace nereid::cpu
