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

llvm::ArrayRef<int64_t> FusionRoot::shape() const {
  switch (kind) {
  case Kind::Store:
    return shapeOf(cast<tile::StoreOp>(op).getPointer());
  case Kind::Reduce:
    return shapeOf(cast<tile::ReduceOp>(op).getSources()[0]);
  case Kind::Materialise:
    return shapeOf(value);
  }
  return {};
}

static SmallVector<Value, 4> inputsOf(const FusionRoot &root) {
  if (root.kind == FusionRoot::Kind::Materialise) {
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

/// Visits what the root reads. A tile about to be materialised is looked into, not stopped at.
static void forEachInput(const FusionPlan &plan, const FusionRoot &root,
                         llvm::function_ref<void(Value, const Dims &)> visit) {
  Dims dims = identityDims(root.shape().size());
  for (Value input : inputsOf(root)) {
    if (root.kind == FusionRoot::Kind::Materialise && !root.isCopy && input.getDefiningOp()) {
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

bool readsInPlace(const FusionPlan &plan, const FusionRoot &root, Value stored) {
  const Dims identity = identityDims(root.shape().size());
  bool inPlace = root.shape() == shapeOf(stored);
  forEachInput(plan, root, [&](Value leaf, const Dims &dims) {
    inPlace &= leaf != stored || dims == identity;
  });
  return inPlace;
}

bool GroupState::reads(Value stored) const {
  bool isRead = false;
  for (const FusionRoot &root : roots) {
    forEachInput(plan, root, [&](Value leaf, const Dims &) { isRead |= leaf == stored; });
  }
  return isRead;
}

bool GroupState::canJoin(const FusionRoot &root) const {
  if (roots.empty()) {
    return true;
  }
  if (root.shape() != roots[0].shape()) {
    return false;
  }
  if (root.kind == FusionRoot::Kind::Reduce && reduceAxis >= 0 &&
      static_cast<int>(cast<tile::ReduceOp>(root.op).getAxis()) != reduceAxis) {
    return false;
  }
  Dims identity = identityDims(root.shape().size());
  bool fits = true;
  Value ownStore;
  if (root.kind == FusionRoot::Kind::Store) {
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
    if (materialisedHere.contains(leaf)) {
      for (size_t i = 0; i < dims.size(); ++i) {
        fits &= dims[i] == identity[i] || shapeOf(leaf)[i] == 1;
      }
      return;
    }
    auto load = leaf.getDefiningOp<tile::LoadOp>();
    if (load && isTile(leaf) && !plan.isMaterialised(leaf)) {
      fits &= plan.position(load) < firstStore;
    }
    if (load && isTile(leaf) && (!plan.isMaterialised(leaf) || leaf == root.value)) {
      for (Value pointer : storePointers) {
        fits &= plan.position(load) < firstStore && !plan.mayConflict(pointer, load.getPointer());
      }
    }
  });
  return fits;
}

void GroupState::add(const FusionRoot &root) {
  roots.push_back(root);
  if (root.kind == FusionRoot::Kind::Reduce) {
    auto reduce = cast<tile::ReduceOp>(root.op);
    reduceAxis = reduce.getAxis();
    for (Value result : reduce.getResults()) {
      reduced.insert(result);
    }
  }
  if (root.kind == FusionRoot::Kind::Materialise && !root.isCopy) {
    materialisedHere.insert(root.value);
  }
  forEachInput(plan, root, [&](Value leaf, const Dims &) {
    auto load = leaf.getDefiningOp<tile::LoadOp>();
    if (load && isTile(leaf) && (!plan.isMaterialised(leaf) || leaf == root.value)) {
      loadPointers.push_back(load.getPointer());
    }
  });
  if (root.kind == FusionRoot::Kind::Store) {
    firstStore = std::min(firstStore, plan.position(root.op));
    storePointers.push_back(cast<tile::StoreOp>(root.op).getPointer());
  }
}

void GroupState::clear() {
  roots.clear();
  reduced.clear();
  materialisedHere.clear();
  loadPointers.clear();
  storePointers.clear();
  firstStore = ~0u;
  reduceAxis = -1;
}

bool GroupState::isNeededBy(Value value) const {
  if (roots.empty()) {
    return false;
  }
  if (reduced.contains(value) || materialisedHere.contains(value)) {
    return true;
  }
  if (!isTile(value)) {
    return false;
  }
  bool needed = false;
  plan.forEachLeaf(value, Dims(shapeOf(value).size(), zeroDim), [&](Value leaf, const Dims &) {
    needed |= reduced.contains(leaf) || materialisedHere.contains(leaf);
  });
  return needed;
}

} // namespace nereid::cpu
