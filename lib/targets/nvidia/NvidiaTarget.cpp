// SPDX-License-Identifier: Apache-2.0
// The phases of NVIDIA GPUs: layouts of tiles over threads, the code of a thread, LLVM IR, PTX.
#include "lib/targets/nvidia/NvidiaTarget.h"

#include "lib/llvm/Pool.h"
#include "lib/pipeline/Phases.h"
#include "lib/pipeline/kernel/KernelFunction.h"
#include "lib/targets/nvidia/assembler/Ptxas.h"
#include "lib/targets/nvidia/assembler/PtxasLog.h"
#include "lib/targets/nvidia/codegen/Passes.h"
#include "lib/targets/nvidia/codegen/PtxGenerator.h"
#include "lib/targets/nvidia/cuda/CudaCompiler.h"
#include "lib/targets/nvidia/cuda/CudaKernel.h"
#include "lib/targets/nvidia/driver/Clusters.h"
#include "lib/targets/nvidia/driver/Grids.h"
#include "lib/targets/nvidia/driver/NvidiaDevice.h"
#include "lib/targets/nvidia/explain/Pressure.h"
#include "lib/targets/nvidia/explain/Remarks.h"
#include "lib/targets/nvidia/explain/TileLayouts.h"
#include "lib/targets/nvidia/ir/Nvidia.h"
#include "lib/targets/nvidia/layouts/Anchors.h"
#include "lib/targets/nvidia/layouts/CheckLayouts.h"
#include "lib/targets/nvidia/layouts/Passes.h"
#include "lib/targets/nvidia/occupancy/Occupancy.h"
#include "lib/targets/nvidia/pipeline/Passes.h"
#include "lib/targets/nvidia/threads/Lowering.h"
#include "lib/tile/ir/Attributes.h"
#include "lib/tile/transforms/Passes.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

#include <fmt/format.h>

namespace nereid::nvidia {
namespace {

using pipeline::CompileState;

class NvidiaTarget final : public pipeline::Target {
public:
  explicit NvidiaTarget(const NvidiaMachine &machine)
      : machine(machine),
        generators([machine] { return std::make_unique<PtxGenerator>(machine); }) {}

  std::string name() const override { return "nvidia:" + machine.name; }
  std::string features() const override { return machine.name; }
  void registerDialects(mlir::DialectRegistry &registry) const override {
    registerNvidiaDialects(registry);
  }
  std::span<const pipeline::Phase> phases() const override;
  std::string_view deviceRuntime() const override { return "nvidia"; }
  Result<std::vector<uint8_t>> machineCode(std::span<const uint8_t> object) const override;
  Result<pipeline::CodeAccount> account(std::span<const uint8_t> object) const override;
  Result<pipeline::Occupation> occupation(const runtime::FunctionResources &resources,
                                          const runtime::KernelInfo &info) const override {
    return occupancy(*multiprocessorOf(machine.capability), resources, info.threads,
                     static_cast<int64_t>(info.scratchBytes));
  }
  Result<pipeline::ForeignCode>
  compileForeign(const pipeline::ForeignSource &source) const override {
    return compileCuda(source, machine.name);
  }
  std::string_view layoutPhase() const override { return "tile-nvidia"; }
  pipeline::TileLayouts layouts(const CompileState &state) const override {
    return tileLayoutsOf(state);
  }

