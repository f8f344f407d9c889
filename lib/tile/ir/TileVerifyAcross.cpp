// SPDX-License-Identifier: Apache-2.0
// Preconditions of the operations that combine or move elements across a tile, as in
// TileVerify.cpp.
#include "lib/tile/ir/Tile.h"

using mlir::LogicalResult;
using mlir::RankedTensorType;
using mlir::success;
using mlir::Type;

namespace nereid::tile {

/// 2n scalars in (one of each source, then another), n scalars out.
template <class Op> static LogicalResult verifyCombine(Op op) {
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

static LogicalResult verifyAxis(mlir::Operation *op, uint32_t axis, int64_t rank) {
  auto value = static_cast<int32_t>(axis);
  if (value < 0 || value >= rank) {
    return op->emitOpError() << "expects an axis between 0 and " << rank - 1 << ", but got "
                             << value;
  }
  return success();
}

/// Sources of one shape, at least one, the axis within, as many results as sources.
template <class Op> static LogicalResult verifySources(Op op) {
  if (op.getSources().empty()) { // reduce_c1, scan_c1
    return op.emitOpError() << "expects at least one source, but got none";
  }
  auto first = mlir::cast<RankedTensorType>(op.getSources().front().getType());
  for (mlir::Value source : op.getSources()) {
    if (shapeOf(source.getType()) != first.getShape()) { // reduce_c1, scan_c1
      return op.emitOpError() << "expects sources of one shape, but got " << first << " and "
                              << source.getType();
    }
  }
  if (failed(verifyAxis(op, op.getAxis(), first.getRank()))) { // reduce_c2, scan_c2
    return mlir::failure();
  }
  if (op.getResults().size() != op.getSources().size()) { // reduce_c3, scan_c3
    return op.emitOpError() << "expects " << op.getSources().size() << " results, but got "
                            << op.getResults().size();
  }
  return success();
}

LogicalResult ReduceOp::verify() {
  if (failed(verifySources(*this))) {
    return mlir::failure();
  }
  llvm::SmallVector<int64_t> shape(shapeOf(getSources().front().getType()));
  shape.erase(shape.begin() + static_cast<int32_t>(getAxis()));
  for (auto [source, result] : llvm::zip(getSources(), getResults())) {
    Type element = elementTypeOf(source.getType());
    Type expected = shape.empty() ? element : Type(RankedTensorType::get(shape, element));
    if (result.getType() != expected) { // reduce_c3
      return emitOpError() << "expects result " << expected << ", but got " << result.getType();
    }
  }
  return verifyCombine(*this); // reduce_c4
}

LogicalResult ScanOp::verify() {
  if (failed(verifySources(*this))) {
    return mlir::failure();
  }
  for (auto [source, result] : llvm::zip(getSources(), getResults())) {
    if (result.getType() != source.getType()) { // scan_c3
      return emitOpError() << "expects result " << source.getType() << ", but got "
                           << result.getType();
    }
  }
  return verifyCombine(*this); // scan_c4
}

/// `whole` is `part` with a last dimension of 2.
static LogicalResult verifyPair(mlir::Operation *op, RankedTensorType part,
                                RankedTensorType whole) {
  llvm::SmallVector<int64_t> shape(part.getShape());
  shape.push_back(2);
  auto expected = RankedTensorType::get(shape, part.getElementType());
  if (whole != expected) {
    return op->emitOpError() << "expects " << expected << " beside " << part << ", but got "
                             << whole;
  }
  return success();
}

LogicalResult JoinOp::verify() {
  return verifyPair(*this, getLeft().getType(), getResult().getType());
} // join_c1

LogicalResult SplitOp::verify() {
  if (getLeft().getType() != getRight().getType()) { // split_c2
    return emitOpError() << "expects results of one type, but got " << getLeft().getType()
                         << " and " << getRight().getType();
  }
  return verifyPair(*this, getLeft().getType(), getSource().getType()); // split_c1
}

LogicalResult GatherOp::verify() {
  RankedTensorType source = getSource().getType(), index = getIndex().getType();
  if (failed(verifyAxis(*this, getAxis(), source.getRank()))) { // gather_c1
    return mlir::failure();
  }
  bool agrees = source.getRank() == index.getRank();
  for (int64_t d = 0; agrees && d < source.getRank(); ++d) {
    agrees = d == static_cast<int32_t>(getAxis()) || source.getDimSize(d) == index.getDimSize(d);
  }
  if (!agrees) { // gather_c2
    return emitOpError() << "expects source and index to differ in dimension "
                         << static_cast<int32_t>(getAxis()) << " only, but got " << source
                         << " and " << index;
  }
  if (!index.getElementType().isSignlessInteger()) { // gather_c3
    return emitOpError() << "expects an index of integers, but got " << index;
  }
  auto expected = RankedTensorType::get(index.getShape(), source.getElementType());
  if (getResult().getType() != expected) { // gather_c4
    return emitOpError() << "expects result " << expected << ", but got " << getResult().getType();
  }
  return success();
}

LogicalResult HistogramOp::verify() {
  RankedTensorType source = getSource().getType(), result = getResult().getType();
  if (source.getRank() != 1 || !source.getElementType().isSignlessInteger()) { // histogram_c1
    return emitOpError() << "expects a source of rank 1 of integers, but got " << source;
  }
  Type mask = RankedTensorType::get(source.getShape(), mlir::IntegerType::get(getContext(), 1));
  if (getMask() && getMask().getType() != mask) { // histogram_c2
    return emitOpError() << "expects mask " << mask << ", but got " << getMask().getType();
  }
  if (result.getRank() != 1 || !result.getElementType().isInteger(32)) { // histogram_c3
    return emitOpError() << "expects a result of rank 1 of i32, but got " << result;
  }
  return success();
}

} // namespace nereid::tile
