// SPDX-License-Identifier: Apache-2.0
// Elements picked from a tile in scratch by an index tile. An index outside the source reads the
// source's last element: undefined for the program, but never foreign memory.
#include "lib/targets/cpu/lower/Recognisers.h"
#include "lib/targets/cpu/lower/elements/Gathers.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace nereid::cpu {

/// The index as i32 between 0 and size-1.
static Value clampedIndex(KernelState &kernel, OpBuilder &builder, Location loc, Value index,
                          int64_t size) {
  auto like = [&](Type element) {
    auto vector = dyn_cast<VectorType>(index.getType());
    return vector ? Type(VectorType::get(vector.getShape(), element)) : element;
  };
  Type element = getElementTypeOrSelf(index.getType());
  if (isa<IndexType>(element)) {
    index = builder.create<arith::IndexCastOp>(loc, like(builder.getI64Type()), index);
  } else if (element.getIntOrFloatBitWidth() < 32) {
    index = builder.create<arith::ExtSIOp>(loc, like(builder.getI32Type()), index);
  }
  Value last = kernel.constantInt(index.getType(), size - 1);
  index = builder.create<arith::MinUIOp>(loc, index, last);
  if (getElementTypeOrSelf(index.getType()).isInteger(64)) {
    index = builder.create<arith::TruncIOp>(loc, like(builder.getI32Type()), index);
  }
  return index;
}

Value evaluateGather(Evaluator &evaluator, tile::GatherOp op, const Dims &dims, unsigned copy,
                     OpBuilder &builder) {
  KernelState &kernel = evaluator.kernel;
  const unsigned width = evaluator.width;
  Location loc = op.getLoc();
  Value source = op.getSource();
  ArrayRef<int64_t> shape = shapeOf(source);
  const unsigned axis = op.getAxis();
  auto stored = kernel.buffers.find(source);
  if (stored == kernel.buffers.end()) {
    if (!kernel.axes.isUniformEverywhere(source)) {
      return nullptr;
    }
    Dims first(shape.size(), zeroDim);
    return isPointerTile(source) ? evaluator.evaluateAddressBits(source, first, copy)
                                 : evaluator.evaluate(source, first, copy);
  }
  const Buffer &buffer = kernel.buffer(stored->second);
  Type i32 = builder.getI32Type();
  // Where the element stands, counted from the buffer's start: what all lanes share …
  Value first;
  auto add = [&](Value sum, Value term) -> Value {
    return sum ? builder.create<arith::AddIOp>(loc, sum, term) : term;
  };
  int lane = width > 1 ? evaluator.lanePosition(dims) : -1;
  SmallVector<int64_t> strides(shape.size(), 1);
  for (size_t d = shape.size() - 1; d > 0; --d) {
    strides[d - 1] = strides[d] * shape[d];
  }
  for (unsigned d = 0; d < shape.size(); ++d) {
    if (d != axis && dims[d] != zeroDim && shape[d] != 1) {
      first = add(first, builder.create<arith::MulIOp>(loc, evaluator.coordinate(dims[d], copy),
                                                       kernel.i64(strides[d])));
    }
  }
  Value base = kernel.bufferAddress(stored->second);
  auto move = [&](Value address, Value offset) -> Value {
    return builder.create<LLVM::GEPOp>(loc, address.getType(), buffer.element, address,
                                       ValueRange{offset});
  };
  if (first) {
    base = move(base, first);
  }
  unsigned align = static_cast<unsigned>(KernelState::byteSize(buffer.element));
  auto finish = [&](Value raw) {
    Type element = KernelState::scalarType(elementTypeOf(source));
    return isa<LLVM::LLVMPointerType>(element) ? raw : convertElements(builder, loc, raw, element);
  };
  if (lane >= 0 && static_cast<unsigned>(lane) == axis && strides[axis] == 1) {
    Value raw = gatherNeighbours(evaluator, op, dims, copy, builder, base, buffer.element);
    if (tally(Recogniser::GatherNeighbours, raw != nullptr)) {
      return finish(raw);
    }
  }
  // … and what each adds.
  Value offset = clampedIndex(kernel, builder, loc, evaluator.evaluate(op.getIndex(), dims, copy),
                              shape[axis]);
  if (strides[axis] != 1) {
    offset = builder.create<arith::MulIOp>(loc, offset,
                                           kernel.constantInt(offset.getType(), strides[axis]));
  }
  if (lane >= 0 && static_cast<unsigned>(lane) != axis) {
    if (strides[lane] == 1 && !isa<VectorType>(offset.getType())) {
      return finish(builder.create<LLVM::LoadOp>(loc, lanesOf(buffer.element, width),
                                                 move(base, offset), align));
    }
    offset = builder.create<arith::AddIOp>(loc, evaluator.broadcast(builder, offset, i32),
                                           iota(kernel, i32, width, strides[lane]));
  }
  if (!isa<VectorType>(offset.getType())) {
    return finish(builder.create<LLVM::LoadOp>(loc, buffer.element, move(base, offset), align));
  }
  auto vectorType = cast<VectorType>(lanesOf(buffer.element, width));
  if (align >= 4 && kernel.machine.hasGather) {
    Value addresses = evaluator.vectorOfAddresses(builder, loc, {base, offset}, buffer.element);
    Value all = kernel.constantInt(lanesOf(builder.getI1Type(), width), 1);
    return finish(builder.create<LLVM::masked_gather>(loc, vectorType, addresses, all,
                                                      ValueRange{kernel.zero(vectorType)}, align));
  }
  Value raw = kernel.zero(vectorType);
  for (unsigned i = 0; i < width; ++i) {
    Value at = builder.create<vector::ExtractOp>(loc, offset, static_cast<int64_t>(i));
    Value one = builder.create<LLVM::LoadOp>(loc, buffer.element, move(base, at), align);
    raw = builder.create<vector::InsertOp>(loc, one, raw, static_cast<int64_t>(i));
  }
  return finish(raw);
}

} // namespace nereid::cpu
