// SPDX-License-Identifier: Apache-2.0
#include "lib/targets/cpu/VerifyLlvm.h"

#include "llvm/ADT/STLExtras.h"

namespace nereid::cpu {

Status verifyLlvm(const codegen::LlvmModule &code, const std::string &kernel) {
  const llvm::Function *entry = code.module->getFunction(kernel);
  if (!entry || entry->isDeclaration()) {
    return makeError("E0391", "the module does not define the function '" + kernel +
                                  "', which its metadata '!nereid.kernel' describes");
  }
  const llvm::FunctionType *type = entry->getFunctionType();
  const bool isEntry = type->getReturnType()->isVoidTy() && type->getNumParams() == 4 &&
                       llvm::all_of(type->params(), [](const llvm::Type *parameter) {
                         return parameter->isPointerTy();
                       });
  if (!isEntry || type->isVarArg()) {
    return makeError("E0391", "the function '" + kernel +
                                  "' is no entry of a kernel: it expects four pointers (slots, id, "
                                  "count and scratch) and returns nothing");
  }
  return Done{};
}

} // namespace nereid::cpu
