// SPDX-License-Identifier: Apache-2.0
#include "lib/llvm/LlvmModule.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/Metadata.h"
#include "llvm/IR/Verifier.h"
#include "llvm/IRReader/IRReader.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"

namespace nereid::codegen {

static constexpr const char *kernelInfoName = "nereid.kernel";

std::string LlvmModule::text() const {
  std::string result;
  llvm::raw_string_ostream stream(result);
  module->print(stream, nullptr);
  return result;
}

std::string LlvmModule::kernelInfo() const {
  const llvm::NamedMDNode *node = module->getNamedMetadata(kernelInfoName);
  if (!node || node->getNumOperands() != 1 || node->getOperand(0)->getNumOperands() != 1) {
    return "";
  }
  auto *text = llvm::dyn_cast<llvm::MDString>(node->getOperand(0)->getOperand(0));
  return text ? text->getString().str() : "";
}

void LlvmModule::attachKernelInfo(const std::string &text) {
  llvm::NamedMDNode *node = module->getOrInsertNamedMetadata(kernelInfoName);
  node->clearOperands();
  node->addOperand(llvm::MDNode::get(*context, llvm::MDString::get(*context, text)));
}

std::unique_ptr<LlvmModule>
translateModule(mlir::ModuleOp module, const llvm::TargetMachine &machine, Diagnostics &diags) {
  auto code = std::make_unique<LlvmModule>();
  code->context = std::make_unique<llvm::LLVMContext>();
  code->module = mlir::translateModuleToLLVMIR(module, *code->context, "nereid",
                                               /*disableVerification=*/true);
  if (!code->module) {
    diags.add(makeError("E0390", "the LLVM dialect module cannot be translated to LLVM IR")
                  .withHelp("this is a bug in nereid; please report it"));
    return nullptr;
  }
  code->module->setTargetTriple(machine.getTargetTriple().str());
  code->module->setDataLayout(machine.createDataLayout());
  return code;
}

std::unique_ptr<LlvmModule> parseModule(std::string_view text, const std::string &path,
                                        const llvm::TargetMachine &machine, Diagnostics &diags) {
  auto code = std::make_unique<LlvmModule>();
  code->context = std::make_unique<llvm::LLVMContext>();
  llvm::SMDiagnostic problem;
  // The IR reader wants a terminating zero behind the text.
  std::unique_ptr<llvm::MemoryBuffer> buffer =
      llvm::MemoryBuffer::getMemBufferCopy(llvm::StringRef(text.data(), text.size()), path);
  code->module = llvm::parseIR(buffer->getMemBufferRef(), problem, *code->context);
  if (!code->module) {
    SourceRange range{problem.getLineNo(), problem.getColumnNo() + 1, problem.getColumnNo() + 2};
    diags.add(makeError("E0391", "cannot read LLVM IR: " + problem.getMessage().str())
                  .at(path, text, range));
    return nullptr;
  }
  std::string reason;
  llvm::raw_string_ostream stream(reason);
  if (llvm::verifyModule(*code->module, &stream)) {
    diags.add(makeError("E0391", "invalid LLVM IR: " + reason).at(path, text, {}));
    return nullptr;
  }
  const std::string triple = machine.getTargetTriple().str();
  if (code->module->getTargetTriple() != triple) {
    diags.add(makeError("E0391", "the module is for '" + code->module->getTargetTriple() +
                                     "', but the target is '" + triple + "'")
                  .at(path, text, {})
                  .withHelp("compile it again from an earlier phase with this --target"));
    return nullptr;
  }
  code->module->setDataLayout(machine.createDataLayout());
  return code;
}

} // namespace nereid::codegen
