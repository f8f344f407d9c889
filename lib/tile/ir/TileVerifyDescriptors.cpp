// SPDX-License-Identifier: Apache-2.0
// Descriptors: the type's text, and the preconditions of the operations on blocks.
#include "lib/tile/ir/Tile.h"

#include "mlir/IR/DialectImplementation.h"

using mlir::failure;
using mlir::LogicalResult;
using mlir::success;
using mlir::Type;

namespace nereid::tile {

// ---- the type ----

Type DescriptorType::parse(mlir::AsmParser &parser) {
  llvm::SmallVector<int64_t> shape;
  Type element;
  if (parser.parseLess() || parser.parseDimensionList(shape, /*allowDynamic=*/false) ||
      parser.parseType(element) || parser.parseGreater()) {
    return {};
  }
  mlir::Location place = parser.getEncodedSourceLoc(parser.getNameLoc());
  return getChecked([&] { return mlir::emitError(place); }, parser.getContext(),
                    llvm::ArrayRef<int64_t>(shape), element);
}

void DescriptorType::print(mlir::AsmPrinter &printer) const {
  printer << "<";
  for (int64_t size : getShape()) {
    printer << size << "x";
  }
  printer << getElement() << ">";
}

LogicalResult DescriptorType::verify(llvm::function_ref<mlir::InFlightDiagnostic()> emitError,
                                     llvm::ArrayRef<int64_t> shape, Type element) {
  bool isPositive = llvm::all_of(shape, [](int64_t size) { return size > 0; });
  if (shape.empty() || !isPositive) { // descriptor_c1
    return emitError() << "a descriptor expects at least one dimension and positive sizes";
  }
  if (!isNumberType(element)) { // descriptor_c2
    return emitError() << "a descriptor expects numbers as elements, but got " << element;
  }
  return success();
}

// ---- the operations ----

LogicalResult MakeDescriptorOp::verify() {
  DescriptorType type = getResult().getType();
  if (getBase().getType().getPointee() != type.getElement()) { // make_descriptor_c1
    return emitOpError() << "expects the address of " << type.getElement() << ", but got "
                         << getBase().getType();
  }
  size_t rank = type.getShape().size();
  if (getSizes().size() != rank || getStrides().size() != rank) { // make_descriptor_c2
    return emitOpError() << "expects " << rank << " sizes and strides, but got "
                         << getSizes().size() << " and " << getStrides().size();
  }
  bool isFloat = mlir::isa<mlir::FloatType>(type.getElement());
  if (getPadding() == Padding::NaN && !isFloat) { // make_descriptor_c3
    return emitOpError() << "expects floats to pad with NaN, but got " << type.getElement();
  }
  return success();
}

static LogicalResult verifyOffsets(mlir::Operation *op, DescriptorType type, size_t offsets) {
  if (offsets != type.getShape().size()) {
    return op->emitOpError() << "expects " << type.getShape().size() << " offsets, but got "
                             << offsets;
  }
  return success();
}

static LogicalResult verifyTile(mlir::Operation *op, Type expected, Type given) {
  if (given != expected) {
    return op->emitOpError() << "expects a tile " << expected << ", but got " << given;
  }
  return success();
}

static LogicalResult verifyRows(mlir::Operation *op, DescriptorType type,
                                mlir::RankedTensorType rows, Type tile) {
  llvm::ArrayRef<int64_t> shape = type.getShape();
  if (shape.size() != 2 || shape[0] != 1) { // descriptor_gather_c1, descriptor_scatter_c1
    return op->emitOpError() << "expects a descriptor with blocks of one row, but got " << type;
  }
  bool areIndices = rows.getRank() == 1 && rows.getElementType().isSignlessInteger() &&
                    !rows.getElementType().isInteger(1);
  if (!areIndices) { // descriptor_gather_c2, descriptor_scatter_c2
    return op->emitOpError() << "expects rows as a tile of rank 1 of integers, but got " << rows;
  }
  Type expected = mlir::RankedTensorType::get({rows.getDimSize(0), shape[1]}, type.getElement());
  return verifyTile(op, expected, tile); // descriptor_gather_c3, descriptor_scatter_c3
}

LogicalResult DescriptorLoadOp::verify() {
  DescriptorType type = getDescriptor().getType();
  return success(succeeded(verifyOffsets(*this, type, getOffsets().size())) &&              // c1
                 succeeded(verifyTile(*this, type.getBlockType(), getResult().getType()))); // c2
}

LogicalResult DescriptorStoreOp::verify() {
  DescriptorType type = getDescriptor().getType();
  return success(succeeded(verifyOffsets(*this, type, getOffsets().size())) &&             // c1
                 succeeded(verifyTile(*this, type.getBlockType(), getValue().getType()))); // c2
}

LogicalResult DescriptorGatherOp::verify() {
  return verifyRows(*this, getDescriptor().getType(), getRows().getType(), getResult().getType());
}

LogicalResult DescriptorScatterOp::verify() {
  return verifyRows(*this, getDescriptor().getType(), getRows().getType(), getValue().getType());
}

LogicalResult DescriptorReduceOp::verify() {
  DescriptorType type = getDescriptor().getType();
  if (failed(verifyOffsets(*this, type, getOffsets().size())) ||              // c1
      failed(verifyTile(*this, type.getBlockType(), getValue().getType()))) { // c2
    return failure();
  }
  bool isFitting = getKind() != AtomicKind::Exchange && fitsElements(getKind(), type.getElement());
  if (!isFitting) { // descriptor_reduce_c3
    return emitOpError() << "expects a kind for elements of " << type.getElement() << ", but got "
                         << stringifyAtomicKind(getKind());
  }
  return success();
}

} // namespace nereid::tile
