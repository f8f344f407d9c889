// SPDX-License-Identifier: Apache-2.0
// Holds the LLVM target machine and says what of LLVM's code generator runs on it. Contraction of
// multiply and add is allowed everywhere, as the kernel language allows it.
#include "lib/targets/cpu/codegen/Codegen.h"

#include "lib/llvm/Emission.h"
#include "lib/llvm/LlvmModule.h"
#include "lib/targets/cpu/codegen/ElementConversions.h"
#include "lib/targets/cpu/codegen/FloatAtomics.h"
#include "lib/targets/cpu/codegen/LargeBlocks.h"
#include "lib/targets/cpu/codegen/ScalarOptimizations.h"
#include "lib/targets/cpu/codegen/SharedObjects.h"
#include "lib/targets/cpu/codegen/ShortFactors.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"

#include <algorithm>
#include <mutex>

namespace nereid::cpu {
namespace {

/// Only the asked one: a start of the program should not pay for the others' tables.
void initializeTarget(Architecture architecture) {
  static std::once_flag x86, aarch64, riscv64;
  switch (architecture) {
  case Architecture::X86:
    return std::call_once(x86, [] {
      LLVMInitializeX86TargetInfo();
      LLVMInitializeX86Target();
      LLVMInitializeX86TargetMC();
      LLVMInitializeX86AsmPrinter();
      LLVMInitializeX86AsmParser();
    });
  case Architecture::Aarch64:
    return std::call_once(aarch64, [] {
      LLVMInitializeAArch64TargetInfo();
      LLVMInitializeAArch64Target();
      LLVMInitializeAArch64TargetMC();
      LLVMInitializeAArch64AsmPrinter();
    });
  case Architecture::Riscv64:
    return std::call_once(riscv64, [] {
      LLVMInitializeRISCVTargetInfo();
      LLVMInitializeRISCVTarget();
      LLVMInitializeRISCVTargetMC();
      LLVMInitializeRISCVAsmPrinter();
    });
  }
}

/// Passes that took half of the code generator's time and made no kernel of kernels/ faster: the
/// lowering has reduced addresses itself, the processors schedule out of order, and masks are
/// computed where they are used. Hoisting constants out of loops, in contrast, makes exponentials
/// twice as fast (docs/notes/2026-11-cpu-limit-rows.md).
constexpr const char *disabledPasses[] = {"canon-freeze",      "loop-reduce",
                                          "machine-scheduler", "post-RA-sched",
                                          "postmisched",       "x86-domain-reassignment"};

constexpr codegen::LlvmOption llvmOptions[] = {
    // How far register allocation looks for a region to split a value around.
    {"grow-region-complexity-budget", 1},
    // Preparing for instruction selection starts over at the first block whenever it splits one,
    // unless the function counts as huge: quadratic from a few hundred blocks on.
    {"cgpp-huge-func", 64},
};

std::unique_ptr<llvm::TargetMachine> createTargetMachine(const CpuMachine &machine) {
  initializeTarget(machine.instructionSet);
  std::string error;
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(machine.triple, error);
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Fast;
  if (machine.instructionSet == Architecture::Riscv64) {
    options.MCOptions.ABIName = "lp64d";
  }
  return std::unique_ptr<llvm::TargetMachine>(target->createTargetMachine(
      machine.triple, machine.processor, machine.featureText(), options, llvm::Reloc::PIC_,
      llvm::CodeModel::Small, llvm::CodeGenOptLevel::Less, /*JIT=*/true));
}

Diagnostic internalError(const std::string &message) {
  return makeError("E0390", message).withHelp("this is a bug in nereid; please report it");
}

/// Symbols that the runtime's loader resolves; everything else must be inline code.
bool isProvidedByRuntime(const std::string &symbol) {
  static const char *const names[] = {"memcpy", "memset", "memmove", "fmod", "fmodf"};
  return symbol.rfind("nereid_rt_", 0) == 0 ||
         std::find(std::begin(names), std::end(names), symbol) != std::end(names);
}

} // namespace

struct CodeGenerator::State {
  CpuMachine machine;
  std::unique_ptr<llvm::TargetMachine> target;
  codegen::Emitter emitter;

  explicit State(const CpuMachine &machine)
      : machine(machine), target(createTargetMachine(machine)),
        emitter(*target, {disabledPasses, llvmOptions}) {}

