// SPDX-License-Identifier: Apache-2.0
// Preconditions of the operations that touch memory or are one target's own, as in TileVerify.cpp.
#include "lib/tile/ir/Tile.h"

using mlir::LogicalResult;
using mlir::success;
using mlir::Type;

namespace nereid::tile {

static bool isPointer(Type type) { return mlir::isa<PtrType>(elementTypeOf(type)); }

static LogicalResult verifyMask(mlir::Operation *op, Type pointer, mlir::Value mask) {
  Type expected = withElementType(pointer, mlir::IntegerType::get(op->getContext(), 1));
  if (mask && mask.getType() != expected) {
    return op->emitOpError() << "expects mask " << expected << ", but got " << mask.getType();
  }
  return success();
}

LogicalResult LoadOp::verify() {
  Type pointer = getPointer().getType();
  if (!isPointer(pointer)) { // load_c5
    return emitOpError() << "expects addresses, but got " << pointer;
  }
  Type expected =
      withElementType(pointer, mlir::cast<PtrType>(elementTypeOf(pointer)).getPointee());
  if (getResult().getType() != expected) { // load_c1
    return emitOpError() << "expects result " << expected << ", but got " << getResult().getType();
  }
  if (failed(verifyMask(*this, pointer, getMask()))) { // load_c2
    return mlir::failure();
  }
  if (getOther() && getOther().getType() != expected) { // load_c3
    return emitOpError() << "expects 'other' of the result's type " << expected << ", but got "
                         << getOther().getType();
  }
  if (getOther() && !getMask()) { // load_c4
    return emitOpError() << "expects a mask beside 'other', but got none";
  }
  return success();
}

LogicalResult StoreOp::verify() {
  Type pointer = getPointer().getType();
  if (!isPointer(pointer)) { // store_c3
    return emitOpError() << "expects addresses, but got " << pointer;
  }
  Type expected =
      withElementType(pointer, mlir::cast<PtrType>(elementTypeOf(pointer)).getPointee());
  if (getValue().getType() != expected) { // store_c1
    return emitOpError() << "expects value " << expected << ", but got " << getValue().getType();
  }
  return verifyMask(*this, pointer, getMask()); // store_c2
}

/// The value has the pointer's shape and pointee type.
static LogicalResult verifyPointee(mlir::Operation *op, Type pointer, Type value) {
  if (!isPointer(pointer)) {
    return op->emitOpError() << "expects addresses, but got " << pointer;
  }
  Type pointee = mlir::cast<PtrType>(elementTypeOf(pointer)).getPointee();
  if (value != withElementType(pointer, pointee)) {
    return op->emitOpError() << "expects a value of type " << withElementType(pointer, pointee)
                             << ", but got " << value;
  }
  return success();
}

static bool isFloatKind(AtomicKind kind) {
  return kind == AtomicKind::FAdd || kind == AtomicKind::FMax || kind == AtomicKind::FMin;
}

bool fitsElements(AtomicKind kind, Type element) {
  return kind == AtomicKind::Exchange || isFloatKind(kind) == mlir::isa<mlir::FloatType>(element);
}

LogicalResult AtomicRMWOp::verify() {
  Type pointer = getPointer().getType();
  if (failed(verifyPointee(*this, pointer, getValue().getType()))) { // atomic_rmw_c1, c3
    return mlir::failure();
  }
  if (failed(verifyMask(*this, pointer, getMask()))) { // atomic_rmw_c2
    return mlir::failure();
  }
  AtomicKind kind = getKind();
  if (!fitsElements(kind, elementTypeOf(getValue().getType()))) { // atomic_rmw_c4
    return emitOpError() << "expects " << (isFloatKind(kind) ? "floats" : "integers") << " for "
                         << stringifyAtomicKind(kind) << ", but got " << getValue().getType();
  }
  return success();
}

LogicalResult AtomicCASOp::verify() {
  return verifyPointee(*this, getPointer().getType(), getValue().getType());
} // atomic_cas_c1, c2

LogicalResult InlineAsmOp::verify() {
  if (getResults().empty()) { // inline_asm_c1
    return emitOpError() << "expects at least one result, but got none";
  }
  Type first = getResults().front().getType();
  for (Type type : llvm::concat<const Type>(llvm::to_vector(getOperandTypes()),
                                            llvm::to_vector(getResultTypes()))) {
    if (!haveSameShape(type, first)) { // inline_asm_c2
      return emitOpError() << "expects operands and results of one shape, but got " << first
                           << " and " << type;
    }
  }
  if (static_cast<int32_t>(getPack()) < 1) { // inline_asm_c3
    return emitOpError() << "expects pack >= 1, but got " << static_cast<int32_t>(getPack());
  }
  return success();
}

} // namespace nereid::tile
