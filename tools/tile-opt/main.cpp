// SPDX-License-Identifier: Apache-2.0
// tile-opt: reads tile IR, runs the passes named on the command line in order, prints the result.
// For the compiler's own tests and for looking at one pass; users have `nereid compile --emit`.
//   tile-opt [--split-input-file] [--verify-diagnostics] [--PASS …] [FILE]
#include "lib/tile/analysis/AxisInfo.h"
#include "lib/tile/analysis/Inductions.h"
#include "lib/tile/analysis/MaskBounds.h"
#include "lib/tile/analysis/MemoryAccesses.h"
#include "lib/tile/analysis/WaitingLoops.h"
#include "lib/tile/transforms/Passes.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Support/ToolUtilities.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/ToolOutputFile.h"

namespace {

struct NamedPass {
  llvm::StringRef flag, summary;
  void (*add)(mlir::OpPassManager &manager);
};

const NamedPass passes[] = {
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
    {"tile-print-waiting-loops", "say which loops may wait",
     [](mlir::OpPassManager &manager) {
       manager.addPass(nereid::tile::createPrintWaitingLoopsPass());
     }},
    {"tile-opt", "the whole phase", nereid::tile::buildTileOptPipeline},
};

struct Options {
  std::string input = "-";
  bool splitsInput = false;
  bool verifiesDiagnostics = false;
  llvm::SmallVector<const NamedPass *> passes;
};

void printUsage(llvm::raw_ostream &out) {
  out << "usage: tile-opt [--split-input-file] [--verify-diagnostics] [--PASS ...] [FILE]\n"
         "passes, run in the order given:\n";
  for (const NamedPass &pass : passes) {
    out << "  --" << pass.flag;
    out.indent(40 - pass.flag.size()) << pass.summary << "\n";
  }
}

/// False after a message on standard error.
bool parseCommandLine(int argc, char **argv, Options &options) {
  for (int i = 1; i < argc; ++i) {
    llvm::StringRef argument(argv[i]);
    llvm::StringRef flag = argument;
    if (!flag.consume_front("--")) {
      options.input = argument.str();
      continue;
    }
    const auto *pass = llvm::find_if(passes, [&](const NamedPass &p) { return p.flag == flag; });
    if (flag == "split-input-file") {
      options.splitsInput = true;
    } else if (flag == "verify-diagnostics") {
      options.verifiesDiagnostics = true;
    } else if (pass != std::end(passes)) {
      options.passes.push_back(pass);
    } else {
      llvm::errs() << "tile-opt: unknown option '" << argument << "'\n";
      printUsage(llvm::errs());
      return false;
    }
  }
  return true;
}

mlir::LogicalResult process(const Options &options, llvm::SourceMgr &sources,
                            mlir::MLIRContext &context, llvm::raw_ostream &out) {
  auto module = mlir::parseSourceFile<mlir::ModuleOp>(sources, &context);
  if (!module) {
    return mlir::failure();
  }
  mlir::PassManager manager(&context);
  for (const NamedPass *pass : options.passes) {
    pass->add(manager);
  }
  if (mlir::failed(manager.run(*module))) {
    return mlir::failure();
  }
  module->print(out);
  out << "\n";
  return mlir::success();
}

mlir::LogicalResult processBuffer(const Options &options,
                                  std::unique_ptr<llvm::MemoryBuffer> buffer,
                                  llvm::raw_ostream &out) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  nereid::tile::loadDialects(context);
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(std::move(buffer), llvm::SMLoc());
  if (options.verifiesDiagnostics) {
    context.printOpOnDiagnostic(false);
    mlir::SourceMgrDiagnosticVerifierHandler verifier(sources, &context);
    // Errors are wanted here; only the comparison with the expectations decides.
    (void)process(options, sources, context, out);
    return verifier.verify();
  }
  mlir::SourceMgrDiagnosticHandler printer(sources, &context);
  return process(options, sources, context, out);
}

} // namespace

int main(int argc, char **argv) {
  if (argc == 2 && llvm::StringRef(argv[1]) == "--help") {
    printUsage(llvm::outs());
    return 0;
  }
  Options options;
  if (!parseCommandLine(argc, argv, options)) {
    return 2;
  }
  std::string message;
  std::unique_ptr<llvm::MemoryBuffer> input = mlir::openInputFile(options.input, &message);
  if (!input) {
    llvm::errs() << "tile-opt: " << message << "\n";
    return 2;
  }
  mlir::LogicalResult result = mlir::splitAndProcessBuffer(
      std::move(input),
      [&](std::unique_ptr<llvm::MemoryBuffer> chunk, llvm::raw_ostream &out) {
        return processBuffer(options, std::move(chunk), out);
      },
      llvm::outs(), options.splitsInput ? mlir::kDefaultSplitMarker : "",
      options.splitsInput ? mlir::kDefaultSplitMarker : "");
  return mlir::succeeded(result) ? 0 : 1;
}