  const NvidiaMachine machine;
  codegen::Pool<PtxGenerator> generators;
};

std::string_view textOf(std::span<const uint8_t> object) {
  return {reinterpret_cast<const char *>(object.data()), object.size()};
}

Result<std::vector<uint8_t>> NvidiaTarget::machineCode(std::span<const uint8_t> object) const {
  Result<std::optional<std::string>> ptxas = findPtxas();
  if (!ptxas) {
    return ptxas.error();
  }
  if (!*ptxas) {
    return std::vector<uint8_t>();
  }
  auto made = nvidia::assemble(textOf(object), machine.name);
  return made ? Result(std::move(made->cubin)) : Result<std::vector<uint8_t>>(made.error());
}

Result<pipeline::CodeAccount> NvidiaTarget::account(std::span<const uint8_t> object) const {
  auto made = nvidia::assemble(textOf(object), machine.name);
  return made ? Result(readPtxasLog(made->log)) : Result<pipeline::CodeAccount>(made.error());
}

NvidiaTarget &targetOf(const CompileState &state) {
  return static_cast<NvidiaTarget &>(*state.target);
}

/// Programs whose kernel cannot have several blocks have one, whatever it asks for.
void decideBlocks(CompileState &state) {
  mlir::Operation *kernel = pipeline::kernelFunctions(*state.module).front();
  const auto asked = kernel->getAttrOfType<mlir::IntegerAttr>(tile::attribute::numCtas);
  const int64_t blocks = asked ? asked.getInt() : 1;
  const bool multiplies =
      kernel->walk([](tile::DotOp) { return mlir::WalkResult::interrupt(); }).wasInterrupted();
  const bool hasClusters = targetOf(state).machine.capability >= firstWithClusters;
  if (blocks > 1 && (multiplies || !hasClusters)) {
    Diagnostic warning =
        makeError("W0301", fmt::format("num_ctas = {} has no effect on '{}': {}", blocks,
                                       state.target->name(),
                                       hasClusters ? "products are made by programs of one block"
                                                   : "a program is one block before sm_90"));
    warning.severity = Severity::Warning;
    warning.file = state.input.path;
    state.diags.add(warning.withHelp("leave it out; num_warps gives a program more threads"));
  }
  if (blocks <= 1 || multiplies || !hasClusters) {
    kernel->removeAttr(tile::attribute::numCtas);
  }
}

bool assignLayouts(CompileState &state) {
  pipeline::noteKernelFacts(state);
  decideBlocks(state);
  mlir::MLIRContext &context = state.session->context();
  context.loadDialect<NvidiaDialect>();
  mlir::PassManager passes(&context);
  passes.enableVerifier(state.options.verifyEach);
  passes.addPass(tile::createDropAssumptionsPass());
  passes.addPass(mlir::createInlinerPass());
  passes.addNestedPass<mlir::func::FuncOp>(createAccumulateProductsPass());
  passes.addNestedPass<mlir::func::FuncOp>(createHoistScalarLoadsPass());
  passes.addNestedPass<mlir::func::FuncOp>(createUnrollNetworksPass());
  passes.addNestedPass<mlir::func::FuncOp>(createUnrollTapsPass());
  passes.addNestedPass<mlir::func::FuncOp>(createPipelineLoopsPass(targetOf(state).machine));
  passes.addNestedPass<mlir::func::FuncOp>(createAssignLayoutsPass());
  passes.addPass(mlir::createCSEPass());
  passes.addNestedPass<mlir::func::FuncOp>(createHoldLoadsPass(targetOf(state).machine));
  return succeeded(passes.run(*state.module));
}

bool verifyLayouts(CompileState &state) {
  if (!pipeline::verifyTileForTarget(state)) {
    return false;
  }
  auto kernel = llvm::cast<mlir::func::FuncOp>(pipeline::kernelFunctions(*state.module).front());
  return succeeded(checkLayouts(kernel, targetOf(state).machine));
}

bool lowerToThreads(CompileState &state) {
  state.session->context().loadDialect<mlir::LLVM::LLVMDialect>();
  if (auto error = excessOfRegisters(pipeline::kernelFunctions(*state.module).front(), state)) {
    state.diags.add(std::move(*error));
    return false;
  }
  if (failed(lowerTilesToThreads(*state.module, targetOf(state).machine))) {
    return false;
  }
  mlir::Operation *kernel = pipeline::kernelFunctions(*state.module).front();
  const Threads threads = threadsOf(kernel);
  mlir::Builder builder(kernel->getContext());
  kernel->setAttr(pipeline::threadsAttribute, builder.getI64IntegerAttr(threads.ofBlock()));
  if (threads.blocks > 1) {
    kernel->setAttr(pipeline::blocksAttribute, builder.getI64IntegerAttr(threads.blocks));
  }
  if (targetOf(state).machine.capability >= firstWithEarlyGrids) {
    kernel->setAttr(pipeline::waitsAttribute, builder.getUnitAttr());
  }
  return true;
}

bool translateToLlvm(CompileState &state) {
  mlir::Operation *kernel = pipeline::kernelFunctions(*state.module).front();
  const Threads threads = threadsOf(kernel);
  const LaunchBounds bounds = {threads.ofBlock(), threads.blocks,
                               mostRegistersOf(kernel).value_or(0),
                               kernel->hasAttr(pipeline::waitsAttribute)};
  mlir::PassManager passes(&state.session->context());
  passes.enableVerifier(state.options.verifyEach);
  buildThreadsToLlvmPipeline(passes);
  return succeeded(passes.run(*state.module)) &&
         keepCode(state, targetOf(state).generators.lease()->translate(*state.module, bounds,
                                                                       state.diags));
}

bool readLlvm(CompileState &state) {
  return keepReadCode(state, targetOf(state).generators.lease()->parse(
                                 state.inputText, state.input.path, state.diags));
}

/// Whatever it was made of: the code generator would end the process, or say nothing and make other
/// code.
bool verifyLlvm(CompileState &state) {
  const std::string why = targetOf(state).generators.lease()->refusalOf(*state.code);
  if (!why.empty()) {
    // What the user has written in one of the phases, or what one of them should not have.
    Diagnostic error = makeError(state.options.from == "source" ? "E0390" : "E0391", why);
    error.file = state.input.path;
    state.diags.add(std::move(error));
  }
  return why.empty();
}

bool emitPtx(CompileState &state) {
  if (!verifyLlvm(state) ||
      !targetOf(state).generators.lease()->emitPtx(*state.code, state.assembly, state.diags)) {
    return false;
  }
  state.object.assign(state.assembly.begin(), state.assembly.end());
  return true;
}

bool emitCubin(CompileState &state) {
  if (!emitPtx(state)) {
    return false;
  }
  Result<AssembledCode> made = nvidia::assemble(state.assembly, targetOf(state).machine.name);
  if (!made) {
    state.diags.add(made.error());
    return false;
  }
  state.object = std::move(made->cubin);
  return true;
}

// clang-format off
const pipeline::Phase nvidiaPhases[] = {
  {"tile-nvidia", ".mlir", "tile IR with the layout of each tile over the threads",
   assignLayouts, pipeline::readTile, pipeline::printMlir, verifyLayouts,
   /*isSideExit=*/false, remarkOnTiles},
  {"threads", ".mlir", "the code of one thread, on scalars",
   lowerToThreads, pipeline::readMlir, pipeline::printMlir},
  {"llvm", ".ll", "LLVM IR, optimised",
   translateToLlvm, readLlvm, pipeline::printCode, verifyLlvm},
  {"cubin", ".cubin", "machine code for this architecture alone, by ptxas",
   emitCubin, nullptr, nullptr, nullptr, /*isSideExit=*/true, remarkOnCode},
  {"ptx", ".ptx", "PTX text, which the driver compiles",
   emitPtx, nullptr, pipeline::printAssembly, nullptr, /*isSideExit=*/false, remarkOnCode},
};
// clang-format on

std::span<const pipeline::Phase> NvidiaTarget::phases() const { return nvidiaPhases; }

/// That of the chip, else of the first device. E0415, E0419 and E0420 where there is none.
Result<std::string> usualArchitecture(const Machine *chip) {
  if (chip) {
    return chip->architecture;
  }
  auto first = runtime::findDevice("nvidia");
  if (const auto *error = std::get_if<runtime::LaunchError>(&first)) {
    return makeError(error->code, error->message)
        .withHelp("name an architecture, such as nvidia:sm_90a, to compile without a device");
  }
  return std::get<runtime::Device *>(first)->architecture();
}

Result<std::unique_ptr<pipeline::Target>> makeNvidiaTarget(std::string_view architecture,
                                                           const Machine *chip) {
  const auto wanted = architecture.empty() ? usualArchitecture(chip)
                                           : Result<std::string>(std::string(architecture));
  if (!wanted) {
    return wanted.error();
  }
  auto machine = parseNvidiaMachine(*wanted);
  if (!machine) {
    return machine.error();
  }
  if (chip && chip->architecture != machine->name) {
    return makeError("E0701", fmt::format("chip '{}' is described as '{}', but the code is for "
                                          "'nvidia:{}'",
                                          chip->name, chip->architecture, machine->name))
        .withHelp("compile for the chip's architecture, or leave the target's out");
  }
  return std::unique_ptr<pipeline::Target>(std::make_unique<NvidiaTarget>(*machine));
}

std::vector<pipeline::TargetTool> findTools() {
  const auto whyNot = [](const Diagnostic &error) {
    return fmt::format("none: {} [{}]", error.message, error.code);
  };
  const Result<std::optional<std::string>> ptxas = findPtxas();
  const auto compiler = findCudaCompiler();
  return {{"ptxas",
           !ptxas   ? whyNot(ptxas.error())
           : *ptxas ? **ptxas
                    : "none: PTX is compiled by the driver of the GPU",
           ptxas && *ptxas},
          {"CUDA C++", compiler ? (*compiler)->name() : whyNot(compiler.error()), bool(compiler)}};
}

} // namespace

void registerNvidiaTarget() {
  registerNvidiaDevices();
  pipeline::registerTarget(
      "nvidia", {.make = makeNvidiaTarget, .anyArchitecture = "sm_90a", .tools = findTools});
}

} // namespace nereid::nvidia
