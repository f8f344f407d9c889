// SPDX-License-Identifier: Apache-2.0
#include "lib/targets/cpu/lower/PrefetchTiles.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace nereid::cpu {
namespace {

/// __builtin_prefetch's locality 2: the second level is large enough for a tile of each operand,
/// and the first is needed by the products. Locality 3 brings the same or 0.2 % less.
constexpr int32_t secondLevel = 2;

/// Writes addresses of the loop's iterations in front of one of its operations.
class IterationAddresses {
public:
  IterationAddresses(scf::ForOp loop, Operation *nest) : loop(loop), builder(nest) {}

  /// With the loops inside at their beginning; null when it is no plain arithmetic.
  Value at(Value address, bool isNext) {
    IRMapping mapping;
    return clone(address, mapping, isNext);
  }

  OpBuilder &at() { return builder; }

private:
  Value clone(Value value, IRMapping &mapping, bool isNext) {
    if (Value known = mapping.lookupOrNull(value)) {
      return known;
    }
    if (!loop.getRegion().isAncestor(value.getParentRegion())) {
      return value;
    }
    Value result = isa<BlockArgument>(value) ? argument(cast<BlockArgument>(value), mapping, isNext)
                                             : computed(value, mapping, isNext);
    if (result) {
      mapping.map(value, result);
    }
    return result;
  }

  Value computed(Value value, IRMapping &mapping, bool isNext) {
    Operation *op = value.getDefiningOp();
    if (!isPure(op) || op->getNumRegions() != 0 || op->getNumResults() != 1) {
      return nullptr;
    }
    for (Value operand : op->getOperands()) {
      if (!clone(operand, mapping, isNext)) {
        return nullptr;
      }
    }
    // Outside of the loop the mapping has nothing, and the operand stays what it is.
    return builder.clone(*op, mapping)->getResult(0);
  }

  Value argument(BlockArgument value, IRMapping &mapping, bool isNext) {
    auto owner = dyn_cast<scf::ForOp>(value.getOwner()->getParentOp());
    if (!owner || (owner != loop && value != owner.getInductionVar())) {
      return nullptr;
    }
    if (owner != loop) {
      return clone(owner.getLowerBound(), mapping, isNext);
    }
    if (!isNext) {
      return value;
    }
    if (value == loop.getInductionVar()) {
      return builder.create<arith::AddIOp>(loop.getLoc(), value, loop.getStep());
    }
    // What this iteration hands on is computed from its own numbers.
    IRMapping now;
    return clone(loop.getYieldedValues()[value.getArgNumber() - 1], now, false);
  }

  scf::ForOp loop;
  OpBuilder builder;
};

/// The kernel's argument or the pointer read from it that an address starts from.
Value baseOf(Value address) {
  while (auto step = address.getDefiningOp<LLVM::GEPOp>()) {
    address = step.getBase();
  }
  return address;
}

bool isScratch(Value base) {
  constexpr unsigned scratchArgument = 3;
  auto argument = dyn_cast<BlockArgument>(base);
  return argument && argument.getArgNumber() == scratchArgument &&
         isa<func::FuncOp>(argument.getOwner()->getParentOp());
}

/// The address of a vector read by the operation; null when it reads none.
Value vectorAddress(Operation *op) {
  if (op->getNumResults() != 1 || !isa<VectorType>(op->getResult(0).getType())) {
    return nullptr;
  }
  auto load = dyn_cast<LLVM::LoadOp>(op);
  auto masked = dyn_cast<LLVM::MaskedLoadOp>(op);
  Value address = load ? load.getAddr() : masked ? masked.getData() : Value();
  return address && !isScratch(baseOf(address)) ? address : Value();
}

/// Whether all that the nest does is to bring something into scratch. What is combined with a tile
/// there may be read again for each of its rows.
bool isCopy(scf::ForOp nest) {
  bool stores = false, isPlain = true;
  nest.walk([&](Operation *op) {
    auto load = dyn_cast<LLVM::LoadOp>(op);
    auto store = dyn_cast<LLVM::StoreOp>(op);
    stores |= bool(store);
    isPlain &= !isa<LLVM::MaskedStoreOp, LLVM::Prefetch>(op) &&
               (!store || isScratch(baseOf(store.getAddr()))) &&
               (!load || !isScratch(baseOf(load.getAddr())));
  });
  return stores && isPlain;
}

void prefetchIn(scf::ForOp nest, scf::ForOp loop) {
  SmallVector<Operation *> loads;
  nest.walk([&](Operation *op) {
    if (vectorAddress(op)) {
      loads.push_back(op);
    }
  });
  llvm::DenseMap<Value, Value> distances; ///< in bytes, by base
  for (Operation *load : loads) {
    Value address = vectorAddress(load), base = baseOf(address);
    Location loc = load->getLoc();
    auto [place, isFirst] = distances.try_emplace(base, Value());
    if (isFirst) {
      IterationAddresses addresses(loop, nest);
      Value now = addresses.at(address, false), next = addresses.at(address, true);
      if (now && next) {
        OpBuilder &builder = addresses.at();
        Type i64 = builder.getI64Type();
        place->second =
            builder.create<arith::SubIOp>(loc, builder.create<LLVM::PtrToIntOp>(loc, i64, next),
                                          builder.create<LLVM::PtrToIntOp>(loc, i64, now));
      }
    }
    if (Value distance = place->second) {
      OpBuilder builder(load);
      Value ahead = builder.create<LLVM::GEPOp>(loc, address.getType(), builder.getI8Type(),
                                                address, ValueRange{distance});
      builder.create<LLVM::Prefetch>(loc, ahead, 0, secondLevel, 1);
    }
  }
}

} // namespace

void prefetchNextTiles(scf::ForOp loop) {
  for (auto nest : llvm::make_early_inc_range(loop.getBody()->getOps<scf::ForOp>())) {
    if (isCopy(nest)) {
      prefetchIn(nest, loop);
    }
  }
}

} // namespace nereid::cpu
