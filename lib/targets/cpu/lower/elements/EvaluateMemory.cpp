// SPDX-License-Identifier: Apache-2.0
// Loads and stores of lanes: one element for all, consecutive elements, or gathers and scatters,
// each with or without a mask.
#include "lib/targets/cpu/lower/elements/Evaluator.h"

#include "lib/targets/cpu/lower/elements/Gathers.h"
#include "lib/targets/cpu/lower/elements/LanePattern.h"
#include "lib/targets/cpu/lower/elements/NarrowGather.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace nereid::cpu {

static Type withElement(Type like, Type element) {
  if (auto vector = dyn_cast<VectorType>(like)) {
    return VectorType::get(vector.getShape(), element);
  }
  return element;
}

Value convertElements(OpBuilder &builder, Location loc, Value value, Type element) {
  Type from = getElementTypeOrSelf(value.getType());
  if (from == element) {
    return value;
  }
  Type type = withElement(value.getType(), element);
  if (isa<LLVM::LLVMPointerType>(from)) {
    return builder.create<LLVM::PtrToIntOp>(loc, type, value);
  }
  if (isa<LLVM::LLVMPointerType>(element)) {
    return builder.create<LLVM::IntToPtrOp>(loc, type, value);
  }
  if (isa<FloatType>(from) && isa<FloatType>(element)) {
    if (from.getIntOrFloatBitWidth() < element.getIntOrFloatBitWidth()) {
      return builder.create<arith::ExtFOp>(loc, type, value);
    }
    return builder.create<arith::TruncFOp>(loc, type, value);
  }
  if (tile::isFloat8(from) || tile::isFloat8(element)) {
    return builder.create<arith::BitcastOp>(loc, type, value); // memory holds its bits
  }
  if (isa<IndexType>(from) || isa<IndexType>(element)) {
    return builder.create<arith::IndexCastOp>(loc, type, value);
  }
  if (from.isInteger(1)) {
    return builder.create<arith::ExtUIOp>(loc, type, value);
  }
  if (element.isInteger(1)) {
    Value zero = builder.create<arith::ConstantOp>(loc, builder.getZeroAttr(value.getType()));
    return builder.create<arith::CmpIOp>(loc, arith::CmpIPredicate::ne, value, zero);
  }
  if (from.getIntOrFloatBitWidth() < element.getIntOrFloatBitWidth()) {
    return builder.create<arith::ExtSIOp>(loc, type, value);
  }
  return builder.create<arith::TruncIOp>(loc, type, value);
}

bool Evaluator::isUnitStride(Value pointer, unsigned dim) const {
  Axis axis = kernel.axes.axis(pointer, dim, addressView());
  return axis.kind == AxisKind::Linear &&
         axis.stride.value_or(part == PeeledPart::Main ? 1 : 0) == 1;
}

static Type pointeeOf(Value pointer) {
  return KernelState::memoryType(cast<tile::PtrType>(elementTypeOf(pointer)).getPointee());
}

Value Evaluator::firstAddress(Value pointer, const Dims &dims, int lane, unsigned copy,
                              OpBuilder &builder) {
  Dims first(dims);
  first[lane] = zeroDim;
  Value start = evaluate(pointer, first, copy);
  if (kernel.axes.axis(pointer, lane, addressView()).kind == AxisKind::Uniform) {
    return start;
  }
  Value index = laneBase[copy];
  if (!isUnitStride(pointer, lane)) {
    index = builder.create<arith::MulIOp>(pointer.getLoc(), index, strideOf(pointer, lane, dims));
  }
  return builder.create<LLVM::GEPOp>(pointer.getLoc(), start.getType(), pointeeOf(pointer), start,
                                     ValueRange{index});
}

Value keepInRegister(OpBuilder &builder, Value value) {
  if (value.getDefiningOp<arith::ConstantOp>()) {
    return value;
  }
  auto copy = builder.create<LLVM::InlineAsmOp>(
      value.getLoc(), value.getType(), ValueRange{value}, "", "=r,0", /*has_side_effects=*/false,
      /*is_align_stack=*/false, LLVM::AsmDialectAttr(), ArrayAttr());
  return copy.getRes();
}

