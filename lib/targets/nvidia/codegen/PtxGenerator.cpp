// SPDX-License-Identifier: Apache-2.0
// Multiplication and addition contract, as the kernel language allows it.
#include "lib/targets/nvidia/codegen/PtxGenerator.h"

#include "lib/llvm/Analyses.h"
#include "lib/llvm/Emission.h"
#include "lib/llvm/LlvmModule.h"
#include "lib/lowering/SafeDivision.h"
#include "lib/lowering/SafeShifts.h"
#include "lib/targets/nvidia/codegen/LegalCode.h"
#include "lib/targets/nvidia/codegen/NarrowDivisions.h"
#include "lib/targets/nvidia/codegen/PairedRoundings.h"
#include "lib/targets/nvidia/codegen/SafeExtrema.h"
#include "lib/targets/nvidia/codegen/SafeQuotients.h"
#include "lib/targets/nvidia/codegen/SmallDivisions.h"
#include "lib/targets/nvidia/codegen/WideProducts.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Metadata.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/LICM.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"

#include <mutex>

namespace nereid::nvidia {
namespace {

constexpr const char *triple = "nvptx64-nvidia-cuda";

std::unique_ptr<llvm::TargetMachine> createTargetMachine(const NvidiaMachine &machine) {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
  });
  std::string error;
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(triple, error);
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Fast;
  return std::unique_ptr<llvm::TargetMachine>(
      target->createTargetMachine(triple, machine.name, "+ptx83", options, llvm::Reloc::PIC_,
                                  std::nullopt, llvm::CodeGenOptLevel::Default));
}

void annotate(llvm::Module &module, llvm::Function *kernel, const char *what, int64_t value) {
  llvm::LLVMContext &context = module.getContext();
  module.getOrInsertNamedMetadata("nvvm.annotations")
      ->addOperand(llvm::MDNode::get(
          context, {llvm::ValueAsMetadata::get(kernel), llvm::MDString::get(context, what),
                    llvm::ValueAsMetadata::get(llvm::ConstantInt::get(
                        llvm::Type::getInt32Ty(context), static_cast<uint64_t>(value)))}));
}

void optimize(llvm::Module &module, llvm::TargetMachine &machine) {
  codegen::Analyses analyses(machine);
  llvm::FunctionPassManager passes;
  passes.addPass(llvm::EarlyCSEPass(/*UseMemorySSA=*/true));
  passes.addPass(llvm::InstCombinePass(llvm::InstCombineOptions().setVerifyFixpoint(false)));
  passes.addPass(llvm::SimplifyCFGPass());
  passes.addPass(llvm::createFunctionToLoopPassAdaptor(llvm::LICMPass(llvm::LICMOptions()),
                                                       /*UseMemorySSA=*/true));
  passes.addPass(llvm::EarlyCSEPass(/*UseMemorySSA=*/true));
  for (llvm::Function &function : module) {
    if (!function.isDeclaration()) {
      divideSmallIntegers(function);
      lowering::makeDivisionsSafe(function, /*inFloat=*/false);
      lowering::makeShiftsSafe(function);
      passes.run(function, analyses.functions);
      narrowDivisions(function, analyses);
      makeExtremaSafe(function);
      makeQuotientsSafe(function);
      pairRoundings(function);
      joinHalvesOfProducts(function);
    }
  }
}

/// The end of the line in front of the kernel's body, or npos.
size_t bodyOf(const std::string &text, const llvm::Function &kernel) {
  const size_t head = text.find(".entry " + kernel.getName().str() + "(");
  return head == std::string::npos ? head : text.find("\n{\n", head);
}

/// LLVM 19 has no text for the attribute, which later ones write like this.
void addClusterSize(std::string &text, const llvm::Function &kernel) {
  if (const size_t body = bodyOf(text, kernel); body != std::string::npos) {
    text.insert(body, "\n.explicitcluster\n.reqnctapercluster " +
                          kernel.getFnAttribute(clusterAttribute).getValueAsString().str());
  }
}

