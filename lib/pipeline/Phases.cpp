// SPDX-License-Identifier: Apache-2.0
// The phases that all targets share, and what targets' rows have in common.
#include "lib/pipeline/Phases.h"

#include "lib/pipeline/TargetOptions.h"
#include "lib/pipeline/kernel/KernelFunction.h"
#include "lib/pipeline/kernel/KernelInfo.h"
#include "lib/pipeline/kernel/OrderDependence.h"
#include "lib/pipeline/kernel/ReadOnlyArguments.h"
#include "lib/tile/transforms/Passes.h"

#include "mlir/Pass/PassManager.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>

namespace nereid::pipeline {
namespace {

bool verifyOptions(CompileState &state) {
  Status known = checkTargetOptions(kernelFunctions(*state.module).front(), *state.target);
  if (!known) {
    Diagnostic error = known.error();
    error.file = state.input.path;
    state.diags.add(std::move(error));
  }
  return bool(known);
}

bool optimizeTile(CompileState &state) {
  if (!verifyOptions(state)) {
    return false;
  }
  mlir::PassManager passes(&state.session->context());
  passes.enableVerifier(state.options.verifyEach);
  if (!state.target->takesDescriptors()) {
    passes.addPass(tile::createLowerDescriptorsPass());
  }
  tile::buildTileOptPipeline(passes);
  return succeeded(passes.run(*state.module));
}

std::string printSource(const CompileState &state) { return state.inputText; }

// clang-format off
const Phase commonPhases[] = {
  {"source", ".py", "read the file, choose the kernel and its signature",
   readSource, readSource, printSource},
  {"tile", ".mlir", "elaborate the kernel for the signature into tile IR",
   emitTile, readTile, printMlir, verifyTile},
  {"tile-opt", ".mlir", "simplify tile IR, the same for every target",
   optimizeTile, readTile, printMlir, verifyTileForTarget},
};
// clang-format on

} // namespace

std::vector<Phase> phasesOf(const Target &target) {
  std::vector<Phase> phases(std::begin(commonPhases), std::end(commonPhases));
  const std::span<const Phase> own = target.phases();
  phases.insert(phases.end(), own.begin(), own.end());
  return phases;
}

int findPhase(std::span<const Phase> phases, std::string_view name) {
  auto found = std::find_if(phases.begin(), phases.end(),
                            [&](const Phase &phase) { return phase.name == name; });
  return found == phases.end() ? -1 : static_cast<int>(found - phases.begin());
}

Result<std::vector<PhaseName>> phaseNames(std::string_view target) {
  Result<Target *> found = findTarget(targetAnywhere(target));
  if (!found) {
    return found.error();
  }
  std::vector<PhaseName> names;
  for (const Phase &phase : phasesOf(**found)) {
    names.push_back({phase.name, phase.extension, phase.summary, phase.isSideExit});
  }
  return names;
}

std::string printMlir(const CompileState &state) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  mlir::ModuleOp module = *state.module;
  module.print(stream);
  stream << "\n";
  return text;
}

std::string printCode(const CompileState &state) { return state.code->text(); }
std::string printAssembly(const CompileState &state) { return state.assembly; }

bool verifyTileForTarget(CompileState &state) { return verifyTile(state) && verifyOptions(state); }

void noteKernelFacts(CompileState &state) {
  mlir::Operation *kernel = kernelFunctions(*state.module).front();
  noteReadOnlyArguments(kernel);
  noteOrderDependence(kernel);
}

bool keepCode(CompileState &state, std::unique_ptr<CodeModule> code) {
  if (!code) {
    return false;
  }
  state.info = readKernelInfo(kernelFunctions(*state.module).front());
  state.info.features = state.target->features();
  code->attachKernelInfo(toJson(state.info));
  state.code = std::move(code);
  return true;
}

} // namespace nereid::pipeline
