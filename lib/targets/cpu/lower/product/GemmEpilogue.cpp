// SPDX-License-Identifier: Apache-2.0
// Columns are evaluated once per register block, so that a bias is loaded once for all of its rows.
#include "lib/targets/cpu/lower/product/GemmEpilogue.h"
#include "lib/targets/cpu/lower/elements/Evaluator.h"
#include "lib/targets/cpu/lower/elements/FoldingArithmetic.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace nereid::cpu {

static bool isVolatile(Operation *op) {
  auto load = dyn_cast<tile::LoadOp>(op);
  return load && load.getIsVolatile();
}

/// What was loaded in front of the store and is evaluated behind it: the plan counts on both being
/// in one nest.
static bool isOvertaken(const KernelState &kernel, tile::StoreOp store) {
  bool isEarlier = false;
  auto visit = [&](Value leaf, const Dims &) {
    auto load = leaf.getDefiningOp<tile::LoadOp>();
    isEarlier |= load && isTile(leaf) && !kernel.plan.isStored(leaf) &&
                 kernel.plan.position(load) < kernel.plan.position(store);
  };
  for (Operation *op = store->getNextNode(); op; op = op->getNextNode()) {
    op->walk([&](Operation *inner) {
      for (Value operand : inner->getOperands()) {
        if (isTile(operand)) {
          kernel.plan.forEachLeaf(operand, Dims(shapeOf(operand).size(), zeroDim), visit);
        }
      }
    });
  }
  return isEarlier;
}

static bool isBefore(Value value, Operation *op) {
  Operation *source = value.getDefiningOp();
  Operation *around = source ? source->getBlock()->findAncestorOpInBlock(*op) : nullptr;
  return !source || (around && source->isBeforeInBlock(around));
}

bool canStoreInLoop(const KernelState &kernel, scf::ForOp loop, Value sums, tile::StoreOp store) {
  // Along rows in memory, a vector of columns would be scattered; a nest goes along rows as well.
  Axis columns = kernel.axes.axis(store.getPointer(), 1, AxisView::Address);
  if (store->getBlock() != loop->getBlock() || columns.kind != AxisKind::Linear ||
      columns.stride != 1) {
    return false;
  }
  for (Operation *op = loop->getNextNode(); op != store; op = op->getNextNode()) {
    if (!op || tile::hasSideEffects(op) || isVolatile(op)) {
      return false;
    }
  }
  bool isReady = true;
  auto visit = [&](Value leaf, const Dims &) {
    auto load = leaf.getDefiningOp<tile::LoadOp>();
    bool isRead = load && isTile(leaf) && !kernel.plan.isStored(leaf);
    isReady &= leaf == sums || isRead || leaf.getDefiningOp<arith::ConstantOp>() ||
               (isBefore(leaf, loop) && (kernel.buffers.count(leaf) || kernel.scalars.count(leaf)));
  };
  for (Value part : store->getOperands()) {
    kernel.plan.forEachLeaf(part, identityDims(shapeOf(store.getPointer()).size()), visit);
  }
  return isReady && !isOvertaken(kernel, store);
}

Value mayStoreWhileReading(KernelState &kernel, OpBuilder &builder, const GemmLoop &gemm) {
  Location loc = gemm.dot->getLoc();
  Value result = kernel.constantInt(builder.getI1Type(), 1);
  for (const GemmOperand *operand : {&gemm.a, &gemm.b}) {
    Value apart =
        kernel.areApart(builder, loc, operand->pointer(), tile::StoreOp(gemm.store).getPointer());
    if (!apart) {
      return kernel.constantInt(builder.getI1Type(), 0);
    }
    result = FoldingArithmetic(loc).both(builder, result, apart);
  }
  return result;
}

/// A bias, an activation and a conversion.
constexpr size_t operationsAtOnce = 3;

bool isStoredAtOnce(const KernelState &kernel, const GemmLoop &gemm) {
  llvm::SmallSetVector<Operation *, 8> behind; // what sums become
  SmallVector<Value> work{gemm.sums};
  while (!work.empty() && behind.size() <= operationsAtOnce) {
    for (Operation *user : work.pop_back_val().getUsers()) {
      if (user != tile::StoreOp(gemm.store) && behind.insert(user)) {
        work.append(user->result_begin(), user->result_end());
      }
    }
  }
  // What rows change might be read where a row that is stored twice has been stored.
  return behind.size() <= operationsAtOnce && llvm::all_of(behind, [&](Operation *op) {
           return llvm::all_of(op->getOperands(), [&](Value operand) {
             return operand == gemm.sums || behind.contains(operand.getDefiningOp()) ||
                    !isTile(operand) ||
                    !llvm::is_contained(kernel.axes.normalise(operand, identityDims(2)), 0);
           });
         });
}

