// SPDX-License-Identifier: Apache-2.0
// Values of fused producers: the dispatch over operations, with memoisation per loop level. Memory
// accesses are in EvaluateMemory.cpp, masks in LaneMasks.cpp.
#include "lib/targets/cpu/lower/elements/Evaluator.h"

#include "lib/lowering/Passes.h"
#include "lib/targets/cpu/lower/elements/Gathers.h"
#include "lib/tile/ir/Attributes.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace nereid::cpu {

Type lanesOf(Type element, unsigned width) {
  return width == 1 ? element : VectorType::get({static_cast<int64_t>(width)}, element);
}

Type addressVectorType(MLIRContext *context, unsigned width) {
  return LLVM::getFixedVectorType(LLVM::LLVMPointerType::get(context), width);
}

ElementKey Evaluator::keyOf(Value tile, const Dims &dims, unsigned copy) {
  uint64_t packed = 0;
  for (int8_t d : dims) {
    packed = packed * 16 + static_cast<uint64_t>(d + 1);
  }
  return {tile, packed * 16 + copy};
}

int Evaluator::lanePosition(const Dims &dims) const {
  if (laneDim == zeroDim) {
    return -1;
  }
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] == laneDim) {
      return static_cast<int>(i);
    }
  }
  return -1;
}

int Evaluator::levelOf(const Dims &dims) const {
  int level = 0;
  for (int8_t d : dims) {
    if (d != zeroDim) {
      level = std::max(level, dimLevel[d]);
    }
  }
  return level;
}

Value Evaluator::coordinate(int8_t dim, unsigned copy) {
  if (dim == zeroDim) {
    return kernel.i64(0);
  }
  return dim == laneDim ? laneBase[copy] : dimIndex[dim];
}

InFrontOf::InFrontOf(ArrayRef<Scope *> scopes, Operation *op) {
  for (Scope *scope : scopes) {
    if (scope->builder.getInsertionBlock() == op->getBlock()) {
      moved.push_back({scope, scope->builder.saveInsertionPoint()});
      scope->builder.setInsertionPoint(op);
    }
  }
}

InFrontOf::~InFrontOf() {
  for (auto &[scope, point] : moved) {
    scope->builder.restoreInsertionPoint(point);
  }
}

Value Evaluator::broadcast(OpBuilder &builder, Value value, Type element) {
  if (width == 1 || isa<VectorType>(value.getType())) {
    return value;
  }
  auto type = VectorType::get({static_cast<int64_t>(width)}, element);
  if (auto constant = value.getDefiningOp<arith::ConstantOp>()) {
    return kernel.constant(DenseElementsAttr::get(type, constant.getValue()));
  }
  return builder.create<vector::BroadcastOp>(value.getLoc(), type, value);
}

ResultRange Evaluator::applyElementwise(OpBuilder &builder, Operation *op, ArrayRef<Value> operands,
                                        unsigned lanes) {
  SmallVector<Type, 1> types;
  for (Type type : op->getResultTypes()) {
    if (auto tensor = dyn_cast<RankedTensorType>(type)) {
      type = tensor.getElementType();
    }
    types.push_back(lanesOf(KernelState::scalarType(type), lanes));
  }
  // Discardable attributes say something of the tile's elements, or of the source's loops.
  Operation *created =
      Operation::create(op->getLoc(), op->getName(), types, operands, builder.getDictionaryAttr({}),
                        op->getPropertiesStorage(), BlockRange(), op->getNumRegions());
  builder.insert(created);
  return created->getResults();
}

Value Evaluator::evaluate(Value tile, const Dims &coordinates, unsigned copy) {
  if (!isTile(tile)) {
    return kernel.scalar(tile);
  }
  Dims dims = kernel.axes.normalise(tile, coordinates);
  bool inLanes = lanePosition(dims) >= 0;
  ElementKey key = keyOf(tile, dims, inLanes ? copy : 0);
  Scope *scope = scopes[levelOf(dims)];
  if (Value known = scope->find(key)) {
    return known;
  }
  Value result = compute(tile, dims, copy, scope->builder);
  if (!result) {
    if (!kernel.failed) {
      Operation *op = tile.getDefiningOp();
      kernel.unsupported(op ? op : tile.getParentBlock()->getParentOp(),
                         "it has no form on this target");
    }
    result = kernel.zero(KernelState::scalarType(elementTypeOf(tile)));
  }
  scope->values[key] = result;
  return result;
}