  /// See Emitter::emit.
  const llvm::SmallVectorImpl<char> *emit(llvm::Module &module, llvm::CodeGenFileType type) {
    if (!machine.hasFloatAtomics) {
      expandFloatAtomics(module);
    }
    if (machine.instructionSet == Architecture::Riscv64) {
      leaveSplatsInLargeBlocks(module, machine.featureText(), /*most=*/2000);
    }
    if (machine.instructionSet == Architecture::X86 && machine.vectorBytes >= 32) {
      multiplyShortFactors(module, static_cast<unsigned>(machine.vectorBytes));
    }
    return emitter.emit(module, type);
  }
};

CodeGenerator::CodeGenerator(CpuMachine machine) : state(std::make_unique<State>(machine)) {}

CodeGenerator::~CodeGenerator() = default;

const CpuMachine &CodeGenerator::machine() const { return state->machine; }

std::unique_ptr<pipeline::CodeModule> CodeGenerator::translate(mlir::ModuleOp module,
                                                               Diagnostics &diags) {
  auto code = codegen::translateModule(module, *state->target, diags);
  if (!code) {
    return nullptr;
  }
  std::string vectorBits = std::to_string(8 * state->machine.vectorBytes);
  for (llvm::Function &function : *code->module) {
    if (function.isDeclaration()) {
      continue;
    }
    function.addFnAttr(llvm::Attribute::NoUnwind);
    function.addFnAttr("prefer-vector-width", vectorBits);
    function.addFnAttr("min-legal-vector-width", vectorBits);
    if (state->machine.minimumVectorBits >= 256) {
      // The longest that the architectures allow: 2048 bits of SVE, 65536 of V.
      bool isSve = state->machine.instructionSet == Architecture::Aarch64;
      unsigned bitsOfUnit = isSve ? 128 : 64, longest = isSve ? 16 : 1024;
      unsigned least = static_cast<unsigned>(state->machine.minimumVectorBits) / bitsOfUnit;
      function.addFnAttr(llvm::Attribute::getWithVScaleRangeArgs(*code->context, least, longest));
    }
    if (!state->machine.tuneFor.empty()) {
      function.addFnAttr("tune-cpu", state->machine.tuneFor);
    }
  }
  runScalarOptimizations(*code->module, *state->target);
  if (!state->machine.hasVectorTruncation) {
    truncateElementByElement(*code->module);
  }
  if (!state->machine.roundsWideIntegersOnce) {
    roundWideIntegersElementByElement(*code->module);
  }
  return code;
}

std::unique_ptr<pipeline::CodeModule>
CodeGenerator::parse(std::string_view text, const std::string &path, Diagnostics &diags) {
  return codegen::parseModule(text, path, *state->target, diags);
}

bool CodeGenerator::emitObject(pipeline::CodeModule &code, std::vector<uint8_t> &object,
                               Diagnostics &diags) {
  auto &llvmCode = static_cast<codegen::LlvmModule &>(code);
  const CpuMachine &machine = state->machine;
  const std::string key =
      keyOfCode(llvmCode, machine.targetName + machine.tuneFor + machine.featureText());
  if (auto known = key.empty() ? std::nullopt : findObject(key)) {
    object = std::move(*known);
    return true;
  }
  const auto *bytes = state->emit(*llvmCode.module, llvm::CodeGenFileType::ObjectFile);
  if (!bytes) {
    diags.add(internalError("the code generator cannot write an object file"));
    return false;
  }
  object.assign(bytes->begin(), bytes->end());
  for (const std::string &symbol : undefinedSymbols(object)) {
    if (!isProvidedByRuntime(symbol)) {
      diags.add(internalError("generated code calls '" + symbol +
                              "', which the runtime does not provide"));
      return false;
    }
  }
  if (!key.empty()) {
    keepObject(key, object);
  }
  return true;
}

bool CodeGenerator::assemble(std::string_view text, std::vector<uint8_t> &object,
                             Diagnostics &diags) {
  const std::string whole =
      "target triple = \"" + state->machine.triple + "\"\n" + std::string(text);
  auto code = parse(whole, "launcher", diags);
  const auto *bytes = code ? state->emit(*static_cast<codegen::LlvmModule &>(*code).module,
                                         llvm::CodeGenFileType::ObjectFile)
                           : nullptr;
  if (!bytes) {
    diags.add(internalError("the code generator cannot write a launcher"));
    return false;
  }
  object.assign(bytes->begin(), bytes->end());
  return true;
}

bool CodeGenerator::emitAssembly(pipeline::CodeModule &code, std::string &text,
                                 Diagnostics &diags) {
  const auto *bytes = state->emit(*static_cast<codegen::LlvmModule &>(code).module,
                                  llvm::CodeGenFileType::AssemblyFile);
  if (!bytes) {
    diags.add(internalError("the code generator cannot write assembly"));
    return false;
  }
  text.assign(bytes->begin(), bytes->end());
  return true;
}

} // namespace nereid::cpu
