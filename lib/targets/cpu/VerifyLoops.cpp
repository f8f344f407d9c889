// SPDX-License-Identifier: Apache-2.0
#include "lib/targets/cpu/VerifyLoops.h"

#include "lib/pipeline/kernel/KernelFunction.h"
#include "lib/tile/ir/Attributes.h"
#include "lib/tile/ir/Tile.h"

#include "runtime/core/ProgramMemory.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
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
  auto scratch = kernel->getAttrOfType<IntegerAttr>(pipeline::scratchBytesAttribute);
  if (!kernel->getAttrOfType<ArrayAttr>("nereid.arguments") || !scratch) {
    return kernel.emitError(
        "after phase 'loops' a kernel has the attributes 'nereid.arguments' and "
        "'nereid.scratch_bytes', which say how it is launched");
  }
  constexpr auto most = static_cast<int64_t>(runtime::mostProgramBytes);
  if (!scratch.getType().isSignlessInteger(64) || scratch.getInt() < 0 || scratch.getInt() > most) {
    return kernel.emitError(
               "after phase 'loops' the attribute 'nereid.scratch_bytes' expects 0 to ")
           << most << " bytes of type i64, but got " << scratch;
  }
  return success();
}

/// One instruction each, or several that do not call.
bool isInstruction(Operation *op) {
  return isa<math::AbsFOp, math::AbsIOp, math::CopySignOp, math::FloorOp, math::CeilOp,
             math::TruncOp, math::RoundOp, math::RoundEvenOp, math::SqrtOp, math::FmaOp,
             math::CountLeadingZerosOp, math::CountTrailingZerosOp, math::CtPopOp>(op);
}

bool isNarrow(Type type) {
  auto number = dyn_cast<FloatType>(getElementTypeOrSelf(type));
  return number && number.getWidth() < 32;
}

/// Moves, bits and conversions from and to float16, which are instructions where they are left.
bool computesNarrow(Operation *op) {
  return isa_and_nonnull<arith::ArithDialect, math::MathDialect>(op->getDialect()) &&
         !isa<arith::ConstantOp, arith::SelectOp, arith::BitcastOp, arith::ExtFOp, arith::TruncFOp>(
             op) &&
         (llvm::any_of(op->getOperandTypes(), isNarrow) ||
          llvm::any_of(op->getResultTypes(), isNarrow));
}

LogicalResult verifyInstructions(Operation *op) {
  if (isa_and_nonnull<math::MathDialect>(op->getDialect()) && !isInstruction(op)) {
    return op->emitError() << "'" << op->getName()
                           << "' is a function, and none is left after phase 'loops-opt', which "
                              "computes them: start from phase 'loops'";
  }
  if (computesNarrow(op)) {
    return op->emitError() << "'" << op->getName()
                           << "' computes with floats of less than 32 bits, and phase 'loops-opt' "
                              "leaves no such arithmetic: start from phase 'loops'";
  }
  return success();
}

} // namespace

LogicalResult verifyLoopsOpt(ModuleOp module) {
  bool isRight = succeeded(verifyLoops(module));
  module.walk([&](Operation *op) { isRight &= succeeded(verifyInstructions(op)); });
  return success(isRight);
}

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
