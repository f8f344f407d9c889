// SPDX-License-Identifier: Apache-2.0
// What a thread's code takes from the module: texts, global memory, functions of the driver.
#include "lib/targets/nvidia/threads/ThreadCode.h"

#include <fmt/format.h>

using namespace mlir;

namespace nereid::nvidia {

static LLVM::GlobalOp makeGlobal(OpBuilder &from, Location loc, StringRef name, Type type,
                                 bool isConstant, Attribute value) {
  auto module = from.getInsertionBlock()->getParentOp()->getParentOfType<ModuleOp>();
  OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
  return builder.create<LLVM::GlobalOp>(
      loc, type, isConstant, isConstant ? LLVM::Linkage::Internal : LLVM::Linkage::External, name,
      value, /*alignment=*/isConstant ? 1 : 16, unsigned(Space::Global));
}

Value ThreadCode::text(const std::string &content) {
  Type pointer = LLVM::LLVMPointerType::get(builder.getContext(), unsigned(Space::Global));
  auto module = builder.getInsertionBlock()->getParentOp()->getParentOfType<ModuleOp>();
  unsigned number = 0;
  std::string name;
  do {
    name = fmt::format("nereid_text_{}", number++);
  } while (module.lookupSymbol(name));
  Type type =
      LLVM::LLVMArrayType::get(builder.getI8Type(), static_cast<unsigned>(content.size() + 1));
  makeGlobal(builder, loc, name, type, /*isConstant=*/true,
             builder.getStringAttr(std::string_view(content.c_str(), content.size() + 1)));
  Value address = builder.create<LLVM::AddressOfOp>(loc, pointer, name);
  return builder.create<LLVM::AddrSpaceCastOp>(
      loc, LLVM::LLVMPointerType::get(builder.getContext()), address);
}

Value ThreadCode::global(StringRef name, int64_t bytes) {
  auto module = builder.getInsertionBlock()->getParentOp()->getParentOfType<ModuleOp>();
  if (!module.lookupSymbol(name)) {
    Type type = LLVM::LLVMArrayType::get(builder.getI32Type(), static_cast<unsigned>(bytes / 4));
    auto made = makeGlobal(builder, loc, name, type, /*isConstant=*/false, Attribute());
    OpBuilder inside = OpBuilder::atBlockBegin(&made.getInitializerRegion().emplaceBlock());
    Value zero = inside.create<LLVM::ZeroOp>(loc, type);
    inside.create<LLVM::ReturnOp>(loc, zero);
  }
  Type pointer = LLVM::LLVMPointerType::get(builder.getContext(), unsigned(Space::Global));
  return builder.create<LLVM::AddressOfOp>(loc, pointer, name);
}

void ThreadCode::callExternal(StringRef name, Type result, ValueRange operands) {
  auto module = builder.getInsertionBlock()->getParentOp()->getParentOfType<ModuleOp>();
  auto type = LLVM::LLVMFunctionType::get(result, llvm::to_vector(operands.getTypes()));
  if (!module.lookupSymbol(name)) {
    OpBuilder top = OpBuilder::atBlockBegin(module.getBody());
    top.create<LLVM::LLVMFuncOp>(loc, name, type);
  }
  builder.create<LLVM::CallOp>(loc, type, name, operands);
}

Value ThreadCode::local(Type type) {
  // At the function's entry, so that a loop does not need more at each turn.
  auto function = builder.getInsertionBlock()->getParentOp()->getParentOfType<func::FuncOp>();
  if (!function) {
    function = cast<func::FuncOp>(builder.getInsertionBlock()->getParentOp());
  }
  OpBuilder entry = OpBuilder::atBlockBegin(&function.getBody().front());
  Value one = entry.create<arith::ConstantIntOp>(loc, 1, 32);
  return entry.create<LLVM::AllocaOp>(loc, LLVM::LLVMPointerType::get(builder.getContext()), type,
                                      one, /*alignment=*/8);
}

} // namespace nereid::nvidia
