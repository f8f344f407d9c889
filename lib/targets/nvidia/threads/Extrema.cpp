// SPDX-License-Identifier: Apache-2.0
#include "lib/targets/nvidia/threads/Extrema.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;

namespace nereid::nvidia {

Value extremumOfNumbers(ThreadCode &code, Extremum extremum, Value left, Value right) {
  OpBuilder &b = code.builder;
  const Type type = left.getType();
  // Exact for narrow types, whose own instructions LLVM lacks on some chips.
  const bool isNarrow = type.getIntOrFloatBitWidth() < 32;
  if (isNarrow) {
    left = b.create<arith::ExtFOp>(code.loc, b.getF32Type(), left);
    right = b.create<arith::ExtFOp>(code.loc, b.getF32Type(), right);
  }
  Value chosen = extremum == Extremum::Max
                     ? b.create<LLVM::MaxNumOp>(code.loc, left, right).getResult()
                     : b.create<LLVM::MinNumOp>(code.loc, left, right).getResult();
  return isNarrow ? b.create<arith::TruncFOp>(code.loc, type, chosen) : chosen;
}

} // namespace nereid::nvidia
