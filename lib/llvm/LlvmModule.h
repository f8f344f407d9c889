// SPDX-License-Identifier: Apache-2.0
// LLVM IR with the context that it lives in and the kernel's description as metadata: the code of
// every target that goes through LLVM.
#pragma once

#include "lib/pipeline/Target.h"
#include "lib/support/Diagnostics.h"

#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"

#include <memory>
#include <string>
#include <string_view>

namespace llvm {
class TargetMachine;
}

namespace mlir {
class ModuleOp;
}

namespace nereid::codegen {

class LlvmModule final : public pipeline::CodeModule {
public:
  std::unique_ptr<llvm::LLVMContext> context;
  std::unique_ptr<llvm::Module> module;

  std::string text() const override;
  std::string kernelInfo() const override;
  void attachKernelInfo(const std::string &text) override;
};

/// A module in the LLVM dialect as LLVM IR, with the machine's triple and data layout. Null with
/// E0390.
std::unique_ptr<LlvmModule> translateModule(mlir::ModuleOp module,
                                            const llvm::TargetMachine &machine, Diagnostics &diags);

/// LLVM IR text, which `path` names in messages. Null with E0391 when it does not parse or verify
/// or is for another triple than the machine's.
std::unique_ptr<LlvmModule> parseModule(std::string_view text, const std::string &path,
                                        const llvm::TargetMachine &machine, Diagnostics &diags);

} // namespace nereid::codegen
