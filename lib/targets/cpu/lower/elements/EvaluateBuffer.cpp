// SPDX-License-Identifier: Apache-2.0
// Loads and stores of lanes in scratch memory, where every tile stands row by row.
#include "lib/targets/cpu/lower/elements/Evaluator.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace nereid::cpu {

static int64_t bufferStride(ArrayRef<int64_t> shape, unsigned dim) {
  int64_t stride = 1;
  for (unsigned i = dim + 1; i < shape.size(); ++i) {
    stride *= shape[i];
  }
  return stride;
}

Value Evaluator::bufferElement(int id, ArrayRef<int64_t> shape, const Dims &dims, Location loc,
                               unsigned copy) {
  const Buffer &buffer = kernel.buffer(id);
  Value base = kernel.bufferAddress(id);
  bool memoised = shape == ArrayRef<int64_t>(buffer.shape);
  int lane = lanePosition(dims);
  Dims outer(dims);
  if (lane >= 0) {
    outer[lane] = zeroDim;
  }
  Scope *scope = scopes[levelOf(outer)];
  ElementKey key = keyOf(base, outer);
  Value row = memoised ? scope->values.lookup(key) : Value();
  if (!row) {
    Value index;
    for (unsigned i = 0; i < outer.size(); ++i) {
      if (outer[i] == zeroDim || shape[i] == 1) {
        continue;
      }
      Value term = scope->builder.create<arith::MulIOp>(loc, coordinate(outer[i], copy),
                                                        kernel.i64(bufferStride(shape, i)));
      index = index ? scope->builder.create<arith::AddIOp>(loc, index, term) : term;
    }
    row = index ? scope->builder.create<LLVM::GEPOp>(loc, base.getType(), buffer.element, base,
                                                     ValueRange{index})
                : base;
    if (memoised) {
      scope->values[key] = row;
    }
  }
  if (lane < 0) {
    return row;
  }
  OpBuilder &builder = builderFor(dims);
  Value index = laneBase[copy];
  if (int64_t stride = bufferStride(shape, lane); stride != 1) {
    index = builder.create<arith::MulIOp>(loc, index, kernel.i64(stride));
  }
  return builder.create<LLVM::GEPOp>(loc, base.getType(), buffer.element, row, ValueRange{index});
}

Value Evaluator::loadFromBuffer(int id, ArrayRef<int64_t> shape, Type element, const Dims &dims,
                                unsigned copy, Location loc) {
  const Buffer &buffer = kernel.buffer(id);
  OpBuilder &builder = builderFor(dims);
  element = KernelState::scalarType(element);
  unsigned align = static_cast<unsigned>(KernelState::byteSize(buffer.element));
  int lane = width > 1 ? lanePosition(dims) : -1;
  Value address = bufferElement(id, shape, dims, loc, copy);
  if (lane < 0) {
    Value raw = builder.create<LLVM::LoadOp>(loc, buffer.element, address, align);
    return convertElements(builder, loc, raw, element);
  }
  Type vectorType = lanesOf(buffer.element, width);
  int64_t stride = bufferStride(shape, lane);
  Value raw;
  if (stride == 1) {
    raw = builder.create<LLVM::LoadOp>(loc, vectorType, address, align);
  } else if (align >= 4 && kernel.machine.hasGather) {
    Value addresses = vectorOfAddresses(
        builder, loc, {address, iota(kernel, builder.getI32Type(), width, stride)}, buffer.element);
    Value all = kernel.constantInt(lanesOf(builder.getI1Type(), width), 1);
    raw = builder.create<LLVM::masked_gather>(loc, vectorType, addresses, all,
                                              ValueRange{kernel.zero(vectorType)}, align);
  } else {
    raw = kernel.zero(vectorType);
    for (unsigned i = 0; i < width; ++i) {
      Value at =
          builder.create<LLVM::GEPOp>(loc, address.getType(), buffer.element, address,
                                      ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(i * stride)});
      Value one = builder.create<LLVM::LoadOp>(loc, buffer.element, at, align);
      raw = builder.create<vector::InsertOp>(loc, one, raw, static_cast<int64_t>(i));
    }
  }
  return convertElements(builder, loc, raw, element);
}

void Evaluator::storeToBuffer(int id, Value lanes, const Dims &dims, unsigned copy, Location loc) {
  const Buffer &buffer = kernel.buffer(id);
  OpBuilder &builder = scopes.back()->builder;
  unsigned align = static_cast<unsigned>(KernelState::byteSize(buffer.element));
  int lane = width > 1 ? lanePosition(dims) : -1;
  Value address = bufferElement(id, buffer.shape, dims, loc, copy);
  Value value = convertElements(builder, loc, lanes, buffer.element);
  if (lane < 0) {
    builder.create<LLVM::StoreOp>(loc, value, address, align);
    return;
  }
  value = broadcast(builder, value, buffer.element);
  int64_t stride = bufferStride(buffer.shape, lane);
  if (stride == 1) {
    builder.create<LLVM::StoreOp>(loc, value, address, align);
    return;
  }
  for (unsigned i = 0; i < width; ++i) {
    Value at =
        builder.create<LLVM::GEPOp>(loc, address.getType(), buffer.element, address,
                                    ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(i * stride)});
    Value one = builder.create<vector::ExtractOp>(loc, value, static_cast<int64_t>(i));
    builder.create<LLVM::StoreOp>(loc, one, at, align);
  }
}

} // namespace nereid::cpu
