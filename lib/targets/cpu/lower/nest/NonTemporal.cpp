// SPDX-License-Identifier: Apache-2.0
#include "lib/targets/cpu/lower/nest/NonTemporal.h"

#include "lib/targets/cpu/Attributes.h"
#include "lib/targets/cpu/MachineSizes.h"
#include "lib/targets/cpu/lower/Recognisers.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace nereid::cpu {

/// What a kernel loads it may load again, or has in the cache already.
static bool isOnlyWritten(const FusionPlan &plan, tile::StoreOp store) {
  Value argument = plan.memory().argumentOf(store.getPointer());
  if (!argument || plan.memory().isRead(argument)) {
    return false;
  }
  WalkResult result = store->getParentOfType<func::FuncOp>().walk([](Operation *op) {
    return isa<tile::DotOp>(op) || tile::isAtomic(op) ? WalkResult::interrupt()
                                                      : WalkResult::advance();
  });
  return !result.wasInterrupted();
}

bool mayBeNonTemporal(tile::StoreOp store, const FusionPlan &plan, const Machine &machine) {
  bool isPlain = store.getCache() == tile::CacheModifier::None &&
                 store.getEvict() == tile::EvictionPolicy::Normal &&
                 !store->hasAttr(attribute::cached);
  return isPlain && machine.hasNonTemporalStores && !isPointerTile(store.getValue()) &&
         isOnlyWritten(plan, store);
}

int64_t leastNonTemporalPrograms(tile::StoreOp store, const Machine &machine) {
  auto bytes = static_cast<uint64_t>(KernelState::byteSize(elementTypeOf(store.getValue())));
  for (int64_t size : shapeOf(store.getValue())) {
    bytes *= static_cast<uint64_t>(size);
  }
  return static_cast<int64_t>(
      llvm::divideCeil(static_cast<uint64_t>(sizes::nonTemporalFromBytes(machine)), bytes));
}

void keepInCaches(tile::StoreOp store) {
  store->setAttr(attribute::cached, UnitAttr::get(store.getContext()));
}

/// The value in the prologue; null when it is neither a constant nor an argument of the kernel.
static Value atEntry(KernelState &kernel, Value value) {
  bool isArgument = isa<BlockArgument>(value) &&
                    isa<func::FuncOp>(cast<BlockArgument>(value).getOwner()->getParentOp());
  if (!isArgument && !value.getDefiningOp<arith::ConstantOp>()) {
    return nullptr;
  }
  value = kernel.scalar(value);
  Type i64 = IntegerType::get(value.getContext(), 64);
  return value.getType() == i64
             ? value
             : kernel.entry->create<arith::ExtSIOp>(value.getLoc(), i64, value).getResult();
}

/// How often a program makes the store at least, as far as the arguments tell; null = once.
static Value storesOfProgram(KernelState &kernel, tile::StoreOp store) {
  Location loc = store.getLoc();
  OpBuilder &builder = *kernel.entry;
  Value product;
  for (auto loop = store->getParentOfType<scf::ForOp>(); loop;
       loop = loop->getParentOfType<scf::ForOp>()) {
    IntegerAttr step;
    if (!matchPattern(loop.getStep(), m_Constant(&step)) || step.getInt() <= 0) {
      continue;
    }
    Value first = atEntry(kernel, loop.getLowerBound());
    Value end = first ? atEntry(kernel, loop.getUpperBound()) : Value();
    if (!end) {
      continue;
    }
    Value length = builder.create<arith::SubIOp>(loc, end, first);
    length = builder.create<arith::MaxSIOp>(loc, length, kernel.i64(step.getInt()));
    Value times = builder.create<arith::DivUIOp>(loc, length, kernel.i64(step.getInt()));
    product = product ? builder.create<arith::MulIOp>(loc, product, times).getResult() : times;
  }
  return product;
}

Value isLargeLaunch(KernelState &kernel, tile::StoreOp store) {
  if (!tally(Recogniser::NonTemporal, mayBeNonTemporal(store, kernel.plan, kernel.machine))) {
    return nullptr;
  }
  Location loc = store.getLoc();
  OpBuilder &builder = *kernel.entry;
  Value programs;
  for (int32_t axis = 0; axis < 3; ++axis) {
    Value address =
        builder.create<LLVM::GEPOp>(loc, kernel.countArgument.getType(), builder.getI32Type(),
                                    kernel.countArgument, ArrayRef<LLVM::GEPArg>{axis});
    Value count = builder.create<LLVM::LoadOp>(loc, builder.getI32Type(), address, 4);
    count = builder.create<arith::ExtUIOp>(loc, builder.getI64Type(), count);
    programs = programs ? builder.create<arith::MulIOp>(loc, programs, count) : count;
  }
  if (Value times = storesOfProgram(kernel, store)) {
    programs = builder.create<arith::MulIOp>(loc, programs, times);
  }
  return builder.create<arith::CmpIOp>(loc, arith::CmpIPredicate::sge, programs,
                                       kernel.i64(leastNonTemporalPrograms(store, kernel.machine)));
}

void fenceNonTemporalStores(KernelState &kernel, OpBuilder &builder, Location loc) {
  if (kernel.storesNonTemporal && kernel.isBlocking) {
    builder.create<LLVM::CallIntrinsicOp>(loc, TypeRange{},
                                          builder.getStringAttr("llvm.x86.sse.sfence"),
                                          ValueRange{}, LLVM::FastmathFlagsAttr());
  }
}

} // namespace nereid::cpu