Value Evaluator::steppedAddress(Value pointer, Value offset, const Dims &dims, Type pointee,
                                OpBuilder &builder) {
  const auto *at = steppedDim == zeroDim ? dims.end() : llvm::find(dims, steppedDim);
  if (at == dims.end() || !isTile(offset) || lanePosition(dims) >= 0) {
    return nullptr;
  }
  auto position = static_cast<unsigned>(at - dims.begin());
  if (kernel.axes.axis(offset, position, AxisView::Address).kind != AxisKind::Linear) {
    return nullptr;
  }
  Location loc = offset.getLoc();
  Dims first(dims);
  first[position] = zeroDim;
  Value start = evaluate(offset, first, 0);
  Value stride =
      keepInRegister(scopes[scopes.size() - 2]->builder, strideOf(offset, position, dims));
  Value steps = builder.create<arith::MulIOp>(loc, dimIndex[steppedDim], stride);
  auto plus = [&](OpBuilder &place, Value from, Value distance) -> Value {
    return place.create<LLVM::GEPOp>(loc, from.getType(), pointee, from, ValueRange{distance});
  };
  if (offset.hasOneUse()) {
    return plus(builder, plus(builder, pointer, start), steps);
  }
  // Other pointers have the same offset: it is added up once, and they differ in their base.
  if (!start.getType().isInteger(64)) {
    start = builderFor(first).create<arith::ExtSIOp>(loc, builder.getI64Type(), start);
  }
  return plus(builder, pointer, builder.create<arith::AddIOp>(loc, start, steps));
}

Value Evaluator::vectorOfAddresses(OpBuilder &builder, Location loc, const LaneAddresses &addresses,
                                   Type pointee) {
  if (!addresses.offsets) {
    if (!isa<LLVM::LLVMPointerType>(addresses.base.getType())) {
      return addresses.base;
    }
    Value zeros = kernel.constantInt(lanesOf(builder.getI64Type(), width), 0);
    return builder.create<LLVM::GEPOp>(loc, addressVectorType(builder.getContext(), width), pointee,
                                       addresses.base, ValueRange{zeros});
  }
  return builder.create<LLVM::GEPOp>(loc, addressVectorType(builder.getContext(), width), pointee,
                                     addresses.base, ValueRange{addresses.offsets});
}

Value Evaluator::gatherAddresses(OpBuilder &builder, Location loc, Value pointer, const Dims &dims,
                                 unsigned copy, Type pointee) {
  int lane = lanePosition(dims);
  Axis axis = kernel.axes.axis(pointer, lane, addressView());
  if (axis.kind != AxisKind::Linear) {
    return vectorOfAddresses(builder, loc, laneAddresses(pointer, dims, copy), pointee);
  }
  Value first = firstAddress(pointer, dims, lane, copy, builder);
  Value offsets;
  if (axis.stride && std::abs(*axis.stride) < (int64_t(1) << 24)) {
    offsets = iota(kernel, builder.getI32Type(), width, *axis.stride);
  } else {
    Value stride = strideOf(pointer, lane, dims);
    offsets = builder.create<arith::MulIOp>(loc, broadcast(builder, stride, stride.getType()),
                                            iota(kernel, builder.getI64Type(), width, 1));
  }
  return vectorOfAddresses(builder, loc, {first, offsets}, pointee);
}

LaneAddresses Evaluator::laneAddresses(Value pointer, const Dims &coordinates, unsigned copy) {
  Dims dims = kernel.axes.normalise(pointer, coordinates);
  if (lanePosition(dims) < 0) {
    return {evaluate(pointer, dims, copy), nullptr};
  }
  Scope *scope = scopes[levelOf(dims)];
  ElementKey key = keyOf(pointer, dims, copy);
  auto it = scope->addresses.find(key);
  if (it != scope->addresses.end()) {
    return it->second;
  }
  LaneAddresses result = computeAddresses(pointer, dims, copy, scope->builder);
  scope->addresses[key] = result;
  return result;
}

