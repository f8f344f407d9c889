// SPDX-License-Identifier: Apache-2.0
// The analysis behind FusionPlan: positions, costs, a trial grouping, then one walk from the last
// operation to the first that spreads "who reads me" from the roots upwards.
#include "lib/targets/cpu/lower/plan/FusionPlan.h"

#include "llvm/ADT/StringSwitch.h"

using namespace mlir;

namespace nereid::cpu {

/// Recomputing more than this many vector operations costs more than a trip through the cache.
constexpr int keepAboveCost = 12;
/// Evaluation is recursive; a longer chain of operations is cut by materialising a tile.
constexpr int keepAboveDepth = 600;
constexpr int costCap = 1 << 20;

static int ownCost(Operation *op) {
  StringRef name = op->getName().stripDialect();
  if (isa<tile::GatherOp>(op)) {
    return 6;
  }
  if (op->getName().getDialectNamespace() == "math") {
    return llvm::StringSwitch<int>(name)
        .Cases("absf", "fma", "floor", "ceil", "copysign", 1)
        .Cases("absi", "trunc", "round", "roundeven", 1)
        .Cases("sqrt", "rsqrt", 9)
        .Default(20);
  }
  return llvm::StringSwitch<int>(name)
      .Case("divf", 8)
      .Cases("divsi", "divui", "remsi", "remui", 14)
      .Case("remf", 30)
      .Default(1);
}

int FusionPlan::cost(Value tile) const {
  auto it = costs.find(tile);
  return it == costs.end() || isStored(tile) ? 1 : it->second;
}

bool FusionPlan::isStored(Value tile) const {
  if (materialised.contains(tile)) {
    return true;
  }
  Operation *op = tile.getDefiningOp();
  if (!op) {
    return !axes.induction(tile);
  }
  return isa<tile::ReduceOp, tile::DotOp>(op) || isCrossLane(op) || tile::isAtomic(op) ||
         op->getNumRegions() != 0;
}

void FusionPlan::forEachLeaf(Value tile, const Dims &dims,
                             llvm::function_ref<void(Value, const Dims &)> visit) const {
  llvm::DenseSet<std::pair<Value, uint64_t>> seen;
  SmallVector<std::pair<Value, Dims>> work{{tile, dims}};
  while (!work.empty()) {
    auto [value, at] = work.pop_back_val();
    uint64_t packed = 0;
    for (int8_t d : at) {
      packed = packed * 16 + static_cast<uint64_t>(d + 1);
    }
    if (!seen.insert({value, packed}).second) {
      continue;
    }
    if (!isTile(value)) {
      visit(value, {});
      continue;
    }
    if (isStored(value)) {
      visit(value, at);
      continue;
    }
    if (const tile::Induction *induction = axes.induction(value)) {
      work.push_back({induction->initial, at});
      continue;
    }
    Operation *op = value.getDefiningOp();
    if (isa<tile::LoadOp>(op)) {
      visit(value, at);
    }
    for (Value operand : op->getOperands()) {
      work.push_back({operand, isTile(operand) ? mapDims(op, operand, at) : Dims()});
    }
  }
}

bool FusionPlan::isReadTransposed(Value tile) const {
  Operation *op = tile.getDefiningOp();
  size_t rank = shapeOf(tile).size();
  if (!op || rank < 2 || readsElsewhere(op, op->getNumOperands() ? op->getOperand(0) : tile)) {
    return false;
  }
  bool transposed = false, straight = false;
  auto visit = [&](Value leaf, const Dims &dims) {
    auto load = leaf.getDefiningOp<tile::LoadOp>();
    if (!load || !isTile(leaf) || (leaf != tile && isStored(leaf))) {
      return;
    }
    for (unsigned i = 0; i < dims.size(); ++i) {
      Axis axis = axes.axis(load.getPointer(), i, AxisView::Assumed);
      if (dims[i] != zeroDim && axis.kind == AxisKind::Linear && axis.stride == 1) {
        (dims[i] + 1 == static_cast<int>(rank) ? straight : transposed) = true;
      }
    }
  };
  Dims identity = identityDims(rank);
  if (isa<tile::LoadOp>(op)) {
    visit(tile, identity);
  } else {
    for (Value operand : op->getOperands()) {
      if (isTile(operand)) {
        forEachLeaf(operand, mapDims(op, operand, identity), visit);
      }
    }
  }
  return transposed && !straight;
}

void FusionPlan::number(Operation *function) {
  unsigned next = 1;
  function->walk<WalkOrder::PreOrder>([&](Operation *op) {
    positions[op] = next++;
    if (isa<tile::ReduceOp, tile::ScanOp>(op)) {
      return WalkResult::skip(); // the region works on scalars
    }
    // A delayed store is only made when it cannot change what is loaded around it.
    if (op->getNumRegions() == 0 && tile::hasSideEffects(op) &&
        !isDelayedStore(op->getParentOp())) {
      effects.push_back(positions[op]);
    }
    if (auto store = dyn_cast<tile::StoreOp>(op)) {
      stores.push_back(store);
    }
    if (op->getNumResults() == 0 || !isTile(op->getResult(0)) || op->getNumRegions() != 0 ||
        isa<tile::DotOp>(op) || isCrossLane(op) || tile::isAtomic(op)) {
      return WalkResult::advance();
    }
    int cost = ownCost(op), depth = 1;
    bool reads = isa<tile::LoadOp>(op);
    for (Value operand : op->getOperands()) {
      if (isTile(operand)) {
        auto it = costs.find(operand);
        cost = std::min(costCap, cost + (it == costs.end() ? 1 : it->second));
        depth = std::max(depth, 1 + depths.lookup(operand));
        reads |= it == costs.end() ? isStored(operand) : loadful.contains(operand);
      }
    }
    bool cut = depth > keepAboveDepth;
    for (Value result : op->getResults()) {
      if (cut) {
        materialised.insert(result);
      }
      // What is recomputed from a load is recomputed from the cache.
      costs[result] = cut ? 1 : isa<tile::LoadOp>(op) ? 2 : cost;
      depths[result] = cut ? 1 : depth;
      if (reads) {
        loadful.insert(result);
      }
    }
    return WalkResult::advance();
  });
}

/// A root that must be in a nest, before it is known which tiles are materialised.
static std::optional<FusionRoot> asRoot(Operation &op) {
  if (auto store = dyn_cast<tile::StoreOp>(op); store && isTile(store.getPointer())) {
    return FusionRoot{FusionRoot::Kind::Store, &op, nullptr, -1, false};
  }
  if (isDelayedStore(&op)) {
    return FusionRoot{FusionRoot::Kind::Store, &op.getRegion(0).front().front(), nullptr, -1,
                      false};
  }
  if (isa<tile::ReduceOp>(op)) {
    return FusionRoot{FusionRoot::Kind::Reduce, &op, nullptr, -1, false};
  }
  return std::nullopt;
}

void FusionPlan::simulateGroups(Block &block) {
  GroupState state(*this);
  unsigned first = 0;
  for (Operation &op : block) {
    if (std::optional<FusionRoot> root = asRoot(op)) {
      if (state.empty() || !state.canJoin(*root)) {
        state.clear();
        first = position(&op);
      }
      state.add(*root);
      groups[root->op] = first;
      continue;
    }
    bool tileless =
        llvm::none_of(op.getOperands(), isTile) && llvm::none_of(op.getResults(), isTile);
    bool ends = op.getNumRegions() != 0 || tile::hasSideEffects(&op) || isa<tile::DotOp>(op) ||
                isCrossLane(&op) || (tileless && isa<tile::LoadOp>(op) && state.writesMemory());
    ends |=
        tileless && llvm::any_of(op.getOperands(), [&](Value v) { return state.isNeededBy(v); });
    if (ends) {
      state.clear();
    }
    if (!isa<tile::ReduceOp, tile::ScanOp>(op)) {
      for (Region &region : op.getRegions()) {
        for (Block &inner : region) {
          simulateGroups(inner);
        }
      }
    }
  }
}

void FusionPlan::note(Operation *user, Value tile, unsigned group, unsigned position, Use flags) {
  if (!isTile(tile)) {
    return;
  }
  Use &use = uses[tile];
  use.first = std::min(use.first, group);
  use.last = std::max(use.last, group);
  use.lastPosition = std::max(use.lastPosition, position);
  use.insideLoop |= flags.insideLoop;
  use.repeated |= flags.repeated;
  use.forced |= flags.forced;
  for (Block *block = user->getBlock(); block && block != tile.getParentBlock();) {
    Operation *parent = block->getParentOp();
    use.insideLoop |= isa<scf::ForOp, scf::WhileOp>(parent);
    block = parent->getBlock();
  }
}

bool FusionPlan::hasEffectBetween(unsigned after, unsigned before) const {
  auto it = std::upper_bound(effects.begin(), effects.end(), after);
  return it != effects.end() && *it < before;
}

/// A load is also materialised when a store of its own nest writes the same tensor at other
/// coordinates.
bool FusionPlan::clashesWithStore(tile::LoadOp load) const {
  const Use &use = uses.find(load.getResult())->second;
  for (tile::StoreOp store : stores) {
    if (!isTile(store.getPointer())) {
      continue;
    }
    unsigned group = groups.lookup(store);
    if (group < use.first || group > use.last || position(store) < position(load)) {
      continue;
    }
    if (mayConflict(load.getPointer(), store.getPointer())) {
      return true;
    }
  }
  return false;
}

bool FusionPlan::readsMemory(Value tile) const { return loadful.contains(tile); }

/// Column, row and image numbers of a list of pixels: `n % width`, `(n // width) % height`. The
/// divisions take longer than all else in an address. A remainder without a quotient stays, for
/// addresses that wrap once are followed without it.
static bool isPlaceInList(Operation *op) {
  auto isQuotient = [](Operation *other) {
    return isa_and_nonnull<arith::DivSIOp, arith::DivUIOp>(other);
  };
  if (!isa<arith::RemSIOp, arith::RemUIOp>(op)) {
    return isQuotient(op);
  }
  return isQuotient(op->getOperand(0).getDefiningOp()) ||
         llvm::any_of(op->getOperand(0).getUsers(), [&](Operation *other) {
           return isQuotient(other) && llvm::equal(other->getOperands(), op->getOperands());
         });
}

bool FusionPlan::shouldMaterialise(Operation *op, Value tile, const Use &use) const {
  if (use.forced) {
    return true;
  }
  bool several = use.first != use.last;
  if (auto load = dyn_cast<tile::LoadOp>(op)) {
    bool contiguous = axes.isUniformEverywhere(load.getPointer());
    for (unsigned d = 0; d < shapeOf(tile).size(); ++d) {
      Axis axis = axes.axis(load.getPointer(), d, AxisView::Assumed);
      contiguous |= axis.kind == AxisKind::Linear && axis.stride.value_or(1) == 1;
    }
    return load.getIsVolatile() || use.insideLoop || isPointerTile(tile) ||
           ((several || use.repeated) && !contiguous) || hasEffectBetween(position(op), use.last) ||
           clashesWithStore(load);
  }
  if (isPointerTile(tile) || isa<tile::SplatOp, arith::ConstantOp, tile::MakeRangeOp>(op)) {
    return false;
  }
  if (use.insideLoop && readsMemory(tile) && !elementTypeOf(tile).isInteger(1)) {
    return true;
  }
  if (use.insideLoop && isPlaceInList(op) && !axes.isUniformEverywhere(tile)) {
    return true;
  }
  return (several || use.repeated || use.insideLoop) && cost(tile) > keepAboveCost &&
         (readsMemory(tile) || isa<FloatType>(elementTypeOf(tile)));
}

/// What is loaded along one dimension and stored along another goes through scratch, transposed in
/// registers, when it consists of whole blocks.
bool FusionPlan::storesTransposed(tile::StoreOp store) const {
  Value value = store.getValue();
  ArrayRef<int64_t> shape = shapeOf(value);
  if (shape.size() < 2 || isPointerTile(value) || isStored(value)) {
    return false;
  }
  unsigned last = shape.size() - 1;
  Axis axis = axes.axis(store.getPointer(), last, AxisView::Assumed);
  bool wholeBlocks = shape[last] % 32 == 0 && shape[last - 1] % 32 == 0;
  return wholeBlocks && axis.kind == AxisKind::Linear && axis.stride == 1 &&
         isReadTransposed(value);
}

static bool repeatsOuter(Operation *op) {
  auto broadcast = dyn_cast<tile::BroadcastOp>(op);
  if (!broadcast) {
    return false;
  }
  auto from = shapeOf(broadcast.getSource()), to = shapeOf(broadcast.getResult());
  for (size_t i = 0; i + 1 < from.size(); ++i) {
    if (from[i] != to[i]) {
      return true;
    }
  }
  return false;
}

/// A dot reads single elements of its first operand, which it finds in columns as well as in rows:
/// what is materialised anyhow is not transposed for it.
static Value sourceOfTransposed(tile::DotOp dot) {
  auto transposed = dot.getA().getDefiningOp<tile::TransOp>();
  if (!transposed || shapeOf(transposed.getResult()).size() != 2 || transposed.getOrder()[0] != 1) {
    return nullptr;
  }
  Value source = transposed.getSource();
  bool isMaterialisedAnyhow = source.getDefiningOp<tile::DotOp>() ||
                              llvm::any_of(source.getUsers(), llvm::IsaPred<tile::DotOp>);
  return isMaterialisedAnyhow ? source : nullptr;
}

Value FusionPlan::transposedOperand(tile::DotOp dot) const {
  return isMaterialised(dot.getA()) ? Value() : sourceOfTransposed(dot);
}

void FusionPlan::decide(Operation *op) {
  unsigned here = position(op);
  if (op->getNumRegions() != 0 ||
      isa<tile::DotOp, tile::UnsplatOp, tile::PrintOp, tile::AssertOp, tile::StoreOp,
          tile::ReduceOp>(op) ||
      isCrossLane(op) || tile::isAtomic(op) || op->hasTrait<OpTrait::IsTerminator>()) {
    unsigned group = groups.lookup(op) ? groups.lookup(op) : here;
    Use use;
    for (Value operand : op->getOperands()) {
      // An atomic's loads are done before its first write.
      use.forced = isCrossLane(op) || (tile::isAtomic(op) && readsMemory(operand));
      use.repeated = tile::isAtomic(op); // computed once in vectors rather than element by element
      note(op, operand, group, here, use);
    }
    if (auto store = dyn_cast<tile::StoreOp>(op); store && storesTransposed(store)) {
      uses[store.getValue()].forced = true;
    }
    if (auto dot = dyn_cast<tile::DotOp>(op)) {
      Value source = sourceOfTransposed(dot);
      uses[source ? source : dot.getA()].forced = uses[dot.getB()].forced = true;
      Type type = elementTypeOf(dot.getC());
      if (isa<FloatType>(type) && type.getIntOrFloatBitWidth() < 32) {
        type = Float32Type::get(op->getContext());
      }
      // One by one: a new entry may move the others.
      for (Value operand : {Value(dot.getA()), Value(dot.getB()), source}) {
        if (operand) {
          storage[operand] = type;
        }
      }
    }
    return;
  }
  for (Value result : op->getResults()) {
    if (isTile(result)) {
      decide(op, result);
    }
  }
}

/// One tile that is evaluated element by element.
void FusionPlan::decide(Operation *op, Value tile) {
  unsigned here = position(op);
  auto it = uses.find(tile);
  if (it == uses.end()) {
    return; // nobody reads it
  }
  Use use = it->second;
  if (shouldMaterialise(op, tile, use)) {
    materialised.insert(tile);
  }
  Use passed;
  unsigned first = use.first, last = use.last, lastPosition = use.lastPosition;
  if (materialised.contains(tile)) {
    first = last = lastPosition = here;
  } else {
    passed.insideLoop = use.insideLoop;
    passed.repeated = use.repeated || repeatsOuter(op);
  }
  for (Value operand : op->getOperands()) {
    passed.forced = readsElsewhere(op, operand) && !axes.isUniformEverywhere(operand);
    note(op, operand, first, lastPosition, passed);
    if (isTile(operand)) {
      uses[operand].last = std::max(uses[operand].last, last);
    }
  }
}

void FusionPlan::analyse(Operation *function) {
  accesses.find(function);
  number(function);
  for (Region &region : function->getRegions()) {
    for (Block &block : region) {
      simulateGroups(block);
    }
  }
  SmallVector<Operation *> order(positions.size() + 1, nullptr);
  for (auto [op, at] : positions) {
    order[at] = op;
  }
  for (Operation *op : llvm::reverse(order)) {
    if (op && op != function) {
      decide(op);
    }
  }
}

} // namespace nereid::cpu
