// SPDX-License-Identifier: Apache-2.0
// The CPU's phases: preparation, lowering to loops, passes on loops, translation, machine code. One
// CodeGenerator serves one compilation at a time; several threads get one each.
#include "lib/targets/cpu/CpuTarget.h"

#include "lib/llvm/Pool.h"
#include "lib/pipeline/Phases.h"
#include "lib/targets/cpu/MachineSizes.h"
#include "lib/targets/cpu/VerifyLlvm.h"
#include "lib/targets/cpu/VerifyLoops.h"
#include "lib/targets/cpu/codegen/Codegen.h"
#include "lib/targets/cpu/codegen/Passes.h"
#include "lib/targets/cpu/loops/Passes.h"
#include "lib/targets/cpu/lower/Lower.h"
#include "lib/targets/cpu/prepare/Passes.h"
#include "lib/tile/transforms/Passes.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Pass/PassManager.h"

#include <fmt/format.h>

namespace nereid::cpu {
namespace {

using pipeline::CompileState;

class CpuTarget final : public pipeline::Target {
public:
  /// `shape` is figuresOf(machine) where they are not those of the architecture.
  CpuTarget(const CpuMachine &machine, std::string shape)
      : machine(machine), shape(std::move(shape)),
        generators([machine] { return std::make_unique<CodeGenerator>(machine); }) {}

  std::string name() const override {
    std::string tuned = machine.tuneFor.empty() ? "" : " for " + machine.tuneFor;
    return "cpu:" + machine.targetName + tuned + (shape.empty() ? "" : " with " + shape);
  }
  std::string features() const override { return machine.requirementText(); }
  void registerDialects(mlir::DialectRegistry &registry) const override {
    registerCodegenDialects(registry);
  }

  std::span<const pipeline::Phase> phases() const override;

  bool assemble(std::string_view text, std::vector<uint8_t> &object, Diagnostics &diags) override {
    return generators.lease()->assemble(text, object, diags);
  }

  const CpuMachine machine;
  const std::string shape;
  codegen::Pool<CodeGenerator> generators;
};

CpuTarget &targetOf(const CompileState &state) { return static_cast<CpuTarget &>(*state.target); }

bool prepareTiles(CompileState &state) {
  mlir::PassManager drops(&state.session->context());
  drops.enableVerifier(state.options.verifyEach);
  drops.addPass(tile::createDropAssumptionsPass());
  if (failed(drops.run(*state.module)) || failed(checkTileKernel(*state.module, state.diags))) {
    return false;
  }
  mlir::PassManager passes(&state.session->context());
  passes.enableVerifier(state.options.verifyEach);
  buildTileCpuPipeline(passes, targetOf(state).machine);
  return succeeded(passes.run(*state.module));
}

bool lowerToLoops(CompileState &state) {
  pipeline::noteKernelFacts(state);
  loadLoweringDialects(state.session->context());
  return succeeded(lowerTileToLoops(*state.module, targetOf(state).machine, state.diags));
}

bool verifyPhaseLoops(CompileState &state) { return succeeded(verifyLoops(*state.module)); }

bool verifyPhaseLoopsOpt(CompileState &state) { return succeeded(verifyLoopsOpt(*state.module)); }

bool optimizeLoops(CompileState &state) {
  mlir::PassManager passes(&state.session->context());
  passes.enableVerifier(state.options.verifyEach);
  buildLoopsOptPipeline(passes, targetOf(state).machine);
  return succeeded(passes.run(*state.module));
}

bool translateToLlvm(CompileState &state) {
  mlir::PassManager passes(&state.session->context());
  passes.enableVerifier(state.options.verifyEach);
  buildLoopsToLlvmPipeline(passes);
  return succeeded(passes.run(*state.module)) &&
         keepCode(state, targetOf(state).generators.lease()->translate(*state.module, state.diags));
}

bool readLlvm(CompileState &state) {
  return keepReadCode(state, targetOf(state).generators.lease()->parse(
                                 state.inputText, state.input.path, state.diags));
}

bool verifyPhaseLlvm(CompileState &state) {
  Status verified = verifyLlvm(static_cast<codegen::LlvmModule &>(*state.code), state.info.name);
  if (!verified) {
    Diagnostic error = verified.error();
    error.file = state.input.path;
    state.diags.add(std::move(error));
  }
  return bool(verified);
}

bool emitAssembly(CompileState &state) {
  return targetOf(state).generators.lease()->emitAssembly(*state.code, state.assembly, state.diags);
}

bool emitObject(CompileState &state) {
  return targetOf(state).generators.lease()->emitObject(*state.code, state.object, state.diags);
}

// clang-format off
const pipeline::Phase cpuPhases[] = {
  {"tile-cpu", ".mlir", "tile IR in the form that suits loops",
   prepareTiles, pipeline::readTile, pipeline::printMlir, pipeline::verifyTileForTarget},
  {"loops", ".mlir", "loops over vectors, memory through addresses",
   lowerToLoops, pipeline::readMlir, pipeline::printMlir, verifyPhaseLoops},
  {"loops-opt", ".mlir", "loops that read ahead and overlap, without functions",
   optimizeLoops, pipeline::readMlir, pipeline::printMlir, verifyPhaseLoopsOpt},
  {"llvm", ".ll", "LLVM IR, optimised",
   translateToLlvm, readLlvm, pipeline::printCode, verifyPhaseLlvm},
  {"asm", ".s", "assembly text, for reading",
   emitAssembly, nullptr, pipeline::printAssembly, nullptr, /*isSideExit=*/true},
  {"object", ".o", "machine code",
   emitObject, nullptr, nullptr},
};
// clang-format on

std::span<const pipeline::Phase> CpuTarget::phases() const { return cpuPhases; }

/// All that code depends on besides instructions: equal figures make equal code.
std::string figuresOf(const CpuMachine &machine) {
  return fmt::format("vectors {}x{}, caches {}/{}/{}", machine.vectorRegisters, machine.vectorBytes,
                     sizes::bytesOfCore(machine, 1), sizes::bytesOfCore(machine, 2),
                     sizes::nonTemporalFromBytes(machine));
}

Result<std::unique_ptr<pipeline::Target>> makeCpuTarget(std::string_view architecture,
                                                        const Machine *chip) {
  Result<CpuMachine> machine = parseMachine(architecture, chip);
  if (!machine) {
    return machine.error();
  }
  std::string shape;
  if (chip != nullptr) {
    const Result<CpuMachine> usual = parseMachine(architecture);
    shape = usual && figuresOf(*usual) == figuresOf(*machine) ? "" : figuresOf(*machine);
  }
  return std::unique_ptr<pipeline::Target>(
      std::make_unique<CpuTarget>(std::move(*machine), std::move(shape)));
}

/// "cpu:aarch64+lse"; E0303 when the machine is too old.
Result<std::string> nameFor(std::string_view architecture,
                            const std::vector<std::string> &features) {
  Result<CpuMachine> machine = machineOffering(architecture, features);
  if (!machine) {
    return machine.error();
  }
  return "cpu:" + machine->targetName;
}

} // namespace

void registerCpuTarget() { pipeline::registerTarget("cpu", {makeCpuTarget, nameFor}); }

} // namespace nereid::cpu