LaneAddresses Evaluator::computeAddresses(Value pointer, const Dims &dims, unsigned copy,
                                          OpBuilder &builder) {
  Location loc = pointer.getLoc();
  Type bits = lanesOf(builder.getI64Type(), width);
  Type vectorType = addressVectorType(builder.getContext(), width);
  auto fromBits = [&](Value value) -> LaneAddresses {
    value = broadcast(builder, value, value.getType());
    return {builder.create<LLVM::IntToPtrOp>(loc, vectorType, value), nullptr};
  };
  auto stored = kernel.buffers.find(pointer);
  if (stored != kernel.buffers.end()) {
    return fromBits(
        loadFromBuffer(stored->second, shapeOf(pointer), builder.getI64Type(), dims, copy, loc));
  }
  if (const tile::Induction *induction = kernel.axes.induction(pointer)) {
    LaneAddresses start = laneAddresses(induction->initial, dims, copy);
    Value moved = kernel.inductionOffsets.lookup(pointer);
    if (isa<LLVM::LLVMPointerType>(start.base.getType())) {
      start.base = builder.create<LLVM::GEPOp>(loc, start.base.getType(), pointeeOf(pointer),
                                               start.base, ValueRange{moved});
      return start;
    }
    return {vectorOfAddresses(builder, loc,
                              {start.base, broadcast(builder, moved, moved.getType())},
                              pointeeOf(pointer)),
            start.offsets};
  }
  Operation *op = pointer.getDefiningOp();
  if (isa_and_nonnull<tile::ExpandDimsOp, tile::BroadcastOp, tile::TransOp, tile::ReshapeOp>(op)) {
    if (!readsElsewhere(op, op->getOperand(0))) {
      return laneAddresses(op->getOperand(0), mapDims(op, op->getOperand(0), dims), copy);
    }
    auto source = kernel.buffers.find(op->getOperand(0));
    if (source != kernel.buffers.end()) {
      return fromBits(
          loadFromBuffer(source->second, shapeOf(pointer), builder.getI64Type(), dims, copy, loc));
    }
    if (kernel.axes.isUniformEverywhere(op->getOperand(0))) {
      return {evaluate(op->getOperand(0), Dims(shapeOf(op->getOperand(0)).size(), zeroDim), copy),
              nullptr};
    }
  }
  if (auto cast = dyn_cast_or_null<tile::PtrCastOp>(op)) {
    LaneAddresses source = laneAddresses(cast.getSource(), dims, copy);
    return {vectorOfAddresses(builder, loc, source, pointeeOf(cast.getSource())), nullptr};
  }
  if (auto cast = dyn_cast_or_null<tile::IntToPtrOp>(op)) {
    return fromBits(evaluate(cast.getSource(), dims, copy));
  }
  if (auto select = dyn_cast_or_null<arith::SelectOp>(op)) {
    Value condition = isTile(select.getCondition())
                          ? evaluateLanes(select.getCondition(), dims, copy)
                          : kernel.scalar(select.getCondition());
    Value yes = evaluateAddressBits(select.getTrueValue(), dims, copy);
    Value no = evaluateAddressBits(select.getFalseValue(), dims, copy);
    return fromBits(builder.create<arith::SelectOp>(loc, condition, broadcast(builder, yes, bits),
                                                    broadcast(builder, no, bits)));
  }
  if (auto gather = dyn_cast_or_null<tile::GatherOp>(op)) {
    return fromBits(evaluateGather(*this, gather, dims, copy, builder));
  }
  if (auto load = dyn_cast_or_null<tile::LoadOp>(op)) {
    return fromBits(computeLoad(load, dims, copy, builder));
  }
  auto add = dyn_cast_or_null<tile::AddPtrOp>(op);
  if (!add) {
    if (!kernel.failed) {
      kernel.unsupported(op ? op : pointer.getParentBlock()->getParentOp(),
                         "it has no form on this target");
    }
    return {kernel.zero(LLVM::LLVMPointerType::get(builder.getContext())), nullptr};
  }
  Type pointee = pointeeOf(pointer);
  LaneAddresses start = laneAddresses(add.getPointer(), dims, copy);
  Value offset = evaluate(add.getOffset(), dims, copy);
  if (!isa<VectorType>(offset.getType())) {
    if (isa<LLVM::LLVMPointerType>(start.base.getType())) {
      start.base = builder.create<LLVM::GEPOp>(loc, start.base.getType(), pointee, start.base,
                                               ValueRange{offset});
      return start;
    }
    offset = broadcast(builder, offset, offset.getType());
  }
  if (!start.offsets) {
    return {start.base, offset};
  }
  auto widen = [&](Value value) -> Value {
    if (getElementTypeOrSelf(value.getType()).isInteger(64)) {
      return value;
    }
    return builder.create<arith::ExtSIOp>(loc, bits, value);
  };
  return {start.base, builder.create<arith::AddIOp>(loc, widen(start.offsets), widen(offset))};
}

