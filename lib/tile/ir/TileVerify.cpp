// SPDX-License-Identifier: Apache-2.0
// Preconditions of the operations, in the order of TileOps.td. The label beside a check is the one
// in the operation's description and in the name of its negative test.
#include "lib/tile/ir/Tile.h"

using mlir::failure;
using mlir::LogicalResult;
using mlir::success;
using mlir::Type;

namespace nereid::tile {

static bool isElementType(Type type) {
  return mlir::isa<PtrType>(type) || type.isIndex() || isNumberType(type);
}

static bool isPointer(Type type) { return mlir::isa<PtrType>(elementTypeOf(type)); }

LogicalResult verifyWellFormedTiles(mlir::Operation *op) {
  auto check = [&](Type type) -> LogicalResult {
    if (mlir::isa<DescriptorType>(type)) { // which has its own verifier
      return success();
    }
    if (auto tensor = mlir::dyn_cast<mlir::RankedTensorType>(type)) {
      bool positive = llvm::all_of(tensor.getShape(), [](int64_t size) { return size > 0; });
      if (!positive || !tensor.hasStaticShape()) { // tile_c1
        return op->emitOpError() << "expects static shapes with positive sizes, but got " << type;
      }
    }
    Type element = elementTypeOf(type);
    if (!isElementType(element)) { // tile_c2
      return op->emitOpError()
             << "expects elements i1, i8, i16, i32, i64, index, f8E4M3FN, f8E5M2, "
                "f8E4M3FNUZ, f8E5M2FNUZ, f16, bf16, f32, f64 or !tile.ptr, but "
                "got "
             << element;
    }
    return success();
  };
  for (Type type : op->getOperandTypes()) {
    if (failed(check(type))) {
      return failure();
    }
  }
  for (Type type : op->getResultTypes()) {
    if (failed(check(type))) {
      return failure();
    }
  }
  return success();
}

static LogicalResult verifyGridAxis(mlir::Operation *op, uint32_t axis) {
  if (axis > 2) {
    return op->emitOpError() << "expects axis 0, 1 or 2, but got " << static_cast<int32_t>(axis);
  }
  return success();
}

LogicalResult ProgramIdOp::verify() { return verifyGridAxis(*this, getAxis()); } // program_id_c1

LogicalResult NumProgramsOp::verify() {
  return verifyGridAxis(*this, getAxis());
} // num_programs_c1

LogicalResult MakeRangeOp::verify() {
  auto start = static_cast<int32_t>(getStart());
  auto end = static_cast<int32_t>(getEnd());
  if (end <= start) { // make_range_c1
    return emitOpError() << "expects end > start, but got " << start << " to " << end;
  }
  mlir::RankedTensorType type = getResult().getType();
  int64_t count = int64_t(end) - start;
  if (!type.getElementType().isInteger(32) || type.getRank() != 1 ||
      type.getDimSize(0) != count) { // make_range_c2
    return emitOpError() << "expects result tensor<" << count << "xi32>, but got " << type;
  }
  return success();
}

LogicalResult SplatOp::verify() {
  Type source = getSource().getType();
  if (source != getResult().getType().getElementType()) { // splat_c1
    return emitOpError() << "expects a scalar of the result's element type "
                         << getResult().getType().getElementType() << ", but got " << source;
  }
  return success();
}

LogicalResult UnsplatOp::verify() {
  mlir::RankedTensorType source = getSource().getType();
  if (source.getNumElements() != 1) { // unsplat_c1
    return emitOpError() << "expects a tile of one element, but got " << source;
  }
  if (getResult().getType() != source.getElementType()) { // unsplat_c2
    return emitOpError() << "expects result type " << source.getElementType() << ", but got "
                         << getResult().getType();
  }
  return success();
}

LogicalResult ExpandDimsOp::verify() {
  mlir::RankedTensorType source = getSource().getType();
  int64_t axis = static_cast<int32_t>(getAxis());
  if (axis < 0 || axis > source.getRank()) { // expand_dims_c1
    return emitOpError() << "expects an axis between 0 and " << source.getRank() << ", but got "
                         << axis;
  }
  llvm::SmallVector<int64_t> shape(source.getShape());
  shape.insert(shape.begin() + axis, 1);
  auto expected = mlir::RankedTensorType::get(shape, source.getElementType());
  if (getResult().getType() != expected) { // expand_dims_c2
    return emitOpError() << "expects result " << expected << ", but got " << getResult().getType();
  }
  return success();
}

LogicalResult BroadcastOp::verify() {
  mlir::RankedTensorType source = getSource().getType(), result = getResult().getType();
  if (source.getRank() != result.getRank() ||
      source.getElementType() != result.getElementType()) { // broadcast_c1
    return emitOpError() << "expects equal ranks and element types, but got " << source << " and "
                         << result;
  }
  for (auto [axis, from, to] : llvm::enumerate(source.getShape(), result.getShape())) {
    if (from != to && from != 1) { // broadcast_c2
      return emitOpError() << "expects size 1 or " << to << " in dimension " << axis << ", but got "
                           << from;
    }
  }
  return success();
}

LogicalResult ReshapeOp::verify() {
  mlir::RankedTensorType source = getSource().getType(), result = getResult().getType();
  if (source.getNumElements() != result.getNumElements() ||
      source.getElementType() != result.getElementType()) { // reshape_c1
    return emitOpError() << "expects equal element counts and types, but got " << source << " and "
                         << result;
  }
  return success();
}

LogicalResult TransOp::verify() {
  mlir::RankedTensorType source = getSource().getType(), result = getResult().getType();
  llvm::ArrayRef<int32_t> order = getOrder();
  llvm::SmallVector<bool> seen(source.getRank(), false);
  bool isPermutation = static_cast<int64_t>(order.size()) == source.getRank();
  for (int32_t axis : order) {
    isPermutation = isPermutation && axis >= 0 && axis < source.getRank() && !seen[axis];
    if (!isPermutation) {
      break;
    }
    seen[axis] = true;
  }
  if (!isPermutation) { // trans_c1
    return emitOpError() << "expects order to be a permutation of 0.." << source.getRank() - 1
                         << ", but got [" << order << "]";
  }
  llvm::SmallVector<int64_t> shape;
  for (int32_t axis : order) {
    shape.push_back(source.getDimSize(axis));
  }
  auto expected = mlir::RankedTensorType::get(shape, source.getElementType());
  if (result != expected) { // trans_c2
    return emitOpError() << "expects result " << expected << ", but got " << result;
  }
  return success();
}

LogicalResult AddPtrOp::verify() {
  Type pointer = getPointer().getType(), offset = getOffset().getType();
  if (!haveSameShape(pointer, offset)) { // addptr_c1
    return emitOpError() << "expects pointer and offset of one shape, but got " << pointer
                         << " and " << offset;
  }
  if (getResult().getType() != pointer) { // addptr_c2
    return emitOpError() << "expects result " << pointer << ", but got " << getResult().getType();
  }
  if (!isPointer(pointer) || !elementTypeOf(offset).isSignlessInteger()) { // addptr_c3
    return emitOpError() << "expects addresses and integers, but got " << pointer << " and "
                         << offset;
  }
  return success();
}

LogicalResult PtrToIntOp::verify() {
  Type source = getSource().getType(), result = getResult().getType();
  if (!haveSameShape(source, result)) { // ptr_to_int_c1
    return emitOpError() << "expects equal shapes, but got " << source << " and " << result;
  }
  if (!isPointer(source) || !elementTypeOf(result).isInteger(64)) { // ptr_to_int_c2
    return emitOpError() << "expects addresses to i64, but got " << source << " to " << result;
  }
  return success();
}

LogicalResult IntToPtrOp::verify() {
  Type source = getSource().getType(), result = getResult().getType();
  if (!haveSameShape(source, result)) { // int_to_ptr_c1
    return emitOpError() << "expects equal shapes, but got " << source << " and " << result;
  }
  if (!elementTypeOf(source).isInteger(64) || !isPointer(result)) { // int_to_ptr_c2
    return emitOpError() << "expects i64 to addresses, but got " << source << " to " << result;
  }
  return success();
}

LogicalResult PtrCastOp::verify() {
  Type source = getSource().getType(), result = getResult().getType();
  if (!haveSameShape(source, result) || !isPointer(source) || !isPointer(result)) { // ptr_cast_c1
    return emitOpError() << "expects addresses of equal shape, but got " << source << " and "
                         << result;
  }
  return success();
}

LogicalResult DotOp::verify() {
  mlir::RankedTensorType a = getA().getType(), b = getB().getType(), c = getC().getType();
  int64_t rank = c.getRank();
  bool ranksAgree = (rank == 2 || rank == 3) && a.getRank() == rank && b.getRank() == rank;
  if (!ranksAgree || (rank == 3 && (a.getDimSize(0) != b.getDimSize(0) ||
                                    a.getDimSize(0) != c.getDimSize(0)))) { // dot_c1
    return emitOpError() << "expects rank 2, or rank 3 with one batch size, but got " << a << ", "
                         << b << " and " << c;
  }
  if (a.getElementType() != b.getElementType()) { // dot_c2
    return emitOpError() << "expects a and b of one element type, but got " << a.getElementType()
                         << " and " << b.getElementType();
  }
  if (a.getDimSize(rank - 1) != b.getDimSize(rank - 2)) { // dot_c3
    return emitOpError() << "expects a.shape[1] == b.shape[0], but got " << a.getDimSize(rank - 1)
                         << " and " << b.getDimSize(rank - 2);
  }
  if (c.getDimSize(rank - 2) != a.getDimSize(rank - 2) ||
      c.getDimSize(rank - 1) != b.getDimSize(rank - 1)) { // dot_c4
    return emitOpError() << "expects c of " << a.getDimSize(rank - 2) << "x"
                         << b.getDimSize(rank - 1) << ", but got " << c;
  }
  bool allFloats = mlir::isa<mlir::FloatType>(a.getElementType()) &&
                   mlir::isa<mlir::FloatType>(c.getElementType());
  bool allIntegers =
      a.getElementType().isSignlessInteger() && c.getElementType().isSignlessInteger();
  if (!allFloats && !allIntegers) { // dot_c5
    return emitOpError() << "expects all floats or all integers, but got " << a.getElementType()
                         << " and " << c.getElementType();
  }
  return success();
}

LogicalResult AssumeOp::verify() {
  if (!elementTypeOf(getCondition().getType()).isInteger(1)) { // assume_c1
    return emitOpError() << "expects a condition of i1, but got " << getCondition().getType();
  }
  return success();
}

LogicalResult AssertOp::verify() {
  if (!elementTypeOf(getCondition().getType()).isInteger(1)) { // assert_c1
    return emitOpError() << "expects a condition of i1, but got " << getCondition().getType();
  }
  return success();
}

} // namespace nereid::tile
