// SPDX-License-Identifier: Apache-2.0
#include "unittests/llvm/Machines.h"

#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IRReader/IRReader.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"

#include <gtest/gtest.h>

namespace nereid::codegen::test {

unsigned optionValue(const char *name) {
  llvm::cl::Option *known = llvm::cl::getRegisteredOptions().lookup(name);
  return static_cast<llvm::cl::opt<unsigned> *>(known)->getValue();
}

std::string x86Assembly(const std::string &text, EmissionOptions options) {
  LLVMInitializeX86TargetInfo();
  LLVMInitializeX86Target();
  LLVMInitializeX86TargetMC();
  LLVMInitializeX86AsmPrinter();
  const char *triple = "x86_64-unknown-linux-gnu";
  std::string error;
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(triple, error);
  std::unique_ptr<llvm::TargetMachine> machine(
      target->createTargetMachine(triple, "skylake-avx512", "", {}, llvm::Reloc::PIC_,
                                  llvm::CodeModel::Small, llvm::CodeGenOptLevel::Less));
  llvm::LLVMContext context;
  llvm::SMDiagnostic problem;
  auto module = llvm::parseIR(llvm::MemoryBufferRef(text, "test"), problem, context);
  EXPECT_TRUE(module) << problem.getMessage().str();
  module->setTargetTriple(triple);
  module->setDataLayout(machine->createDataLayout());
  Emitter emitter(*machine, options);
  const auto *bytes = emitter.emit(*module, llvm::CodeGenFileType::AssemblyFile);
  return bytes ? std::string(bytes->begin(), bytes->end()) : std::string();
}

} // namespace nereid::codegen::test
