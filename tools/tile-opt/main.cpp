// SPDX-License-Identifier: Apache-2.0
// tile-opt: reads tile IR, runs the passes named on the command line in order, prints the result.
// For the compiler's own tests and for looking at one pass; users have `nereid compile --emit`.
//   tile-opt [--split-input-file] [--verify-diagnostics] [--PASS …] [FILE]
#include "lib/tile/analysis/BlockingLoops.h"
#include "lib/tile/analysis/Inductions.h"
#include "lib/tile/analysis/MaskBounds.h"
#include "lib/tile/analysis/MemoryAccesses.h"
#include "lib/tile/analysis/axis/AxisInfo.h"
#include "lib/tile/transforms/Passes.h"
#include "tools/pass-tool/PassTool.h"

#include "mlir/Transforms/Passes.h"

namespace {

const nereid::tools::NamedPass passes[] = {
    {"canonicalize", "the general canonicaliser",
     [](mlir::OpPassManager &manager) { manager.addPass(mlir::createCanonicalizerPass()); }},
    {"cse", "remove common subexpressions",
     [](mlir::OpPassManager &manager) { manager.addPass(mlir::createCSEPass()); }},
    {"tile-simplify", "fold and drop dead tile operations",
     [](mlir::OpPassManager &manager) { manager.addPass(nereid::tile::createSimplifyPass()); }},
    {"tile-lower-descriptors", "access memory through addresses instead of descriptors",
     [](mlir::OpPassManager &manager) {
       manager.addPass(nereid::tile::createLowerDescriptorsPass());
     }},
    {"tile-drop-assumptions", "keep what assumptions promise of values, and drop them",
     [](mlir::OpPassManager &manager) {
       manager.addPass(nereid::tile::createDropAssumptionsPass());
     }},
    {"tile-hoist-invariants", "move what a loop does not change in front of it",
     [](mlir::OpPassManager &manager) {
       manager.addPass(nereid::tile::createHoistInvariantsPass());
     }},
    {"tile-roll-iterations", "make loops of large unrolled loops",
     [](mlir::OpPassManager &manager) {
       manager.addPass(nereid::tile::createRollIterationsPass());
     }},
    {"tile-prepare-histograms", "number what histograms do not count",
     [](mlir::OpPassManager &manager) {
       manager.addPass(nereid::tile::createPrepareHistogramsPass());
     }},
    {"tile-hoist-before-products", "move what does not need a product in front of it",
     [](mlir::OpPassManager &manager) {
       manager.addPass(nereid::tile::createHoistBeforeProductsPass());
     }},
    {"tile-reduce-blocks", "reduce blocks in the loop that accumulates them",
     [](mlir::OpPassManager &manager) { manager.addPass(nereid::tile::createReduceBlocksPass()); }},
    {"tile-privatise-atomics", "mark additions that threads may sum up",
     [](mlir::OpPassManager &manager) {
       manager.addPass(nereid::tile::createPrivatiseAtomicsPass());
     }},
    {"tile-coarsen-programs", "loop over neighbouring programs of rows",
     [](mlir::OpPassManager &manager) {
       manager.addPass(nereid::tile::createCoarsenProgramsPass());
     }},
    {"tile-print-axis-info", "say what is known about integers and addresses",
     [](mlir::OpPassManager &manager) {
       manager.addPass(nereid::tile::createPrintAxisInfoPass(nereid::tile::Overflow::Wraps));
     }},
    {"tile-print-axis-info-without-wrapping", "the same where no sum leaves its type",
     [](mlir::OpPassManager &manager) {
       manager.addPass(nereid::tile::createPrintAxisInfoPass(nereid::tile::Overflow::Excluded));
     }},
    {"tile-print-inductions", "say what loops only add to",
     [](mlir::OpPassManager &manager) {
       manager.addPass(nereid::tile::createPrintInductionsPass());
     }},
    {"tile-print-memory-accesses", "say which argument's bytes are accessed",
     [](mlir::OpPassManager &manager) {
       manager.addPass(nereid::tile::createPrintMemoryAccessesPass());
     }},
    {"tile-print-mask-bounds", "say which intervals masks are",
     [](mlir::OpPassManager &manager) {
       manager.addPass(nereid::tile::createPrintMaskBoundsPass());
     }},
    {"tile-print-blocking-loops", "say which loops may block",
     [](mlir::OpPassManager &manager) {
       manager.addPass(nereid::tile::createPrintBlockingLoopsPass());
     }},
    {"tile-opt", "the whole phase", nereid::tile::buildTileOptPipeline},
};

} // namespace

int main(int argc, char **argv) {
  return nereid::tools::runPassTool({"tile-opt", passes, nereid::tile::loadDialects}, argc, argv);
}
