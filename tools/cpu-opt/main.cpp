// SPDX-License-Identifier: Apache-2.0
// cpu-opt: reads tile IR or loops, runs the passes of the CPU target that are named on the command
// line in order, prints the result. For the compiler's own tests and for looking at one pass.
//   cpu-opt [--cpu=ARCHITECTURE] [--scratch-bytes=N] [--split-input-file] [--verify-diagnostics]
//           [--PASS …] [FILE]
#include "lib/targets/cpu/codegen/Passes.h"
#include "lib/targets/cpu/loops/Passes.h"
#include "lib/targets/cpu/lower/Lower.h"
#include "lib/targets/cpu/prepare/Passes.h"
#include "tools/pass-tool/PassTool.h"

#include "mlir/Transforms/Passes.h"

using namespace nereid;
using namespace nereid::cpu;
using mlir::OpPassManager;

namespace {

CpuMachine machine = *parseMachine("x86-64-v3");
template <auto create> void add(OpPassManager &manager) { manager.addPass(create()); }
template <auto create> void addFor(OpPassManager &manager) { manager.addPass(create(machine)); }

const tools::NamedPass passes[] = {
    {"canonicalize", "the general canonicaliser",
     [](OpPassManager &manager) { manager.addPass(mlir::createCanonicalizerPass()); }},
    {"cse", "remove common subexpressions",
     [](OpPassManager &manager) { manager.addPass(mlir::createCSEPass()); }},
    // ---- tile-cpu ----
    {"cpu-use-llvm-extrema", "extrema that LLVM knows", add<createUseLlvmExtremaPass>},
    {"cpu-pipeline-rows", "store a row while the next is computed", addFor<createPipelineRowsPass>},
    {"tile-cpu", "the whole phase",
     [](OpPassManager &manager) { buildTileCpuPipeline(manager, machine); }},
    // ---- loops ----
    {"convert-tile-to-loops", "tile IR to loops", addFor<createConvertTileToLoopsPass>},
    // ---- loops-opt ----
    {"cpu-pack-scalars", "four functions of scalars at once", add<createPackScalarsPass>},
    {"cpu-prefetch-next-row", "read the next row ahead", addFor<createPrefetchNextRowPass>},
    {"cpu-prefetch-ahead", "read a page ahead", add<createPrefetchAheadPass>},
    {"cpu-widen-pairs", "widen bfloat16 by even and odd lanes", add<createWidenPairsPass>},
    {"choose-forms", "short forms of functions", add<lowering::createChooseFormsPass>},
    {"expand-half", "narrow floats as bits",
     [](OpPassManager &manager) {
       manager.addPass(lowering::createExpandHalfPass(floatUnitOf(machine)));
     }},
    {"branch-to-rare", "what few lanes need, behind a branch",
     add<lowering::createBranchToRarePass>},
    {"expand-math", "functions as polynomials",
     [](OpPassManager &manager) {
       manager.addPass(lowering::createExpandMathPass(floatUnitOf(machine)));
     }},
    {"expand-remainders", "remainders of floats by integers",
     add<lowering::createExpandRemaindersPass>},
    {"cpu-split-products", "products by even and odd lanes", addFor<createSplitProductsPass>},
    {"cpu-overlap-iterations", "half an iteration ahead", addFor<createOverlapIterationsPass>},
    {"cpu-interleave-vectors", "vectors step by step", addFor<createInterleaveVectorsPass>},
    {"loops-opt", "the whole phase",
     [](OpPassManager &manager) { buildLoopsOptPipeline(manager, machine); }},
    // ---- llvm ----
    {"convert-loops-to-llvm", "loops to the LLVM dialect", buildLoopsToLlvmPipeline},
};

bool takesOption(llvm::StringRef option) {
  if (option.consume_front("cpu=")) {
    Result<CpuMachine> parsed = parseMachine(option.str());
    if (parsed) {
      const uint64_t limit = machine.scratchLimitBytes;
      machine = *parsed;
      machine.scratchLimitBytes = limit;
    }
    return static_cast<bool>(parsed);
  }
  return option.consume_front("scratch-bytes=") &&
         !option.getAsInteger(10, machine.scratchLimitBytes);
}

void loadDialects(mlir::MLIRContext &context) {
  mlir::DialectRegistry registry;
  registerCodegenDialects(registry);
  context.appendDialectRegistry(registry);
  loadLoweringDialects(context);
}

} // namespace

int main(int argc, char **argv) {
  return tools::runPassTool(
      {"cpu-opt", passes, loadDialects, takesOption, "[--cpu=ARCHITECTURE] [--scratch-bytes=N] "},
      argc, argv);
}
