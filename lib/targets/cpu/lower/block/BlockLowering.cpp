// SPDX-License-Identifier: Apache-2.0
// Straight-line code: scalars and the collection of roots.
#include "lib/targets/cpu/lower/block/BlockLowering.h"

#include "lib/targets/cpu/lower/Recognisers.h"
#include "lib/targets/cpu/lower/block/Operations.h"
#include "lib/tile/transforms/Passes.h"

using namespace mlir;

namespace nereid::cpu {

BlockLowering::BlockLowering(KernelState &kernel, OpBuilder builder, const Scope *parent)
    : kernel(kernel), scope(builder, parent),
      pending(kernel.plan, [this](ArrayRef<FusionRoot> roots) {
        LoopNest(this->kernel, scope, roots).build();
      }) {}

void BlockLowering::addDelayedStore(scf::IfOp branch) {
  FusionRoot root{FusionRoot::Kind::Store, &branch.getThenRegion().front().front(), nullptr, -1,
                  false};
  root.guard = kernel.scalar(branch.getCondition());
  root.part = delayedPart(branch);
  if (std::string_view why = pending.addDelayedStore(root); !why.empty()) {
    kernel.misplaced(branch, why);
  }
}

void BlockLowering::releaseBefore(Operation *op) {
  if (!pending.group().empty()) {
    return;
  }
  llvm::erase_if(owned, [&](const std::pair<Value, int> &entry) {
    bool isOver = kernel.plan.lastUse(entry.first) < kernel.plan.position(op);
    if (isOver) {
      kernel.release(entry.second);
    }
    return isOver;
  });
}

void BlockLowering::disown(Value tile) {
  llvm::erase_if(owned, [&](const auto &entry) { return entry.first == tile; });
}

void BlockLowering::lower(Block &block) {
  for (Operation &op : block) {
    if (op.hasTrait<OpTrait::IsTerminator>()) {
      break;
    }
    lowerOp(op);
    if (kernel.failed) {
      return;
    }
  }
}

void BlockLowering::lowerOp(Operation &op) {
  if (done.contains(&op)) {
    return;
  }
  if (auto store = dyn_cast<tile::StoreOp>(op)) {
    if (isTile(store.getPointer())) {
      pending.add({FusionRoot::Kind::Store, &op, nullptr, -1, false});
    } else {
      lowerScalarStore(store);
    }
    return;
  }
  if (isa<tile::ReduceOp>(op)) {
    pending.add({FusionRoot::Kind::Reduce, &op, nullptr, -1, false});
    return;
  }
  if (isCrossLane(&op)) {
    flush();
    releaseBefore(&op);
    lowerCrossLane(*this, op);
    return;
  }
  if (auto dot = dyn_cast<tile::DotOp>(op)) {
    flush();
    lowerDot(*this, dot);
    return;
  }
  if (tile::isAtomic(&op)) {
    flush();
    lowerAtomic(*this, op);
    return;
  }
  if (auto print = dyn_cast<tile::PrintOp>(op)) {
    flush();
    lowerPrint(*this, print);
    return;
  }
  if (auto check = dyn_cast<tile::AssertOp>(op)) {
    flush();
    lowerAssert(*this, check);
    return;
  }
  if (isa<tile::BarrierOp>(op)) {
    flush(); // a thread's own accesses stay in order
    return;
  }
  if (isDelayedStore(&op)) {
    addDelayedStore(cast<scf::IfOp>(op));
    return;
  }
  if (op.getNumRegions() != 0) {
    flush();
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      lowerFor(loop);
    } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
      lowerIf(branch);
    } else if (auto loop = dyn_cast<scf::WhileOp>(op)) {
      lowerWhile(loop);
    } else {
      kernel.unsupported(&op, "it is not among the operations this target knows");
    }
    return;
  }
  if (op.getNumResults() != 0 && isTile(op.getResult(0))) {
    for (Value tile : op.getResults()) {
      if (kernel.plan.isMaterialised(tile)) {
        materialise(tile);
      }
    }
    return; // a fused producer is evaluated where it is used
  }
  lowerScalar(op);
}

/// A product that only this tile still reads, element by element: the tile takes its place, and
/// finds it in the cache.
Value BlockLowering::overwrittenProduct(const FusionRoot &root, Type element) const {
  const unsigned here = kernel.plan.position(root.value.getDefiningOp());
  for (auto [tile, buffer] : owned) {
    if (tile.getDefiningOp<tile::DotOp>() && kernel.plan.lastUse(tile) == here &&
        tally(Recogniser::OverwrittenProduct, kernel.buffer(buffer).element == element &&
                                                  !pending.group().reads(tile) &&
                                                  readsInPlace(kernel.plan, root, tile))) {
      return tile;
    }
  }
  return nullptr;
}

void BlockLowering::materialise(Value tile) {
  if (tile.getDefiningOp()->hasAttr(attribute::rowBefore)) {
    kernel.misplaced(tile.getDefiningOp(), "a tile of the row before is computed once for several "
                                           "nests");
    return;
  }
  pending.makeRoomFor(tile);
  releaseBefore(tile.getDefiningOp());
  FusionRoot root{FusionRoot::Kind::Materialise, nullptr, tile, -1, false};
  if (auto carried = kernel.inPlace.find(tile); carried != kernel.inPlace.end()) {
    root.target = carried->second;
    pending.addMaterialised(root);
    return;
  }
  Type stored = kernel.plan.storageType(tile);
  Type element = stored ? stored : elementTypeOf(tile);
  if (Value product = overwrittenProduct(root, element)) {
    root.target = kernel.buffers[product];
    disown(product);
  } else {
    root.target = kernel.allocate(shapeOf(tile), element, tile.getLoc());
  }
  own(tile, root.target);
  pending.addMaterialised(root);
}

