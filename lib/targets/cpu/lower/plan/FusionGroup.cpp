// SPDX-License-Identifier: Apache-2.0
// Which roots may share a loop nest: one iteration shape, no use of a reduction's result before it
// is complete, and no reordering of memory accesses that could be seen, see MemoryAccesses.h.
#include "lib/targets/cpu/lower/plan/FusionPlan.h"

using namespace mlir;

namespace nereid::cpu {

Dims identityDims(size_t rank) {
  Dims dims;
  for (size_t i = 0; i < rank; ++i) {
    dims.push_back(static_cast<int8_t>(i));
  }
  return dims;
}

llvm::ArrayRef<int64_t> Root::shape() const {
  switch (kind) {
  case Kind::Store:
    return shapeOf(cast<tile::StoreOp>(op).getPointer());
  case Kind::Reduce:
    return shapeOf(cast<tile::ReduceOp>(op).getSources()[0]);
  case Kind::Keep:
    return shapeOf(value);
  }
  return {};
}

static SmallVector<Value, 4> inputsOf(const Root &root) {
  if (root.kind == Root::Kind::Keep) {
    return {root.value};
  }
  SmallVector<Value, 4> inputs;
  for (Value operand : root.op->getOperands()) {
    if (isTile(operand)) {
      inputs.push_back(operand);
    }
  }
  return inputs;
}

/// Visits what the root reads. A kept tile about to be computed is looked into, not stopped at.
static void forEachInput(const FusionPlan &plan, const Root &root,
                         llvm::function_ref<void(Value, const Dims &)> visit) {
  Dims dims = identityDims(root.shape().size());
  for (Value input : inputsOf(root)) {
    if (root.kind == Root::Kind::Keep && !root.isCopy && input.getDefiningOp()) {
      Operation *op = input.getDefiningOp();
      if (isa<tile::LoadOp>(op)) {
        visit(input, dims);
      }
      for (Value operand : op->getOperands()) {
        if (!isTile(operand)) {
          visit(operand, {});
        } else {
          plan.forEachLeaf(operand, mapDims(op, operand, dims), visit);
        }
      }
      continue;
    }
    plan.forEachLeaf(input, dims, visit);
  }
}

bool readsInPlace(const FusionPlan &plan, const Root &root, Value stored) {
  const Dims identity = identityDims(root.shape().size());
  bool inPlace = root.shape() == shapeOf(stored);
  forEachInput(plan, root, [&](Value leaf, const Dims &dims) {
    inPlace &= leaf != stored || dims == identity;
  });
  return inPlace;
}

bool GroupState::reads(Value stored) const {
  bool isRead = false;
  for (const Root &root : roots) {
    forEachInput(plan, root, [&](Value leaf, const Dims &) { isRead |= leaf == stored; });
  }
  return isRead;
}

bool GroupState::canJoin(const Root &root) const {
  if (roots.empty()) {
    return true;
  }
  if (root.shape() != roots[0].shape()) {
    return false;
  }
  if (root.kind == Root::Kind::Reduce && reduceAxis >= 0 &&
      static_cast<int>(cast<tile::ReduceOp>(root.op).getAxis()) != reduceAxis) {
    return false;
  }
  Dims identity = identityDims(root.shape().size());
  bool fits = true;
  Value ownStore;
  if (root.kind == Root::Kind::Store) {
    ownStore = cast<tile::StoreOp>(root.op).getPointer();
    for (Value pointer : loadPointers) {
      fits &= !plan.mayConflict(pointer, ownStore);
    }
    for (Value pointer : storePointers) {
      fits &= !plan.mayConflict(pointer, ownStore);
    }
  }
  forEachInput(plan, root, [&](Value leaf, const Dims &dims) {
    if (!fits) {
      return;
    }
    if (reduced.contains(leaf)) {
      fits = false;
      return;
    }
    if (keptHere.contains(leaf)) {
      for (size_t i = 0; i < dims.size(); ++i) {
        fits &= dims[i] == identity[i] || shapeOf(leaf)[i] == 1;
      }
      return;
    }
    auto load = leaf.getDefiningOp<tile::LoadOp>();
    if (load && isTile(leaf) && !plan.isKept(leaf)) {
      fits &= plan.position(load) < firstStore;
    }
    if (load && isTile(leaf) && (!plan.isKept(leaf) || leaf == root.value)) {
      for (Value pointer : storePointers) {
        fits &= plan.position(load) < firstStore && !plan.mayConflict(pointer, load.getPointer());
      }
    }
  });
  return fits;
}

void GroupState::add(const Root &root) {
  roots.push_back(root);
  if (root.kind == Root::Kind::Reduce) {
    auto reduce = cast<tile::ReduceOp>(root.op);
    reduceAxis = reduce.getAxis();
    for (Value result : reduce.getResults()) {
      reduced.insert(result);
    }
  }
  if (root.kind == Root::Kind::Keep && !root.isCopy) {
    keptHere.insert(root.value);
  }
  forEachInput(plan, root, [&](Value leaf, const Dims &) {
    auto load = leaf.getDefiningOp<tile::LoadOp>();
    if (load && isTile(leaf) && (!plan.isKept(leaf) || leaf == root.value)) {
      loadPointers.push_back(load.getPointer());
    }
  });
  if (root.kind == Root::Kind::Store) {
    firstStore = std::min(firstStore, plan.position(root.op));
    storePointers.push_back(cast<tile::StoreOp>(root.op).getPointer());
  }
}

void GroupState::clear() {
  roots.clear();
  reduced.clear();
  keptHere.clear();
  loadPointers.clear();
  storePointers.clear();
  firstStore = ~0u;
  reduceAxis = -1;
}

bool GroupState::isNeededBy(Value value) const {
  if (roots.empty()) {
    return false;
  }
  if (reduced.contains(value) || keptHere.contains(value)) {
    return true;
  }
  if (!isTile(value)) {
    return false;
  }
  bool needed = false;
  plan.forEachLeaf(value, Dims(shapeOf(value).size(), zeroDim), [&](Value leaf, const Dims &) {
    needed |= reduced.contains(leaf) || keptHere.contains(leaf);
  });
  return needed;
}

} // namespace nereid::cpu