Value Evaluator::evaluateLanes(Value tile, const Dims &dims, unsigned copy) {
  Value value = evaluate(tile, dims, copy);
  if (width == 1 || isa<VectorType>(value.getType())) {
    return value;
  }
  return broadcast(scopes.back()->builder, value, value.getType());
}

Value Evaluator::compute(Value tile, const Dims &dims, unsigned copy, OpBuilder &builder) {
  Type element = elementTypeOf(tile);
  Location loc = tile.getLoc();
  auto stored = kernel.buffers.find(tile);
  if (stored != kernel.buffers.end()) {
    return loadFromBuffer(stored->second, shapeOf(tile), element, dims, copy, loc);
  }
  int lane = lanePosition(dims);
  if (lane >= 0 && width > 1 && isa<IntegerType>(element) && !element.isInteger(1) &&
      kernel.axes.axis(tile, lane, AxisView::Exact).kind == AxisKind::Linear) {
    return computeLinear(tile, dims, copy, lane, builder);
  }
  if (const tile::Induction *induction = kernel.axes.induction(tile)) {
    Value start = evaluate(induction->initial, dims, copy);
    Value moved = kernel.inductionOffsets.lookup(tile);
    if (auto pointer = dyn_cast<tile::PtrType>(element)) {
      return builder.create<LLVM::GEPOp>(loc, start.getType(),
                                         KernelState::memoryType(pointer.getPointee()), start,
                                         ValueRange{moved});
    }
    if (isa<VectorType>(start.getType())) {
      moved = broadcast(builder, moved, element);
    }
    return builder.create<arith::AddIOp>(loc, start, moved);
  }
  Operation *op = tile.getDefiningOp();
  if (!op) {
    return nullptr;
  }
  if (auto splat = dyn_cast<tile::SplatOp>(op)) {
    return kernel.scalar(splat.getSource());
  }
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    return computeConstant(constant, dims, copy, builder);
  }
  if (auto range = dyn_cast<tile::MakeRangeOp>(op)) {
    Value start = kernel.constantInt(element, range.getStart());
    if (dims[0] == zeroDim) {
      return start;
    }
    Value index = builder.create<arith::TruncIOp>(loc, element, coordinate(dims[0], copy));
    return range.getStart() == 0 ? index : builder.create<arith::AddIOp>(loc, index, start);
  }
  if (auto load = dyn_cast<tile::LoadOp>(op)) {
    return computeLoad(load, dims, copy, builder);
  }
  if (auto select = dyn_cast<arith::SelectOp>(op)) {
    return computeSelect(select, dims, copy, builder);
  }
  if (auto gather = dyn_cast<tile::GatherOp>(op)) {
    Value bits = evaluateGather(*this, gather, dims, copy, builder);
    return bits ? convertElements(builder, loc, bits, KernelState::scalarType(element)) : nullptr;
  }
  if (auto reshape = dyn_cast<tile::ReshapeOp>(op); reshape && !isTrivialReshape(op)) {
    auto source = kernel.buffers.find(reshape.getSource());
    if (source != kernel.buffers.end()) {
      return loadFromBuffer(source->second, shapeOf(tile), element, dims, copy, loc);
    }
    if (!kernel.axes.isUniformEverywhere(reshape.getSource())) {
      return nullptr; // its elements stand elsewhere, and nobody has materialised them
    }
    return evaluate(reshape.getSource(), Dims(shapeOf(reshape.getSource()).size(), zeroDim), copy);
  }
  if (isa<tile::ExpandDimsOp, tile::BroadcastOp, tile::TransOp, tile::ReshapeOp>(op)) {
    Value source = op->getOperand(0);
    return evaluate(source, mapDims(op, source, dims), copy);
  }
  if (isa<tile::PtrToIntOp>(op)) {
    return evaluateAddressBits(op->getOperand(0), dims, copy);
  }
  if (auto add = dyn_cast<tile::AddPtrOp>(op)) {
    Value pointer = evaluate(add.getPointer(), dims, copy);
    Type pointee = KernelState::memoryType(cast<tile::PtrType>(element).getPointee());
    if (Value stepped = steppedAddress(pointer, add.getOffset(), dims, pointee, builder)) {
      return stepped;
    }
    Value offset = evaluate(add.getOffset(), dims, copy);
    return builder.create<LLVM::GEPOp>(loc, pointer.getType(), pointee, pointer,
                                       ValueRange{offset});
  }
  if (isa<tile::PtrCastOp>(op)) {
    return evaluate(op->getOperand(0), dims, copy);
  }
  if (isa<tile::IntToPtrOp>(op)) {
    return builder.create<LLVM::IntToPtrOp>(loc, KernelState::scalarType(element),
                                            evaluate(op->getOperand(0), dims, copy));
  }
  if (!isElementwise(op)) {
    return nullptr;
  }
  SmallVector<Value, 3> operands;
  bool vector = false;
  for (Value operand : op->getOperands()) {
    operands.push_back(evaluate(operand, dims, copy));
    vector |= isa<VectorType>(operands.back().getType());
  }
  if (vector) {
    for (Value &operand : operands) {
      operand = broadcast(builder, operand, operand.getType());
    }
  }
  return applyElementwise(builder, op, operands,
                          vector ? width : 1)[cast<OpResult>(tile).getResultNumber()];
}

