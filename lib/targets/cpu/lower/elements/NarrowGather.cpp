// SPDX-License-Identifier: Apache-2.0
#include "lib/targets/cpu/lower/elements/NarrowGather.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;

namespace nereid::cpu {

Value gatherOfWords(OpBuilder &builder, Location loc, Value addresses, Value lanes,
                    Value passThrough, VectorType type) {
  auto ofWidth = [&](unsigned bits) { return type.clone(builder.getIntegerType(bits)); };
  auto constant = [&](Type of, int64_t value) {
    return builder.create<arith::ConstantOp>(
        loc, DenseElementsAttr::get(
                 cast<VectorType>(of),
                 builder.getIntegerAttr(cast<VectorType>(of).getElementType(), value)));
  };
  const Type i64 = ofWidth(64), i32 = ofWidth(32);
  Value bytes = builder.create<LLVM::PtrToIntOp>(loc, i64, addresses);
  Value within = builder.create<arith::AndIOp>(loc, bytes, constant(i64, 3));
  Value aligned = builder.create<LLVM::IntToPtrOp>(
      loc, addresses.getType(), builder.create<arith::SubIOp>(loc, bytes, within));
  Value words = builder.create<LLVM::masked_gather>(loc, i32, aligned, lanes,
                                                    ValueRange{constant(i32, 0)}, 4);
  Value shift = builder.create<arith::ShLIOp>(
      loc, builder.create<arith::TruncIOp>(loc, i32, within), constant(i32, 3));
  Value bits = builder.create<arith::TruncIOp>(loc, ofWidth(type.getElementTypeBitWidth()),
                                               builder.create<arith::ShRUIOp>(loc, words, shift));
  if (!isa<IntegerType>(type.getElementType())) {
    bits = builder.create<arith::BitcastOp>(loc, type, bits);
  }
  return builder.create<arith::SelectOp>(loc, lanes, bits, passThrough);
}

} // namespace nereid::cpu