/// Of a kernel that begins with a wait for the grids before it.
constexpr const char *waitAttribute = "nereid.waits";

/// Into the text: an instruction that is known to LLVM as inline assembly would stand behind loads
/// of memory that nobody writes, which wait for nothing.
void addWait(std::string &text, const llvm::Function &kernel) {
  const size_t body = bodyOf(text, kernel);
  if (body == std::string::npos) {
    return;
  }
  size_t line = body + 3;
  while (text.compare(line, 2, "\t.") == 0) { // declarations
    line = text.find('\n', line) + 1;
  }
  text.insert(line, "\tgriddepcontrol.wait;\n");
}

/// What costs a tenth to a fifth of a product's compilation and changes nothing: addresses are sums
/// of few terms already, and vectors of memory are chosen by layouts.
constexpr const char *disabledPasses[] = {"slsr", "nary-reassociate", "load-store-vectorizer"};

} // namespace

struct PtxGenerator::State {
  NvidiaMachine machine;
  std::unique_ptr<llvm::TargetMachine> target;
  codegen::Emitter emitter;

  explicit State(NvidiaMachine given)
      : machine(std::move(given)), target(createTargetMachine(machine)),
        emitter(*target, {disabledPasses, {}}) {}
};

PtxGenerator::PtxGenerator(NvidiaMachine machine)
    : state(std::make_unique<State>(std::move(machine))) {}
PtxGenerator::~PtxGenerator() = default;

std::unique_ptr<pipeline::CodeModule>
PtxGenerator::translate(mlir::ModuleOp module, const LaunchBounds &bounds, Diagnostics &diags) {
  auto code = codegen::translateModule(module, *state->target, diags);
  if (!code) {
    return nullptr;
  }
  for (llvm::Function &function : *code->module) {
    if (!function.isDeclaration()) {
      annotate(*code->module, &function, "kernel", 1);
      annotate(*code->module, &function, "reqntidx", bounds.threads);
      if (bounds.mostRegisters != 0) {
        annotate(*code->module, &function, "maxnreg", bounds.mostRegisters);
      }
      if (bounds.blocks > 1) {
        function.addFnAttr(clusterAttribute, std::to_string(bounds.blocks) + ",1,1");
      }
      if (bounds.waits) {
        function.addFnAttr(waitAttribute);
      }
    }
  }
  optimize(*code->module, *state->target);
  return code;
}

std::unique_ptr<pipeline::CodeModule>
PtxGenerator::parse(std::string_view text, const std::string &path, Diagnostics &diags) {
  return codegen::parseModule(text, path, *state->target, diags);
}

std::string PtxGenerator::refusalOf(const pipeline::CodeModule &code) const {
  const auto found = findIllegalCode(*static_cast<const codegen::LlvmModule &>(code).module,
                                     state->machine.capability);
  return found ? "no code can be made for " + state->machine.name + " of " + found->what + ": " +
                     found->why
               : "";
}

bool PtxGenerator::emitPtx(pipeline::CodeModule &code, std::string &text, Diagnostics &diags) {
  const auto *bytes = state->emitter.emit(*static_cast<codegen::LlvmModule &>(code).module,
                                          llvm::CodeGenFileType::AssemblyFile);
  if (!bytes) {
    diags.add(makeError("E0390", "the code generator cannot write PTX")
                  .withHelp("this is a bug in nereid; please report it"));
    return false;
  }
  text.assign(bytes->begin(), bytes->end());
  for (const llvm::Function &function : *static_cast<codegen::LlvmModule &>(code).module) {
    if (function.hasFnAttribute(clusterAttribute)) {
      addClusterSize(text, function);
    }
    if (function.hasFnAttribute(waitAttribute)) {
      addWait(text, function);
    }
  }
  return true;
}

} // namespace nereid::nvidia