Value iota(KernelState &kernel, Type element, unsigned width, int64_t step, int64_t start) {
  auto type = VectorType::get({static_cast<int64_t>(width)}, element);
  SmallVector<APInt> numbers;
  for (unsigned i = 0; i < width; ++i) {
    numbers.push_back(APInt(element.getIntOrFloatBitWidth(),
                            static_cast<uint64_t>(start + i * step),
                            /*isSigned=*/true));
  }
  return kernel.constant(DenseElementsAttr::get(type, numbers));
}

Value Evaluator::computeLinear(Value tile, const Dims &dims, unsigned copy, int lane,
                               OpBuilder &builder) {
  Location loc = tile.getLoc();
  Type element = elementTypeOf(tile);
  Dims first(dims);
  first[lane] = zeroDim;
  Value start = evaluate(tile, first, copy);
  Axis axis = kernel.axes.axis(tile, lane, AxisView::Exact);
  auto resize = [&](Value wide) -> Value {
    if (element.isInteger(64)) {
      return wide;
    }
    return builder.create<arith::TruncIOp>(loc, element, wide);
  };
  Value base = resize(laneBase[copy]);
  Value steps;
  if (axis.stride) {
    if (*axis.stride != 1) {
      base = builder.create<arith::MulIOp>(loc, base, kernel.constantInt(element, *axis.stride));
    }
    steps = iota(kernel, element, width, *axis.stride);
  } else {
    Value stride = resize(strideOf(tile, lane, dims));
    base = builder.create<arith::MulIOp>(loc, base, stride);
    steps = builder.create<arith::MulIOp>(loc, broadcast(builder, stride, element),
                                          iota(kernel, element, width, 1));
  }
  Value sum = builder.create<arith::AddIOp>(loc, start, base);
  return builder.create<arith::AddIOp>(loc, broadcast(builder, sum, element), steps);
}

Value Evaluator::strideOf(Value tile, unsigned dim, const Dims &dims) {
  Axis axis = kernel.axes.axis(tile, dim, AxisView::Assumed);
  if (axis.kind == AxisKind::Uniform) {
    return kernel.i64(0);
  }
  if (axis.stride) {
    return kernel.i64(*axis.stride);
  }
  if (const tile::Induction *induction = kernel.axes.induction(tile)) {
    return strideOf(induction->initial, dim, dims);
  }
  Operation *op = tile.getDefiningOp();
  Location loc = tile.getLoc();
  auto operandStride = [&](Value operand) -> Value {
    Dims own = identityDims(shapeOf(tile).size());
    Dims mapped = mapDims(op, operand, own);
    Dims at = mapDims(op, operand, dims);
    for (unsigned i = 0; i < mapped.size(); ++i) {
      if (mapped[i] == static_cast<int8_t>(dim)) {
        return strideOf(operand, i, at);
      }
    }
    return kernel.i64(0);
  };
  Dims first(dims);
  first[dim] = zeroDim;
  if (isa<arith::AddIOp, arith::SubIOp, tile::AddPtrOp>(op)) {
    Value a = operandStride(op->getOperand(0)), b = operandStride(op->getOperand(1));
    OpBuilder &builder = builderFor(first);
    if (isa<arith::SubIOp>(op)) {
      return builder.create<arith::SubIOp>(loc, a, b);
    }
    return builder.create<arith::AddIOp>(loc, a, b);
  }
  if (isa<arith::MulIOp>(op)) {
    unsigned linear =
        kernel.axes.axis(op->getOperand(0), dim, AxisView::Assumed).kind == AxisKind::Linear ? 0
                                                                                             : 1;
    Value stride = operandStride(op->getOperand(linear));
    Value factor = evaluate(op->getOperand(1 - linear), first, 0);
    OpBuilder &builder = builderFor(first);
    if (!factor.getType().isInteger(64)) {
      factor = builder.create<arith::ExtSIOp>(loc, builder.getI64Type(), factor);
    }
    return builder.create<arith::MulIOp>(loc, stride, factor);
  }
  return operandStride(op->getOperand(0));
}

