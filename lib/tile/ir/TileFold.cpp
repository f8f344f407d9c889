// SPDX-License-Identifier: Apache-2.0
// Folds: results that are one of the operands or a constant. A constant tile is always a splat, so
// that no fold ever makes an attribute as large as a tile.
#include "lib/tile/ir/Tile.h"

using mlir::Attribute;
using mlir::OpFoldResult;

namespace nereid::tile {

/// The constant splat `source` under the shape of `type`, or null.
static Attribute reshapedSplat(Attribute source, mlir::RankedTensorType type) {
  auto splat = mlir::dyn_cast_or_null<mlir::SplatElementsAttr>(source);
  return splat ? splat.resizeSplat(type) : nullptr;
}

OpFoldResult SplatOp::fold(FoldAdaptor adaptor) {
  Attribute value = adaptor.getSource();
  if (mlir::isa_and_nonnull<mlir::IntegerAttr, mlir::FloatAttr>(value)) {
    return mlir::DenseElementsAttr::get(getResult().getType(), value);
  }
  return {};
}

OpFoldResult UnsplatOp::fold(FoldAdaptor adaptor) {
  if (auto splat = mlir::dyn_cast_or_null<mlir::SplatElementsAttr>(adaptor.getSource())) {
    return splat.getSplatValue<Attribute>();
  }
  if (auto splat = getSource().getDefiningOp<SplatOp>()) {
    return splat.getSource();
  }
  return {};
}

OpFoldResult ExpandDimsOp::fold(FoldAdaptor adaptor) {
  return reshapedSplat(adaptor.getSource(), getResult().getType());
}

OpFoldResult BroadcastOp::fold(FoldAdaptor adaptor) {
  if (getSource().getType() == getResult().getType()) {
    return getSource();
  }
  if (auto inner = getSource().getDefiningOp<BroadcastOp>()) {
    getSourceMutable().assign(inner.getSource());
    return getResult();
  }
  return reshapedSplat(adaptor.getSource(), getResult().getType());
}

OpFoldResult ReshapeOp::fold(FoldAdaptor adaptor) {
  if (getSource().getType() == getResult().getType()) {
    return getSource();
  }
  if (auto inner = getSource().getDefiningOp<ReshapeOp>()) {
    getSourceMutable().assign(inner.getSource());
    return getResult();
  }
  return reshapedSplat(adaptor.getSource(), getResult().getType());
}

OpFoldResult TransOp::fold(FoldAdaptor adaptor) {
  bool isIdentity = llvm::all_of(llvm::enumerate(getOrder()), [](auto entry) {
    return static_cast<int64_t>(entry.index()) == entry.value();
  });
  if (isIdentity) {
    return getSource();
  }
  if (auto inner = getSource().getDefiningOp<TransOp>()) {
    llvm::SmallVector<int32_t> order;
    for (int32_t axis : getOrder()) {
      order.push_back(inner.getOrder()[axis]);
    }
    setOrder(order);
    getSourceMutable().assign(inner.getSource());
    return getResult();
  }
  return reshapedSplat(adaptor.getSource(), getResult().getType());
}

static bool isZero(Attribute value) {
  if (auto splat = mlir::dyn_cast_or_null<mlir::SplatElementsAttr>(value)) {
    value = splat.getSplatValue<Attribute>();
  }
  auto integer = mlir::dyn_cast_or_null<mlir::IntegerAttr>(value);
  return integer && integer.getValue().isZero();
}

OpFoldResult AddPtrOp::fold(FoldAdaptor adaptor) {
  return isZero(adaptor.getOffset()) ? OpFoldResult(getPointer()) : OpFoldResult();
}

OpFoldResult PtrCastOp::fold(FoldAdaptor adaptor) {
  if (getSource().getType() == getResult().getType()) {
    return getSource();
  }
  if (auto inner = getSource().getDefiningOp<PtrCastOp>()) {
    getSourceMutable().assign(inner.getSource());
    return getResult();
  }
  return {};
}

static mlir::FloatAttr numberOf(Attribute value) {
  auto splat = mlir::dyn_cast_or_null<mlir::SplatElementsAttr>(value);
  return mlir::dyn_cast_or_null<mlir::FloatAttr>(splat ? splat.getSplatValue<Attribute>() : value);
}

Attribute foldNumericExtremum(bool isMax, Attribute left, Attribute right) {
  mlir::FloatAttr x = numberOf(left), y = numberOf(right);
  if (!x || !y) {
    return {};
  }
  llvm::APFloat a = x.getValue(), b = y.getValue();
  llvm::APFloat chosen = isMax ? llvm::maxnum(a, b) : llvm::minnum(a, b);
  return chosen.bitwiseIsEqual(a) ? left : right;
}

/// A constant NaN gives way to the other operand, whatever that is.
template <class Op, class Adaptor> static OpFoldResult foldExtremum(Op op, Adaptor adaptor) {
  mlir::FloatAttr x = numberOf(adaptor.getLeft()), y = numberOf(adaptor.getRight());
  if (op.getLeft() == op.getRight() || (y && y.getValue().isNaN())) {
    return op.getLeft();
  }
  if (x && x.getValue().isNaN()) {
    return op.getRight();
  }
  bool isMax = std::is_same_v<Op, MaxNumOp>;
  return foldNumericExtremum(isMax, adaptor.getLeft(), adaptor.getRight());
}

OpFoldResult MaxNumOp::fold(FoldAdaptor adaptor) { return foldExtremum(*this, adaptor); }

OpFoldResult MinNumOp::fold(FoldAdaptor adaptor) { return foldExtremum(*this, adaptor); }

} // namespace nereid::tile
