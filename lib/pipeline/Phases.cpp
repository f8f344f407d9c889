// SPDX-License-Identifier: Apache-2.0
// The table, and what its one-line entries do.
#include "lib/pipeline/Phases.h"

#include "lib/pipeline/KernelFunction.h"
#include "lib/pipeline/KernelInfo.h"
#include "lib/pipeline/OrderDependence.h"
#include "lib/pipeline/ReadOnlyArguments.h"
#include "lib/tile/transforms/Passes.h"

#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/raw_ostream.h"

namespace nereid::pipeline {
namespace {

bool optimizeTile(CompileState &state) {
  mlir::PassManager passes(&state.session->context());
  passes.enableVerifier(state.options.verifyEach);
  if (!state.target->takesDescriptors()) {
    passes.addPass(tile::createLowerDescriptorsPass());
  }
  tile::buildTileOptPipeline(passes);
  return succeeded(passes.run(*state.module));
}

bool lowerToLoops(CompileState &state) {
  mlir::PassManager passes(&state.session->context());
  passes.enableVerifier(state.options.verifyEach);
  passes.addPass(tile::createDropAssumptionsPass());
  if (failed(passes.run(*state.module))) {
    return false;
  }
  noteReadOnlyArguments(kernelFunctions(*state.module).front());
  noteOrderDependence(kernelFunctions(*state.module).front());
  return state.target->lower(*state.module, state.options.verifyEach, state.diags) &&
         (!state.options.verifyEach || succeeded(mlir::verify(*state.module)));
}

bool translateToLlvm(CompileState &state) {
  std::vector<mlir::Operation *> kernels = kernelFunctions(*state.module);
  state.info = readKernelInfo(kernels.front());
  state.info.features = state.target->features();
  state.code = state.target->translate(*state.module, state.options.verifyEach, state.diags);
  if (!state.code) {
    return false;
  }
  state.code->attachKernelInfo(toJson(state.info));
  return true;
}

bool emitAssembly(CompileState &state) {
  return state.target->emitAssembly(*state.code, state.assembly, state.diags);
}

bool emitObject(CompileState &state) {
  return state.target->emitObject(*state.code, state.object, state.diags);
}

std::string printSource(const CompileState &state) { return state.inputText; }

std::string printMlir(const CompileState &state) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  mlir::ModuleOp module = *state.module;
  module.print(stream);
  stream << "\n";
  return text;
}

std::string printLlvm(const CompileState &state) { return state.code->text(); }
std::string printAssembly(const CompileState &state) { return state.assembly; }

// clang-format off
const Phase phases[] = {
  {"source", ".py", "read the file, choose the kernel and its signature",
   readSource, readSource, printSource},
  {"tile", ".mlir", "elaborate the kernel for the signature into tile IR",
   emitTile, readMlir, printMlir},
  {"tile-opt", ".mlir", "simplify tile IR, the same for every target",
   optimizeTile, readMlir, printMlir},
  {"loops", ".mlir", "the target's structured form: loops and vectors",
   lowerToLoops, readMlir, printMlir},
  {"llvm", ".ll", "LLVM IR, optimised",
   translateToLlvm, readLlvm, printLlvm},
  {"asm", ".s", "assembly text, for reading",
   emitAssembly, nullptr, printAssembly, /*isSideExit=*/true},
  {"object", ".o", "machine code",
   emitObject, nullptr, nullptr},
};
// clang-format on

} // namespace

std::span<const Phase> allPhases() { return phases; }

int findPhase(std::string_view name) {
  for (size_t i = 0; i < std::size(phases); ++i) {
    if (phases[i].name == name) {
      return static_cast<int>(i);
    }
  }
  return -1;
}

const std::vector<std::string> &phaseNames() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> result;
    for (const Phase &phase : phases) {
      if (!phase.isSideExit) {
        result.emplace_back(phase.name);
      }
    }
    return result;
  }();
  return names;
}

} // namespace nereid::pipeline