Value Evaluator::evaluateAddressBits(Value pointer, const Dims &coordinates, unsigned copy) {
  Dims dims = kernel.axes.normalise(pointer, coordinates);
  Location loc = pointer.getLoc();
  OpBuilder &builder = scopes[levelOf(dims)]->builder;
  if (width == 1 || lanePosition(dims) < 0) {
    return builder.create<LLVM::PtrToIntOp>(loc, builder.getI64Type(),
                                            evaluate(pointer, dims, copy));
  }
  Value addresses =
      vectorOfAddresses(builder, loc, laneAddresses(pointer, dims, copy), pointeeOf(pointer));
  return builder.create<LLVM::PtrToIntOp>(loc, lanesOf(builder.getI64Type(), width), addresses);
}

/// `load` where the scalar condition holds, else `other`.
static Value loadIf(OpBuilder &builder, Location loc, Value condition, Value other,
                    llvm::function_ref<Value(OpBuilder &)> load) {
  auto branch = builder.create<scf::IfOp>(loc, TypeRange{other.getType()}, condition, true);
  OpBuilder then = branch.getThenBodyBuilder();
  then.create<scf::YieldOp>(loc, load(then));
  OpBuilder otherwise = branch.getElseBodyBuilder();
  otherwise.create<scf::YieldOp>(loc, other);
  return branch.getResult(0);
}

/// A load that a mask turns off altogether costs a hundred times as much where no memory is.
Value Evaluator::readableAddress(tile::LoadOp op, const Dims &dims, Value address,
                                 OpBuilder &builder) {
  Value holds = op.getMask() ? conditionOfLanes(op.getMask(), dims) : Value();
  return holds ? builder.create<arith::SelectOp>(op.getLoc(), holds, address, kernel.slotsArgument)
                     .getResult()
               : address;
}

