// SPDX-License-Identifier: Apache-2.0
#include "lib/targets/cpu/lower/product/recognise/GemmDemand.h"

#include "lib/targets/cpu/lower/product/GemmEpilogue.h"

using namespace mlir;

namespace nereid::cpu {

/// Every path from the value to memory ends in one of these stores.
static bool collectStores(Value value, SmallVectorImpl<tile::StoreOp> &stores, int depth = 32) {
  return depth > 0 && llvm::all_of(value.getUsers(), [&](Operation *user) {
           if (auto store = dyn_cast<tile::StoreOp>(user)) {
             if (!llvm::is_contained(stores, store)) {
               stores.push_back(store);
             }
             return store.getValue() == value;
           }
           return isElementwise(user) && llvm::all_of(user->getResults(), [&](Value result) {
                    return shapeOf(result) == shapeOf(value) &&
                           collectStores(result, stores, depth - 1);
                  });
         });
}

/// Only scalars that are computed before the loop stand behind the tile.
static bool isKnownBefore(KernelState &kernel, scf::ForOp loop, Value tile) {
  bool known = true;
  kernel.plan.forEachLeaf(tile, Dims(shapeOf(tile).size(), zeroDim), [&](Value leaf, const Dims &) {
    Operation *around = leaf.getParentBlock()->findAncestorOpInBlock(*loop.getOperation());
    Operation *op = leaf.getDefiningOp();
    known &= !isTile(leaf) && around && (!op || op->isBeforeInBlock(around));
  });
  return known;
}

/// Neighbours in memory are those of a column: a vector of a row would be scattered, while the
/// tile as a whole can be transposed.
static bool isTransposed(KernelState &kernel, tile::StoreOp store) {
  auto isUnit = [&](unsigned dim) {
    Axis axis = kernel.axes.axis(store.getPointer(), dim, AxisView::Address);
    return axis.kind == AxisKind::Linear && axis.stride == 1;
  };
  return shapeOf(store.getPointer()).size() == 2 && isUnit(0) && !isUnit(1);
}

void findDemand(KernelState &kernel, scf::ForOp loop, GemmLoop &gemm) {
  SmallVector<tile::StoreOp> stores;
  Value sums = gemm.sums = loop.getResult(gemm.carried);
  if (!collectStores(sums, stores) || stores.empty()) {
    return;
  }
  if (stores.size() == 1 && !isTransposed(kernel, stores[0]) &&
      canStoreInLoop(kernel, loop, sums, stores[0])) {
    gemm.store = stores[0];
  }
  for (tile::StoreOp store : stores) {
    DemandedPart part;
    int taken = 0, terms = 0;
    if (!store.getMask()) {
      gemm.demanded.clear();
      return;
    }
    forEachTerm(kernel, store.getMask(), {0, 1}, [&](Value term, const Dims &dims) {
      for (int8_t dim : {0, 1}) {
        bool alone = llvm::is_contained(dims, dim) && !llvm::is_contained(dims, 1 - dim);
        std::optional<PrefixTerm> prefix = alone ? asPrefix(kernel, term, dims, dim) : std::nullopt;
        if (prefix && !prefix->isLower && isKnownBefore(kernel, loop, prefix->linear) &&
            isKnownBefore(kernel, loop, prefix->limit)) {
          (dim == 0 ? part.rows : part.columns).push_back(*prefix);
          ++taken;
        }
      }
      ++terms;
      return true;
    });
    gemm.masksDemand = taken == terms;
    gemm.demanded.push_back(std::move(part));
  }
}

/// Every path from the value to memory, through further products and the loops around as well,
/// ends in one of these stores, element by element.
static bool followToStores(Value value, SmallVectorImpl<tile::StoreOp> &stores,
                           llvm::SmallPtrSetImpl<void *> &seen) {
  if (!seen.insert(value.getAsOpaquePointer()).second) {
    return true;
  }
  return llvm::all_of(value.getUses(), [&](OpOperand &use) {
    Operation *user = use.getOwner();
    auto goesOn = [&](Value next) { return followToStores(next, stores, seen); };
    if (auto store = dyn_cast<tile::StoreOp>(user)) {
      stores.push_back(store);
      return store.getValue() == value && store.getPointer() != value;
    }
    if (auto dot = dyn_cast<tile::DotOp>(user)) {
      return dot.getA() != value && dot.getB() != value && goesOn(dot.getResult());
    }
    if (auto inner = dyn_cast<scf::ForOp>(user)) {
      BlockArgument arg = inner.getTiedLoopRegionIterArg(&use);
      return arg && goesOn(arg) && goesOn(inner.getTiedLoopResult(&use));
    }
    auto around = isa<scf::YieldOp>(user) ? dyn_cast<scf::ForOp>(user->getParentOp()) : nullptr;
    if (around) {
      return goesOn(around.getRegionIterArgs()[use.getOperandNumber()]) &&
             goesOn(around.getResult(use.getOperandNumber()));
    }
    return isElementwise(user) && llvm::all_of(user->getResults(), [&](Value result) {
             return shapeOf(result) == shapeOf(value) && goesOn(result);
           });
  });
}

SmallVector<DemandedPart, 2> findWhatIsLookedAt(KernelState &kernel, Value sums) {
  SmallVector<DemandedPart, 2> lookedAt;
  SmallVector<tile::StoreOp> stores;
  llvm::SmallPtrSet<void *, 16> seen;
  if (!followToStores(sums, stores, seen)) {
    return lookedAt;
  }
  for (tile::StoreOp store : stores) {
    DemandedPart part;
    if (store.getMask()) {
      forEachTerm(kernel, store.getMask(), {0, 1}, [&](Value term, const Dims &dims) {
        for (int8_t dim : {0, 1}) {
          bool alone = llvm::is_contained(dims, dim) && !llvm::is_contained(dims, 1 - dim);
          if (auto prefix = alone ? asPrefix(kernel, term, dims, dim) : std::nullopt) {
            (dim == 0 ? part.rows : part.columns).push_back(*prefix);
          }
        }
        return true;
      });
    }
    lookedAt.push_back(std::move(part));
  }
  return lookedAt;
}

} // namespace nereid::cpu
