// SPDX-License-Identifier: Apache-2.0
#include "lib/targets/cpu/VerifyLoops.h"

#include "lib/tile/ir/Attributes.h"
#include "lib/tile/ir/Tile.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;

namespace nereid::cpu {
namespace {

/// Of tiles, or a float that no instruction of a CPU computes with.
bool isForeign(Type type) {
  auto number = dyn_cast<FloatType>(getElementTypeOrSelf(type));
  return isa<TensorType, tile::PtrType, tile::DescriptorType>(type) ||
         (number && number.getWidth() > 64);
}

LogicalResult verifyOperation(Operation *op) {
  if (isa_and_nonnull<tile::TileDialect>(op->getDialect())) {
    return op->emitError() << "'" << op->getName()
                           << "' is an operation of tile IR, and none is left after phase 'loops'";
  }
  auto refuse = [&](Type type) {
    return op->emitError() << "'" << op->getName() << "' has a value of type " << type
                           << ", and only scalars, vectors and addresses are left after phase "
                              "'loops'";
  };
  for (Type type : op->getResultTypes()) {
    if (isForeign(type)) {
      return refuse(type);
    }
  }
  for (Region &region : op->getRegions()) {
    for (Block &block : region) {
      for (Type type : block.getArgumentTypes()) {
        if (isForeign(type)) {
          return refuse(type);
        }
      }
    }
  }
  return success();
}

LogicalResult verifyKernel(func::FuncOp kernel) {
  auto isAddress = [](Type type) { return isa<LLVM::LLVMPointerType>(type); };
  if (kernel.isExternal() || kernel.getNumArguments() != 4 || kernel.getNumResults() != 0 ||
      !llvm::all_of(kernel.getArgumentTypes(), isAddress)) {
    return kernel.emitError(
        "after phase 'loops' a kernel has a body, no results and four arguments "
        "of type !llvm.ptr: slots, id, count and scratch");
  }
  if (!kernel->getAttrOfType<ArrayAttr>("nereid.arguments") ||
      !kernel->getAttrOfType<IntegerAttr>("nereid.scratch_bytes")) {
    return kernel.emitError(
        "after phase 'loops' a kernel has the attributes 'nereid.arguments' and "
        "'nereid.scratch_bytes', which say how it is launched");
  }
  return success();
}

} // namespace

LogicalResult verifyLoops(ModuleOp module) {
  bool isRight = true;
  module.walk([&](Operation *op) { isRight &= succeeded(verifyOperation(op)); });
  for (Operation &op : module.getBody()->getOperations()) {
    if (!op.hasAttr(tile::attribute::kernel)) {
      continue;
    }
    auto kernel = dyn_cast<func::FuncOp>(op);
    if (!kernel) {
      op.emitError("after phase 'loops' a kernel is a 'func.func'");
    }
    isRight &= kernel && succeeded(verifyKernel(kernel));
  }
  return success(isRight);
}

} // namespace nereid::cpu