Value Evaluator::computeLoad(tile::LoadOp op, const Dims &dims, unsigned copy, OpBuilder &builder) {
  Location loc = op.getLoc();
  Value pointer = op.getPointer();
  Type element = KernelState::scalarType(elementTypeOf(op.getResult()));
  int lane = width > 1 ? lanePosition(dims) : -1;
  bool addressElements = isa<LLVM::LLVMPointerType>(element);
  if (addressElements && lane >= 0) {
    element = builder.getI64Type();
  }
  Type memory = addressElements && lane < 0 ? element : KernelState::memoryType(element);
  unsigned align = static_cast<unsigned>(KernelState::byteSize(element));
  LaneMask mask = op.getMask() ? evaluateMask(op.getMask(), dims, copy) : LaneMask();
  auto otherValue = [&]() -> Value {
    if (!op.getOther()) {
      return kernel.zero(element);
    }
    if (addressElements && lane >= 0) {
      return evaluateAddressBits(op.getOther(), dims, copy);
    }
    return evaluate(op.getOther(), dims, copy);
  };
  if (mask.kind == LaneMask::Kind::None) {
    return otherValue();
  }
  auto loadOne = [&](OpBuilder &b, Value address) -> Value {
    Value raw = b.create<LLVM::LoadOp>(loc, memory, address, align, op.getIsVolatile());
    return convertElements(b, loc, raw, element);
  };
  Axis axis;
  if (lane >= 0) {
    axis = kernel.axes.axis(pointer, lane, addressView());
  }
  if (lane < 0 || axis.kind == AxisKind::Uniform) {
    Value address =
        lane < 0 ? evaluate(pointer, dims, copy) : firstAddress(pointer, dims, lane, copy, builder);
    if (mask.kind == LaneMask::Kind::All) {
      return loadOne(builder, address);
    }
    Value other = otherValue();
    if (mask.kind == LaneMask::Kind::Scalar && !isa<VectorType>(other.getType())) {
      return loadIf(builder, loc, mask.value, other,
                    [&](OpBuilder &b) { return loadOne(b, address); });
    }
    Value any = mask.value;
    if (mask.kind == LaneMask::Kind::Vector) {
      any = builder.create<vector::ReductionOp>(loc, vector::CombiningKind::OR, mask.value);
    }
    Value one = loadIf(builder, loc, any, kernel.zero(element),
                       [&](OpBuilder &b) { return loadOne(b, address); });
    return builder.create<arith::SelectOp>(loc, mask.value, broadcast(builder, one, element),
                                           broadcast(builder, other, element));
  }
  auto vectorType = cast<VectorType>(lanesOf(memory, width));
  bool unit = isUnitStride(pointer, lane);
  if (mask.kind == LaneMask::Kind::All && unit) {
    Value address = firstAddress(pointer, dims, lane, copy, builder);
    Value raw = builder.create<LLVM::LoadOp>(loc, vectorType, address, align, op.getIsVolatile());
    return convertElements(builder, loc, raw, element);
  }
  Value passThrough = kernel.zero(vectorType);
  if (mask.kind != LaneMask::Kind::All && op.getOther()) {
    Value other = broadcast(builder, otherValue(), element);
    passThrough = convertElements(builder, loc, other, memory);
  }
  Value lanes = mask.kind == LaneMask::Kind::All
                    ? kernel.constantInt(lanesOf(builder.getI1Type(), width), 1)
                    : broadcast(builder, mask.value, builder.getI1Type());
  Value raw;
  if (unit) {
    Value address = firstAddress(pointer, dims, lane, copy, builder);
    address = readableAddress(op, dims, address, builder);
    raw = builder.create<LLVM::MaskedLoadOp>(loc, vectorType, address, lanes,
                                             ValueRange{passThrough}, align);
  } else if (mask.kind == LaneMask::Kind::All && axis.kind == AxisKind::Linear && align < 4) {
    // No gather of elements this narrow: element by element.
    Value address = firstAddress(pointer, dims, lane, copy, builder);
    Value stride = strideOf(pointer, lane, dims);
    raw = passThrough;
    for (unsigned i = 0; i < width; ++i) {
      Value index = builder.create<arith::MulIOp>(loc, stride, kernel.i64(i));
      Value at =
          builder.create<LLVM::GEPOp>(loc, address.getType(), memory, address, ValueRange{index});
      Value one = builder.create<LLVM::LoadOp>(loc, memory, at, align);
      raw = builder.create<vector::InsertOp>(loc, one, raw, static_cast<int64_t>(i));
    }
  } else if (auto pattern = lanePatternOf(*this, op, dims, mask)) {
    raw = loadPattern(*this, op, *pattern, dims, copy, builder, mask, memory);
    if (mask.kind != LaneMask::Kind::All && op.getOther()) {
      raw = builder.create<arith::SelectOp>(loc, lanes, raw, passThrough);
    }
  } else {
    Value addresses = gatherAddresses(builder, loc, pointer, dims, copy, memory);
    raw = kernel.machine.hasGather && align < 4 && !op.getIsVolatile()
              ? gatherOfWords(builder, loc, addresses, lanes, passThrough, vectorType)
              : builder
                    .create<LLVM::masked_gather>(loc, vectorType, addresses, lanes,
                                                 ValueRange{passThrough}, align)
                    .getResult();
  }
  return convertElements(builder, loc, raw, element);
}