Value Evaluator::computeSelect(arith::SelectOp op, const Dims &dims, unsigned copy,
                               OpBuilder &builder) {
  Location loc = op.getLoc();
  Value condition = op.getCondition();
  LaneMask mask;
  if (isTile(condition)) {
    mask = evaluateMask(condition, dims, copy);
  } else {
    mask = {LaneMask::Kind::Scalar, kernel.scalar(condition)};
  }
  if (mask.kind == LaneMask::Kind::All) {
    return evaluate(op.getTrueValue(), dims, copy);
  }
  if (mask.kind == LaneMask::Kind::None) {
    return evaluate(op.getFalseValue(), dims, copy);
  }
  Value yes = evaluate(op.getTrueValue(), dims, copy);
  Value no = evaluate(op.getFalseValue(), dims, copy);
  bool vector = mask.kind == LaneMask::Kind::Vector || isa<VectorType>(yes.getType()) ||
                isa<VectorType>(no.getType());
  if (vector) {
    yes = broadcast(builder, yes, yes.getType());
    no = broadcast(builder, no, no.getType());
  }
  auto chosen = builder.create<arith::SelectOp>(loc, mask.value, yes, no);
  for (auto [ofTile, ofLanes] :
       {std::pair(tile::attribute::rare, lowering::rareAttribute),
        std::pair(tile::attribute::forHalves, lowering::forHalvesAttribute)}) {
    if (op->hasAttr(ofTile)) {
      chosen->setAttr(ofLanes, builder.getUnitAttr());
    }
  }
  return chosen;
}

Value Evaluator::computeConstant(arith::ConstantOp op, const Dims &dims, unsigned copy,
                                 OpBuilder &builder) {
  auto dense = dyn_cast<DenseElementsAttr>(op.getValue());
  if (!dense) {
    return nullptr;
  }
  if (dense.isSplat()) {
    return kernel.constant(cast<TypedAttr>(dense.getSplatValue<Attribute>()));
  }
  // A table: chosen by comparing the row-major index with each element's number.
  Location loc = op.getLoc();
  Value index = kernel.i64(0);
  int64_t size = 1;
  auto shape = shapeOf(op.getResult());
  int lane = width > 1 ? lanePosition(dims) : -1;
  Type i64 = builder.getI64Type();
  int64_t laneStep = 0;
  for (int i = static_cast<int>(shape.size()) - 1; i >= 0; --i) {
    Value scaled = builder.create<arith::MulIOp>(loc, coordinate(dims[i], copy), kernel.i64(size));
    index = builder.create<arith::AddIOp>(loc, index, scaled);
    laneStep = i == lane ? size : laneStep;
    size *= shape[i];
  }
  if (lane >= 0) {
    index = builder.create<arith::AddIOp>(loc, broadcast(builder, index, i64),
                                          iota(kernel, i64, width, laneStep));
  }
  Value result;
  int64_t number = 0;
  for (Attribute attr : dense.getValues<Attribute>()) {
    Value element = kernel.constant(cast<TypedAttr>(attr));
    Value at = kernel.i64(number++);
    if (lane >= 0) {
      element = broadcast(builder, element, element.getType());
      at = broadcast(builder, at, i64);
    }
    if (!result) {
      result = element;
      continue;
    }
    Value isHere = builder.create<arith::CmpIOp>(loc, arith::CmpIPredicate::eq, index, at);
    result = builder.create<arith::SelectOp>(loc, isHere, element, result);
  }
  return result;
}

} // namespace nereid::cpu
