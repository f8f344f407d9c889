// SPDX-License-Identifier: Apache-2.0
#include "lib/targets/cpu/lower/block/RuntimeCalls.h"

using namespace mlir;

namespace nereid::cpu {

void callRuntime(KernelState &kernel, OpBuilder &b, Location loc, StringRef name,
                 ValueRange arguments) {
  auto module = kernel.target->getParentOfType<ModuleOp>();
  auto function = module.lookupSymbol<LLVM::LLVMFuncOp>(name);
  if (!function) {
    SmallVector<Type> types(arguments.getTypes());
    auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(b.getContext()), types);
    OpBuilder top = OpBuilder::atBlockBegin(module.getBody());
    function = top.create<LLVM::LLVMFuncOp>(loc, name, type);
  }
  b.create<LLVM::CallOp>(loc, function, arguments);
}

Value textAddress(KernelState &kernel, OpBuilder &b, StringRef text, Location loc) {
  auto module = kernel.target->getParentOfType<ModuleOp>();
  OpBuilder top = OpBuilder::atBlockBegin(module.getBody());
  std::string zeroEnded = text.str() + '\0';
  auto type = LLVM::LLVMArrayType::get(top.getI8Type(), zeroEnded.size());
  std::string name =
      "nereid_text_" + kernel.target.getName().str() + "_" + std::to_string(kernel.stringCount++);
  auto global = top.create<LLVM::GlobalOp>(loc, type, /*isConstant=*/true, LLVM::Linkage::Internal,
                                           name, top.getStringAttr(zeroEnded));
  return b.create<LLVM::AddressOfOp>(loc, global);
}

} // namespace nereid::cpu