void Evaluator::storeNonTemporal(tile::StoreOp op, ArrayRef<Value> copies) {
  Location loc = op.getLoc();
  Value pointer = op.getPointer();
  Dims dims = identityDims(shapeOf(pointer).size());
  OpBuilder &builder = scopes.back()->builder;
  Type element = KernelState::scalarType(elementTypeOf(op.getValue()));
  Type memory = KernelState::memoryType(element);
  unsigned bytes = static_cast<unsigned>(KernelState::byteSize(element)) * width;
  unsigned joined = static_cast<unsigned>(kernel.machine.vectorBytes) / bytes;
  int lane = lanePosition(dims);
  bool canJoin = joined > 1 && copies.size() % joined == 0 && lane >= 0;
  for (unsigned c = 0; canJoin && c < copies.size(); ++c) {
    LaneMask mask = op.getMask() ? evaluateMask(op.getMask(), dims, c) : LaneMask();
    canJoin = mask.kind == LaneMask::Kind::All;
  }
  if (!canJoin) {
    for (unsigned c = 0; c < copies.size(); ++c) {
      store(op, c, copies[c], true);
    }
    return;
  }
  for (unsigned first = 0; first < copies.size(); first += joined) {
    SmallVector<Value> parts;
    for (unsigned c = first; c < first + joined; ++c) {
      parts.push_back(broadcast(builder, convertElements(builder, loc, copies[c], memory), memory));
    }
    while (parts.size() > 1) {
      auto type = cast<VectorType>(parts[0].getType());
      auto order = llvm::to_vector(llvm::seq<int64_t>(0, 2 * type.getNumElements()));
      SmallVector<Value> wider;
      for (size_t i = 0; i < parts.size(); i += 2) {
        wider.push_back(builder.create<vector::ShuffleOp>(loc, parts[i], parts[i + 1], order));
      }
      parts = std::move(wider);
    }
    Value address = firstAddress(pointer, dims, lane, first, builder);
    builder.create<LLVM::StoreOp>(loc, parts[0], address, bytes * joined, false, true);
  }
}

void Evaluator::store(tile::StoreOp op, unsigned copy, Value lanes, bool nonTemporal) {
  Location loc = op.getLoc();
  Value pointer = op.getPointer();
  Dims dims = identityDims(shapeOf(pointer).size());
  OpBuilder &builder = scopes.back()->builder;
  LaneMask mask = op.getMask() ? evaluateMask(op.getMask(), dims, copy) : LaneMask();
  if (mask.kind == LaneMask::Kind::None) {
    return;
  }
  Type element = KernelState::scalarType(elementTypeOf(op.getValue()));
  unsigned align = static_cast<unsigned>(KernelState::byteSize(element));
  Type memory = KernelState::memoryType(element);
  int lane = width > 1 ? lanePosition(dims) : -1;
  Value value = convertElements(builder, loc, lanes, memory);
  auto storeScalar = [&](Value address, Value scalar) {
    if (mask.kind == LaneMask::Kind::All) {
      builder.create<LLVM::StoreOp>(loc, scalar, address, align);
      return;
    }
    auto branch = builder.create<scf::IfOp>(loc, mask.value, false);
    OpBuilder then = branch.getThenBodyBuilder();
    then.create<LLVM::StoreOp>(loc, scalar, address, align);
  };
  if (lane < 0) {
    storeScalar(evaluate(pointer, dims, copy), value);
    return;
  }
  value = broadcast(builder, value, memory);
  if (isUnitStride(pointer, lane)) {
    Value address = firstAddress(pointer, dims, lane, copy, builder);
    if (mask.kind == LaneMask::Kind::All) {
      builder.create<LLVM::StoreOp>(loc, value, address, nonTemporal ? align * width : align, false,
                                    nonTemporal);
      return;
    }
    Value active = broadcast(builder, mask.value, builder.getI1Type());
    builder.create<LLVM::MaskedStoreOp>(loc, value, address, active, align);
    return;
  }
  Value active = mask.kind == LaneMask::Kind::All
                     ? kernel.constantInt(lanesOf(builder.getI1Type(), width), 1)
                     : broadcast(builder, mask.value, builder.getI1Type());
  Value addresses = gatherAddresses(builder, loc, pointer, dims, copy, memory);
  builder.create<LLVM::masked_scatter>(loc, value, addresses, active, align);
}

} // namespace nereid::cpu
