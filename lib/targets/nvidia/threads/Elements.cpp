// SPDX-License-Identifier: Apache-2.0
#include "lib/lowering/Passes.h"
#include "lib/targets/nvidia/threads/Extrema.h"
#include "lib/targets/nvidia/threads/Lowering.h"
#include "lib/tile/ir/Attributes.h"

using namespace mlir;

namespace nereid::nvidia {

void lowerProgramId(ThreadCode &code, tile::ProgramIdOp op) {
  code.hold(op, code.programId(static_cast<unsigned>(op.getAxis())));
}

void lowerNumPrograms(ThreadCode &code, tile::NumProgramsOp op) {
  code.hold(op, code.programCount(static_cast<unsigned>(op.getAxis())));
}

using layout::Holder;

/// How many registers the results of `op` have.
static size_t registerCount(Operation *op) {
  Value result = op->getResult(0);
  return isTile(result) ? static_cast<size_t>(layoutOf(result)->count(Holder::Register)) : 1;
}

/// For each register the first one whose element is known to equal its own.
static SmallVector<size_t> equalRegisters(Operation *op, const tile::AxisInfo &info) {
  const auto layout = *layoutOf(op->getResult(0));
  int64_t ofRun = 0; // bits of an element's number that make no difference
  int64_t step = 1;  // of the dimension
  for (size_t dim = layout.shape().size(); dim-- > 0; step *= layout.shape()[dim]) {
    const int64_t run = std::min(info.constancy(static_cast<unsigned>(dim)), layout.shape()[dim]);
    ofRun |= llvm::isPowerOf2_64(static_cast<uint64_t>(run)) ? (run - 1) * step : 0;
  }
  SmallVector<size_t> result;
  llvm::DenseMap<int64_t, size_t> first;
  for (int64_t reg = 0; reg < layout.count(Holder::Register); ++reg) {
    const int64_t rest = layout.contribution(Holder::Register, reg) & ~ofRun;
    result.push_back(first.try_emplace(rest, result.size()).first->second);
  }
  return result;
}

void lowerElementwise(ThreadCode &code, Operation *op, const tile::AxisInfos &axes) {
  const size_t count = registerCount(op);
  const bool mayRepeat = count > 1 && op->getNumResults() == 1 && isTile(op->getResult(0)) &&
                         isa<IntegerType>(tile::elementTypeOf(op->getResult(0).getType()));
  SmallVector<size_t> equal;
  if (mayRepeat) {
    equal = equalRegisters(op, axes.of(op->getResult(0)));
  }
  SmallVector<ThreadCode::Held> results(op->getNumResults());
  SmallVector<Type> types;
  for (Type type : op->getResultTypes()) {
    types.push_back(threadType(tile::elementTypeOf(type)));
  }
  SmallVector<NamedAttribute> attributes;
  for (auto [ofTile, ofThread] :
       {std::pair(tile::attribute::rounded, lowering::roundedAttribute),
        std::pair(tile::attribute::nearby, lowering::nearbyAttribute),
        std::pair(tile::attribute::rare, lowering::rareAttribute),
        std::pair(tile::attribute::forHalves, lowering::forHalvesAttribute)}) {
    if (op->hasAttr(ofTile)) {
      attributes.emplace_back(code.builder.getStringAttr(ofThread), code.builder.getUnitAttr());
    }
  }
  for (NamedAttribute attribute : op->getAttrs()) {
    if (attribute.getName() != layoutsAttribute &&
        !attribute.getName().strref().starts_with("tile.")) {
      attributes.push_back(attribute);
    }
  }
  for (size_t i = 0; i < count; ++i) {
    if (mayRepeat && equal[i] != i) {
      results.front().push_back(results.front()[equal[i]]);
      continue;
    }
    OperationState state(code.loc, op->getName());
    bool isSame = i > 0; // as the register before: of splats
    for (Value operand : op->getOperands()) {
      const auto &held = code.held(operand);
      const size_t at = isTile(operand) ? i : 0;
      state.operands.push_back(held[at]);
      isSame = isSame && (at == 0 || held[at] == held[at - 1]);
    }
    if (isSame) {
      for (ThreadCode::Held &held : results) {
        held.push_back(held.back());
      }
      continue;
    }
    state.addTypes(types);
    state.addAttributes(attributes);
    Operation *made = code.builder.create(state);
    for (auto [held, value] : llvm::zip(results, made->getResults())) {
      held.push_back(value);
    }
  }
  for (auto [result, held] : llvm::zip(op->getResults(), results)) {
    code.hold(result, held);
  }
}

template <class Op> static void lowerAs(ThreadCode &code, Op op, Extremum extremum) {
  const auto &left = code.held(op.getLeft()), &right = code.held(op.getRight());
  ThreadCode::Held held;
  for (size_t i = 0; i < left.size(); ++i) {
    held.push_back(extremumOfNumbers(code, extremum, left[i], right[i]));
  }
  code.hold(op, held);
}

void lowerExtremumOf(ThreadCode &code, tile::MaxNumOp op) { lowerAs(code, op, Extremum::Max); }
void lowerExtremumOf(ThreadCode &code, tile::MinNumOp op) { lowerAs(code, op, Extremum::Min); }

void lowerConstant(ThreadCode &code, arith::ConstantOp op) {
  auto elements = dyn_cast<DenseElementsAttr>(op.getValue());
  if (!elements) {
    code.hold(op, code.builder.create<arith::ConstantOp>(code.loc, op.getValue()).getResult());
    return;
  }
  const size_t count = registerCount(op);
  if (elements.isSplat()) {
    auto value = elements.getSplatValue<TypedAttr>();
    Value one = code.builder.create<arith::ConstantOp>(code.loc, value);
    code.hold(op, ThreadCode::Held(count, one));
    return;
  }
  // Which elements a thread has is known when it runs: a choice among all, by their numbers.
  const auto layout = *layoutOf(op);
  ThreadCode::Held held;
  for (Value element : code.elements(layout)) {
    Value chosen;
    for (auto [number, value] : llvm::enumerate(elements.getValues<TypedAttr>())) {
      Value one = code.builder.create<arith::ConstantOp>(code.loc, value);
      if (!chosen) {
        chosen = one;
        continue;
      }
      Value is = code.builder.create<arith::CmpIOp>(code.loc, arith::CmpIPredicate::eq, element,
                                                    code.constant(static_cast<int64_t>(number)));
      chosen = code.builder.create<arith::SelectOp>(code.loc, is, one, chosen);
    }
    held.push_back(chosen);
  }
  code.hold(op, held);
}

void lowerAddPtr(ThreadCode &code, tile::AddPtrOp op) {
  const Type pointee =
      cast<tile::PtrType>(tile::elementTypeOf(op.getPointer().getType())).getPointee();
  // Of the pointee's size: constants in offsets become those of the instructions.
  Type step = code.builder.getIntegerType(memoryBits(pointee)), i64 = code.builder.getI64Type();
  const auto &pointers = code.held(op.getPointer()), &offsets = code.held(op.getOffset());
  ThreadCode::Held held;
  for (size_t i = 0; i < pointers.size(); ++i) {
    if (i > 0 && pointers[i] == pointers[i - 1] && offsets[i] == offsets[i - 1]) {
      held.push_back(held.back());
      continue;
    }
    Value offset = offsets[i];
    if (offset.getType() != i64) {
      offset = code.builder.create<arith::ExtSIOp>(code.loc, i64, offset);
    }
    held.push_back(code.builder.create<LLVM::GEPOp>(code.loc, pointers[i].getType(), step,
                                                    pointers[i], ArrayRef<LLVM::GEPArg>{offset}));
  }
  code.hold(op, held);
}

void lowerPointerCast(ThreadCode &code, Operation *op) {
  ThreadCode::Held held;
  const Type type = threadType(tile::elementTypeOf(op->getResult(0).getType()));
  for (Value value : code.held(op->getOperand(0))) {
    if (isa<tile::PtrToIntOp>(op)) {
      value = code.builder.create<LLVM::PtrToIntOp>(code.loc, type, value);
    } else if (isa<tile::IntToPtrOp>(op)) {
      value = code.builder.create<LLVM::IntToPtrOp>(code.loc, type, value);
    }
    held.push_back(value);
  }
  code.hold(op->getResult(0), held);
}

} // namespace nereid::nvidia