void EpilogueOfRows::standAt(Evaluator &evaluator, Levels levels, Value row,
                             int64_t vectors) const {
  constexpr unsigned rowDim = 0, columnDim = 1;
  evaluator.scopes = {&outside, &levels.columns, &levels.rows};
  evaluator.dimLevel.resize(2);
  evaluator.dimLevel[rowDim] = 2;
  evaluator.dimLevel[columnDim] = 1;
  evaluator.dimIndex = {row, column};
  evaluator.laneDim = columnDim;
  evaluator.width = static_cast<unsigned>(shape.lanes);
  OpBuilder &at = levels.columns.builder;
  for (int64_t v = 0; v < vectors; ++v) {
    evaluator.laneBase.push_back(
        FoldingArithmetic(loc).add(at, column, kernel.i64(v * shape.lanes)));
  }
}

void EpilogueOfRows::store(Evaluator &evaluator, int64_t vectors) const {
  tile::StoreOp store = gemm.store;
  SmallVector<Value> values;
  for (int64_t v = 0; v < vectors; ++v) {
    values.push_back(
        evaluator.evaluate(store.getValue(), identityDims(2), static_cast<unsigned>(v)));
  }
  for (auto [v, value] : llvm::enumerate(values)) {
    evaluator.store(store, static_cast<unsigned>(v), value, /*nonTemporal=*/false);
  }
}

void EpilogueOfRows::emitFromScratch(OpBuilder &at, Value row, Value end, Value left) {
  auto each = at.create<scf::ForOp>(loc, row, end, kernel.i64(1));
  Scope columns{OpBuilder(each)}, inside{OpBuilder(each.getBody()->getTerminator())};
  Evaluator evaluator(kernel);
  standAt(evaluator, {columns, inside}, each.getInductionVar(), shape.vectors);
  setMasks(evaluator, columnMasks(columns.builder, left, shape.vectors));
  store(evaluator, shape.vectors);
}

/// Which columns of the vectors are looked at; empty where the store's mask says something else.
SmallVector<Value> EpilogueOfRows::columnMasks(OpBuilder &at, Value left, int64_t vectors) const {
  SmallVector<Value> masks;
  if (!tile::StoreOp(gemm.store).getMask() || !gemm.masksDemand) {
    return masks;
  }
  auto lanes = static_cast<unsigned>(shape.lanes);
  Type i32 = at.getI32Type();
  Value count = at.create<arith::TruncIOp>(loc, i32, left);
  count = at.create<vector::BroadcastOp>(loc, lanesOf(i32, lanes), count);
  for (int64_t v = 0; v < vectors; ++v) {
    masks.push_back(at.create<arith::CmpIOp>(loc, arith::CmpIPredicate::slt,
                                             iota(kernel, i32, lanes, 1, v * shape.lanes), count));
  }
  return masks;
}

/// In the rows and columns that are looked at, the store's mask is known.
void EpilogueOfRows::setMasks(Evaluator &evaluator, ArrayRef<Value> masks) const {
  if (masks.empty()) {
    return;
  }
  Value mask = tile::StoreOp(gemm.store).getMask();
  Dims dims = kernel.axes.normalise(mask, identityDims(2));
  auto &values = evaluator.scopes[evaluator.levelOf(dims)]->values;
  if (evaluator.lanePosition(dims) < 0) {
    values[Evaluator::keyOf(mask, dims)] = kernel.constantInt(masks[0].getType(), 1);
    return;
  }
  for (auto [v, value] : llvm::enumerate(masks)) {
    values[Evaluator::keyOf(mask, dims, static_cast<unsigned>(v))] = value;
  }
}

void EpilogueOfRows::emitFromRegisters(OpBuilder &at, const GemmBlock &block, ArrayRef<Value> sums,
                                       Value end, Value left) {
  FoldingArithmetic fold(loc);
  const int64_t rows = block.rows, vectors = block.vectors;
  // What only columns change goes in front of this mark.
  Operation *mark = at.create<arith::ConstantOp>(loc, at.getI64IntegerAttr(0));
  Scope columns{OpBuilder(mark)};
  SmallVector<Value> masks = columnMasks(columns.builder, left, vectors);
  // A row behind the last one is that row once more.
  Value last = fold.sub(columns.builder, end, kernel.i64(1));
  for (int64_t r = 0; r < rows; ++r) {
    Value number = fold.add(at, block.row, kernel.i64(r));
    number = block.mayOverhang ? fold.min(at, number, last) : number;
    Scope inside(at);
    Evaluator evaluator(kernel);
    standAt(evaluator, {columns, inside}, number, vectors);
    setMasks(evaluator, masks);
    for (int64_t v = 0; v < vectors; ++v) {
      inside.values[Evaluator::keyOf(gemm.sums, identityDims(2), static_cast<unsigned>(v))] =
          sums[r * vectors + v];
    }
    store(evaluator, vectors);
    at = inside.builder;
  }
  mark->erase();
}

} // namespace nereid::cpu
