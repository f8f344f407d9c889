// SPDX-License-Identifier: Apache-2.0
// Generated definitions of the operations, and what each of them does to memory. Preconditions are
// checked in TileVerify.cpp, folded in TileFold.cpp and rewritten in TileCanonicalize.cpp.
#include "lib/tile/ir/Tile.h"

#define GET_OP_CLASSES
#include "lib/tile/ir/TileOps.cpp.inc"

namespace nereid::tile {

llvm::ArrayRef<int64_t> shapeOf(mlir::Type type) {
  if (auto tensor = mlir::dyn_cast<mlir::RankedTensorType>(type)) {
    return tensor.getShape();
  }
  return {};
}

bool haveSameShape(mlir::Type left, mlir::Type right) {
  bool leftIsTile = mlir::isa<mlir::RankedTensorType>(left);
  bool rightIsTile = mlir::isa<mlir::RankedTensorType>(right);
  return leftIsTile == rightIsTile && shapeOf(left) == shapeOf(right);
}

bool isNumberType(mlir::Type type) {
  if (type.isSignlessInteger()) {
    unsigned width = type.getIntOrFloatBitWidth();
    return width == 1 || width == 8 || width == 16 || width == 32 || width == 64;
  }
  return type.isF16() || type.isBF16() || type.isF32() || type.isF64() || isFloat8(type);
}

bool isFloat8(mlir::Type type) {
  return type.isFloat8E4M3FN() || type.isFloat8E5M2() || type.isFloat8E4M3FNUZ() ||
         type.isFloat8E5M2FNUZ();
}

mlir::Type withElementType(mlir::Type type, mlir::Type element) {
  if (auto tensor = mlir::dyn_cast<mlir::RankedTensorType>(type)) {
    return mlir::RankedTensorType::get(tensor.getShape(), element);
  }
  return element;
}

using Effects =
    llvm::SmallVectorImpl<mlir::SideEffects::EffectInstance<mlir::MemoryEffects::Effect>>;

void LoadOp::getEffects(Effects &effects) {
  effects.emplace_back(mlir::MemoryEffects::Read::get(), &getPointerMutable());
  if (getIsVolatile()) {
    // A volatile read may not be merged with another, moved or dropped.
    effects.emplace_back(mlir::MemoryEffects::Write::get(), &getPointerMutable());
  }
}

/// What other program instances wrote or wait for: neither merged nor moved nor dropped.
static void addAtomicEffects(Effects &effects, mlir::OpOperand &pointer) {
  effects.emplace_back(mlir::MemoryEffects::Read::get(), &pointer);
  effects.emplace_back(mlir::MemoryEffects::Write::get(), &pointer);
}

void AtomicRMWOp::getEffects(Effects &effects) { addAtomicEffects(effects, getPointerMutable()); }

void AtomicCASOp::getEffects(Effects &effects) { addAtomicEffects(effects, getPointerMutable()); }

void InlineAsmOp::getEffects(Effects &effects) {
  if (!getIsPure()) {
    effects.emplace_back(mlir::MemoryEffects::Write::get());
  }
}

/// The implicit terminator of an empty combining region; the verifier then asks for values.
void CombineReturnOp::build(mlir::OpBuilder &, mlir::OperationState &) {}

void StoreOp::getEffects(Effects &effects) {
  effects.emplace_back(mlir::MemoryEffects::Write::get(), &getPointerMutable());
}

} // namespace nereid::tile
