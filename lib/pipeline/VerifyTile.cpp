// SPDX-License-Identifier: Apache-2.0
// What every target and the launch rely on in tile IR and its own verifiers do not ask for: they
// know operations, and this is about the kernel as a whole.
#include "lib/pipeline/Phases.h"
#include "lib/pipeline/kernel/KernelFunction.h"
#include "lib/tile/ir/Tile.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace nereid::pipeline {
namespace {

bool isNumber(mlir::Type type) {
  if (auto integer = mlir::dyn_cast<mlir::IntegerType>(type)) {
    const unsigned width = integer.getWidth();
    return integer.isSignless() &&
           (width == 1 || width == 8 || width == 16 || width == 32 || width == 64);
  }
  return type.isF16() || type.isBF16() || type.isF32() || type.isF64();
}

bool isArgument(mlir::Type type) {
  auto pointer = mlir::dyn_cast<tile::PtrType>(type);
  if (!pointer) {
    return isNumber(type);
  }
  mlir::Type element = pointer.getPointee();
  return isNumber(element) ||
         (mlir::isa<mlir::FloatType>(element) && element.getIntOrFloatBitWidth() == 8);
}

/// One dictionary for each argument.
bool isDescription(mlir::Attribute attribute, unsigned arguments) {
  auto entries = mlir::dyn_cast_or_null<mlir::ArrayAttr>(attribute);
  return entries && entries.size() == arguments &&
         llvm::all_of(entries, llvm::IsaPred<mlir::DictionaryAttr>);
}

} // namespace

bool verifyTile(CompileState &state) {
  mlir::Operation *kernel = kernelFunctions(*state.module).front();
  auto function = mlir::dyn_cast<mlir::func::FuncOp>(kernel);
  if (!function || function.isExternal() || !function.getBody().hasOneBlock() ||
      function.getNumResults() != 0) {
    kernel->emitError("a kernel of tile IR is a 'func.func' with a body of one block and without "
                      "results");
    return false;
  }
  for (auto [i, type] : llvm::enumerate(function.getArgumentTypes())) {
    if (!isArgument(type)) {
      kernel->emitError("argument ")
          << i << " of the kernel expects a number of 1 to 64 bits or a !tile.ptr to numbers, but "
          << "got " << type;
      return false;
    }
  }
  if (!isDescription(kernel->getAttr("nereid.arguments"), function.getNumArguments())) {
    kernel->emitError("the attribute 'nereid.arguments' expects one dictionary for each of the ")
        << function.getNumArguments() << " arguments; without the attribute they are described by "
        << "their types";
    return false;
  }
  return true;
}

} // namespace nereid::pipeline