int BlockLowering::bufferOf(Value tile, Type type) {
  auto own = kernel.buffers.find(tile);
  if (own != kernel.buffers.end() && kernel.buffer(own->second).element == type) {
    return own->second;
  }
  int buffer = kernel.allocate(shapeOf(tile), type, tile.getLoc());
  pending.add({FusionRoot::Kind::Materialise, nullptr, tile, buffer, true});
  flush();
  return buffer;
}

int BlockLowering::bufferFor(Value result) {
  int buffer = kernel.allocate(shapeOf(result), elementTypeOf(result), result.getLoc());
  kernel.buffers[result] = buffer;
  own(result, buffer);
  return buffer;
}

Value BlockLowering::scalarAtZero(Value tile) {
  if (!isTile(tile)) {
    return kernel.scalar(tile);
  }
  Evaluator evaluator(kernel);
  evaluator.scopes.push_back(&scope);
  return evaluator.evaluate(tile, Dims(shapeOf(tile).size(), zeroDim), 0);
}

void BlockLowering::lowerScalarStore(tile::StoreOp op) {
  flush();
  Location loc = op.getLoc();
  Value address = kernel.scalar(op.getPointer());
  Type memory = KernelState::memoryType(op.getValue().getType());
  Value value = convertElements(builder(), loc, kernel.scalar(op.getValue()), memory);
  unsigned align = static_cast<unsigned>(KernelState::byteSize(memory));
  OpBuilder inside = builder();
  if (op.getMask()) {
    auto branch = builder().create<scf::IfOp>(loc, kernel.scalar(op.getMask()), false);
    inside = branch.getThenBodyBuilder();
  }
  inside.create<LLVM::StoreOp>(loc, value, address, align);
}

Value BlockLowering::lowerScalarLoad(tile::LoadOp op) {
  Location loc = op.getLoc();
  Type element = KernelState::scalarType(op.getResult().getType());
  Type memory = isa<LLVM::LLVMPointerType>(element) ? element : KernelState::memoryType(element);
  unsigned align = static_cast<unsigned>(KernelState::byteSize(element));
  Value address = kernel.scalar(op.getPointer());
  auto load = [&](OpBuilder &b) {
    Value raw = b.create<LLVM::LoadOp>(loc, memory, address, align, op.getIsVolatile());
    return convertElements(b, loc, raw, element);
  };
  if (!op.getMask()) {
    return load(builder());
  }
  Value other = op.getOther() ? kernel.scalar(op.getOther()) : kernel.zero(element);
  auto branch =
      builder().create<scf::IfOp>(loc, TypeRange{element}, kernel.scalar(op.getMask()), true);
  OpBuilder then = branch.getThenBodyBuilder();
  then.create<scf::YieldOp>(loc, load(then));
  OpBuilder otherwise = branch.getElseBodyBuilder();
  otherwise.create<scf::YieldOp>(loc, other);
  return branch.getResult(0);
}

void BlockLowering::lowerScalar(Operation &op) {
  Location loc = op.getLoc();
  pending.flushBefore(op);
  if (isa<arith::ConstantOp>(op)) {
    return; // made where it is used
  }
  Value result = op.getNumResults() == 1 ? op.getResult(0) : Value();
  OpBuilder &b = builder();
  auto operand = [&](unsigned i) { return kernel.scalar(op.getOperand(i)); };
  Value lowered;
  if (isa<tile::ProgramIdOp, tile::NumProgramsOp>(op)) {
    bool isId = isa<tile::ProgramIdOp>(op);
    auto axis = static_cast<int32_t>(isId ? cast<tile::ProgramIdOp>(op).getAxis()
                                          : cast<tile::NumProgramsOp>(op).getAxis());
    lowered = kernel.loadId(b, isId ? kernel.idArgument : kernel.countArgument,
                            tile::isEndOfRange(&op) ? 3 : axis);
  } else if (auto unsplat = dyn_cast<tile::UnsplatOp>(op)) {
    lowered = scalarAtZero(unsplat.getSource());
  } else if (auto load = dyn_cast<tile::LoadOp>(op)) {
    lowered = lowerScalarLoad(load);
  } else if (auto add = dyn_cast<tile::AddPtrOp>(op)) {
    Type pointee =
        KernelState::memoryType(cast<tile::PtrType>(add.getPointer().getType()).getPointee());
    lowered = b.create<LLVM::GEPOp>(loc, operand(0).getType(), pointee, operand(0),
                                    ValueRange{operand(1)});
  } else if (isa<tile::PtrToIntOp>(op)) {
    lowered = b.create<LLVM::PtrToIntOp>(loc, b.getI64Type(), operand(0));
  } else if (isa<tile::IntToPtrOp>(op)) {
    lowered =
        b.create<LLVM::IntToPtrOp>(loc, KernelState::scalarType(result.getType()), operand(0));
  } else if (isa<tile::PtrCastOp>(op)) {
    lowered = operand(0);
  } else if (isElementwise(&op)) {
    SmallVector<Value, 3> operands;
    for (Value v : op.getOperands()) {
      operands.push_back(kernel.scalar(v));
    }
    Evaluator evaluator(kernel);
    ResultRange results = evaluator.applyElementwise(b, &op, operands, 1);
    for (auto [source, value] : llvm::zip(op.getResults(), results)) {
      kernel.scalars[source] = value;
    }
    return;
  }
  if (!lowered) {
    kernel.unsupported(&op, "it is not among the operations this target knows");
    return;
  }
  kernel.scalars[result] = lowered;
}

} // namespace nereid::cpu
