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
  if (mlir::isa<PtrType>(type) || type.isIndex()) {
    return true;
  }
  if (type.isSignlessInteger()) {
    unsigned width = type.getIntOrFloatBitWidth();
    return width == 1 || width == 8 || width == 16 || width == 32 || width == 64;
  }
  return type.isF16() || type.isBF16() || type.isF32() || type.isF64();
}

static bool isPointer(Type type) { return mlir::isa<PtrType>(elementTypeOf(type)); }

LogicalResult verifyWellFormedTiles(mlir::Operation *op) {
  auto check = [&](Type type) -> LogicalResult {
    if (auto tensor = mlir::dyn_cast<mlir::RankedTensorType>(type)) {
      bool positive = llvm::all_of(tensor.getShape(), [](int64_t size) { return size > 0; });
      if (!positive || !tensor.hasStaticShape()) { // tile_c1
        return op->emitOpError() << "expects static shapes with positive sizes, but got " << type;
      }
    }
    Type element = elementTypeOf(type);
    if (!isElementType(element)) { // tile_c2
      return op->emitOpError() << "expects elements i1, i8, i16, i32, i64, index, f16, bf16, f32, "
                                  "f64 or !tile.ptr, but got "
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
    return failure();
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

/// reduce_c4: 2n scalars in (one of each source, then another), n scalars out.
static LogicalResult verifyCombine(ReduceOp op) {
  mlir::Block &block = op.getCombine().front();
  size_t count = op.getSources().size();
  if (block.getNumArguments() != 2 * count) {
    return op.emitOpError() << "expects " << 2 * count << " region arguments, but got "
                            << block.getNumArguments();
  }
  mlir::Operation *terminator = block.getTerminator();
  if (terminator->getNumOperands() != count) {
    return op.emitOpError() << "expects the region to return " << count << " values, but got "
                            << terminator->getNumOperands();
  }
  for (size_t i = 0; i < 2 * count; ++i) {
    Type element = elementTypeOf(op.getSources()[i % count].getType());
    if (block.getArgument(i).getType() != element) {
      return op.emitOpError() << "expects region argument " << i << " of type " << element
                              << ", but got " << block.getArgument(i).getType();
    }
    if (i < count && terminator->getOperand(i).getType() != element) {
      return op.emitOpError() << "expects the region to return " << element << " as value " << i
                              << ", but got " << terminator->getOperand(i).getType();
    }
  }
  return success();
}

LogicalResult ReduceOp::verify() {
  if (getSources().empty()) { // reduce_c1
    return emitOpError() << "expects at least one source, but got none";
  }
  auto first = mlir::cast<mlir::RankedTensorType>(getSources().front().getType());
  for (mlir::Value source : getSources()) {
    if (shapeOf(source.getType()) != first.getShape()) { // reduce_c1
      return emitOpError() << "expects sources of one shape, but got " << first << " and "
                           << source.getType();
    }
  }
  int64_t axis = static_cast<int32_t>(getAxis());
  if (axis < 0 || axis >= first.getRank()) { // reduce_c2
    return emitOpError() << "expects an axis between 0 and " << first.getRank() - 1 << ", but got "
                         << axis;
  }
  if (getResults().size() != getSources().size()) { // reduce_c3
    return emitOpError() << "expects " << getSources().size() << " results, but got "
                         << getResults().size();
  }
  llvm::SmallVector<int64_t> shape(first.getShape());
  shape.erase(shape.begin() + axis);
  for (auto [source, result] : llvm::zip(getSources(), getResults())) {
    Type element = elementTypeOf(source.getType());
    Type expected = shape.empty() ? element : Type(mlir::RankedTensorType::get(shape, element));
    if (result.getType() != expected) { // reduce_c3
      return emitOpError() << "expects result " << expected << ", but got " << result.getType();
    }
  }
  return verifyCombine(*this); // reduce_c4
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

LogicalResult AssertOp::verify() {
  if (!elementTypeOf(getCondition().getType()).isInteger(1)) { // assert_c1
    return emitOpError() << "expects a condition of i1, but got " << getCondition().getType();
  }
  return success();
}

} // namespace nereid::tile
