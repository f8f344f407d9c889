// SPDX-License-Identifier: Apache-2.0
// In the memory that programs share: what the panels were made of, then the panels, block of k by
// block of k. All panels that are not cached share the place behind them, which stays in the
// first-level cache. Nothing is cached where no rows follow, as in a product of few rows: packing
// would fill the caches for nobody.
#include "lib/targets/cpu/lower/product/pack/GemmPanelCache.h"
#include "lib/targets/cpu/MachineSizes.h"
#include "lib/targets/cpu/lower/Recognisers.h"
#include "lib/targets/cpu/lower/elements/FoldingArithmetic.h"

using namespace mlir;

namespace nereid::cpu {

constexpr int64_t keyBytes = 64; ///< of what the panels were made of

bool mayCachePanels(func::FuncOp kernel) {
  int64_t dots = 0;
  WalkResult result = kernel.walk([&](Operation *op) {
    auto load = dyn_cast<tile::LoadOp>(op);
    const bool writes =
        op->getNumRegions() == 0 && tile::hasSideEffects(op) && !isa<tile::StoreOp>(op);
    if (writes || isa<scf::WhileOp>(op) || (load && load.getIsVolatile())) {
      return WalkResult::interrupt();
    }
    if (isa<tile::DotOp>(op)) {
      ++dots;
      Operation *loop = op->getParentOp();
      return isa<scf::ForOp>(loop) && loop->getParentOp() == kernel ? WalkResult::advance()
                                                                    : WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return !result.wasInterrupted() && dots == 1;
}

GemmPanelCache::GemmPanelCache(KernelState &kernel, const GemmLoop &gemm, const GemmShape &shape,
                               const GemmKernel &gemmKernel, GemmOperands &operands)
    : kernel(kernel), gemm(gemm), shape(shape), gemmKernel(gemmKernel), operands(operands),
      loc(tile::DotOp(gemm.dot).getLoc()) {}

int64_t GemmPanelCache::columnSumBytes() const {
  return gemmKernel.types.packFactor == 4 ? shape.vectors * shape.lanes * 4 : 0;
}

int64_t GemmPanelCache::panelBytes() const {
  const int64_t groups = shape.deepest / gemmKernel.types.packFactor;
  return groups * shape.vectors * shape.lanes * 4 + columnSumBytes();
}

int64_t GemmPanelCache::blockBytes() const {
  return panelBytes() * gemm.n / (shape.vectors * shape.lanes);
}

bool GemmPanelCache::canCache() const {
  return kernel.sharesPanels && operands.b.maybeInPlace && !operands.b.maybeCopied() &&
         !gemm.b.transposed && gemm.b.rowMasks.empty() && !gemmKernel.rowPlaces &&
         kernel.machine.hasMaskedMoves;
}

/// No store of the kernel goes to the tensor that b is read from; null = one may.
Value GemmPanelCache::isNeverWritten(OpBuilder &builder) const {
  Value result;
  bool isKnown = true;
  tile::DotOp(gemm.dot)->getParentOfType<func::FuncOp>().walk([&](tile::StoreOp store) {
    Value apart =
        isKnown ? kernel.areApart(builder, loc, gemm.b.pointer(), store.getPointer()) : Value();
    isKnown = apart != nullptr;
    result = isKnown ? FoldingArithmetic(loc).both(builder, result, apart) : Value();
  });
  return result;
}

/// Computed from what all programs of the launch have in common.
bool GemmPanelCache::isSameForAll(Value value) const {
  Operation *op = value.getDefiningOp();
  if (!op) {
    return false;
  }
  if (auto load = dyn_cast<LLVM::LoadOp>(op)) {
    auto element = load.getAddr().getDefiningOp<LLVM::GEPOp>();
    return element &&
           (element.getBase() == kernel.slotsArgument || element.getBase() == kernel.countArgument);
  }
  return op->getNumRegions() == 0 && isPure(op) &&
         llvm::all_of(op->getOperands(), [&](Value operand) { return isSameForAll(operand); });
}

void GemmPanelCache::emit(OpBuilder &builder, Value tripCount) {
  FoldingArithmetic fold(loc);
  cachedBlocks = sizes::panelCacheBytes(kernel.machine) / blockBytes();
  if (std::optional<int64_t> iterations = fold.known(tripCount)) {
    cachedBlocks = std::min(cachedBlocks, (*iterations * gemm.k + shape.depth - 1) / shape.depth);
  }
  Value mayCache = canCache() && cachedBlocks > 0 ? isNeverWritten(builder) : Value();
  if (!mayCache) {
    countDeclined(Recogniser::PackedPanelCache);
    return;
  }
  Type i64 = builder.getI64Type();
  // Other blocks of k, other columns, or none at all, as without rows.
  mayCache = fold.both(builder, mayCache, operands.joins);
  mayCache = fold.both(builder, mayCache, operands.neighbours);
  mayCache =
      fold.both(builder, mayCache, fold.isGreater(builder, operands.panelEnd, kernel.i64(0)));
  SmallVector<Value> key{builder.create<LLVM::PtrToIntOp>(loc, i64, operands.bFirst)};
  SmallVector<Value> parts{operands.columnEnd, tripCount, operands.b.step, operands.b.stride};
  operands.addInnerBounds(parts);
  for (Value part : parts) {
    if (!isSameForAll(part) && !llvm::is_contained(key, part)) {
      key.push_back(part);
    }
  }
  if (!tally(Recogniser::PackedPanelCache, static_cast<int64_t>(key.size()) * 8 <= keyBytes)) {
    return;
  }
  Value shared = kernel.shareBetweenPrograms(keyBytes + cachedBlocks * blockBytes() + panelBytes());
  memory = gemmKernel.move(builder, builder.getI8Type(), shared, keyBytes);
  auto entry = [&](size_t i) {
    return gemmKernel.move(builder, i64, shared, static_cast<int64_t>(i));
  };
  isUsedAgain = fold.both(builder, mayCache, kernel.follows(builder));
  for (auto [i, part] : llvm::enumerate(key)) {
    Value before = builder.create<LLVM::LoadOp>(loc, i64, entry(i), 8);
    isUsedAgain = fold.both(builder, isUsedAgain, fold.isEqual(builder, before, part));
  }
  Value caches = mayCache;
  if (Value others = operands.hasRowsBehind(builder)) {
    caches = fold.both(builder, caches, builder.create<arith::OrIOp>(loc, others, isUsedAgain));
  }
  key[0] = fold.select(builder, caches, key[0], kernel.i64(0));
  for (auto [i, part] : llvm::enumerate(key)) {
    builder.create<LLVM::StoreOp>(loc, part, entry(i), 8);
  }
  limit = fold.select(builder, caches, kernel.i64(cachedBlocks), kernel.i64(0));
}

void GemmPanelCache::beginBlock(OpBuilder &at, Value t) {
  FoldingArithmetic fold(loc);
  Value number = fold.quotient(at, t, kernel.i64(shape.depth / gemm.k));
  Value isCached = fold.isGreater(at, limit, number);
  isPacked = fold.both(at, isUsedAgain, isCached);
  Value next = fold.add(at, number, kernel.i64(1));
  isNextPacked = fold.both(at, isUsedAgain, fold.isGreater(at, limit, next));
  number = fold.select(at, isCached, number, kernel.i64(cachedBlocks));
  block =
      gemmKernel.move(at, at.getI8Type(), memory, fold.mul(at, number, kernel.i64(blockBytes())));
  const int64_t bytes = panelBytes() / (shape.vectors * shape.lanes);
  perColumn = fold.select(at, isCached, kernel.i64(bytes), kernel.i64(0));
}

Value GemmPanelCache::panelAt(OpBuilder &at, Value column) const {
  return gemmKernel.move(at, at.getI8Type(), block,
                         FoldingArithmetic(loc).mul(at, column, perColumn));
}

Value GemmPanelCache::nextOf(OpBuilder &at, Value panel) const {
  return gemmKernel.move(at, at.getI8Type(), panel, blockBytes());
}

Value GemmPanelCache::columnSumsOf(OpBuilder &at, Value panel) const {
  return gemmKernel.move(at, at.getI8Type(), panel, panelBytes() - columnSumBytes());
}

} // namespace nereid::cpu
