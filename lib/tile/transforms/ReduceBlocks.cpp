// SPDX-License-Identifier: Apache-2.0
// `tile-reduce-blocks`: accumulators of a loop over blocks that are only reduced after it become
// scalars, and the loop reduces each block.
// Why: a carried tile goes through memory or takes registers of all its elements; a block is
// reduced in a few. Neither the zeros nor the sum at the end need a loop of their own. Requires:
// nothing else reads the accumulator, and it is combined with the block by the reduction's own
// operation, whose order is free. Guarantees: integers, minima and maxima are the same, sums of
// float32 and float64 are rounded in another order.
// Example:
//   for start: { total += load(x + start + range) } ; sum(total)
//   for start: { sum += sum(load(x + start + range)) }
#include "lib/tile/analysis/Reductions.h"
#include "lib/tile/transforms/Passes.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace nereid::tile {
namespace {

/// What happens to one carried tile of a loop.
struct Accumulator {
  ReduceOp reduce;             ///< the only use of the loop's result
  Operation *update = nullptr; ///< combines the carried tile with `block`
  Value block;
  Value initial; ///< of all elements; null = `constant`
  TypedAttr constant;
};

/// The operation of a reduction that combines the two elements; null when there are several.
Operation *onlyStep(ReduceOp reduce) {
  Block &body = reduce.getCombine().front();
  bool isOne = reduce.getNumOperands() == 1 && llvm::hasSingleElement(body.without_terminator());
  return isOne && !neutralElementsOf(reduce).empty() ? &body.front() : nullptr;
}

/// Partial sums of fewer bits would lose what one sum per lane keeps.
bool mayReorder(Operation *step) {
  Type type = step->getResult(0).getType();
  return isa<IntegerType>(type) || type.isF32() || type.isF64() ||
         isa<arith::MaxNumFOp, arith::MinNumFOp, MaxNumOp, MinNumOp, arith::MaximumFOp,
             arith::MinimumFOp>(step);
}

/// Whether the loop may start with one initial element where each lane had one.
bool findInitial(Value tile, Accumulator &found) {
  DenseElementsAttr dense;
  if (matchPattern(tile, m_Constant(&dense)) && dense.isSplat()) {
    found.constant = cast<TypedAttr>(dense.getSplatValue<Attribute>());
  } else if (auto splat = tile.getDefiningOp<SplatOp>()) {
    found.initial = splat.getSource();
  } else {
    return false;
  }
  if (isIdempotent(found.reduce)) {
    return true;
  }
  auto number = dyn_cast_or_null<FloatAttr>(found.constant);
  bool isZero = number && number.getValue().isZero(); // of either sign
  TypedAttr neutral = neutralElementsOf(found.reduce).front();
  return found.constant == neutral || (isZero && cast<FloatAttr>(neutral).getValue().isZero());
}

std::optional<Accumulator> asAccumulator(scf::ForOp loop, unsigned number,
                                         const ReduceBlocksOptions &options) {
  Value carried = loop.getRegionIterArgs()[number], result = loop.getResult(number);
  llvm::ArrayRef<int64_t> shape = shapeOf(carried.getType());
  if (shape.size() != 1 || shape[0] < options.leastElements || !carried.hasOneUse() ||
      !result.hasOneUse()) {
    return std::nullopt;
  }
  Accumulator found;
  found.reduce = dyn_cast<ReduceOp>(*result.user_begin());
  found.update = *carried.user_begin();
  Operation *step = found.reduce ? onlyStep(found.reduce) : nullptr;
  Operation *update = found.update;
  bool isSame = step && mayReorder(step) && update->getName() == step->getName() &&
                update->getBlock() == loop.getBody() && update->getResult(0).hasOneUse() &&
                loop.getYieldedValues()[number] == update->getResult(0) &&
                findInitial(loop.getInitArgs()[number], found);
  if (!isSame && found.reduce) {
    tell(options.listener, found.reduce,
         "the loop does not accumulate the tile as the reduction does");
  }
  if (!isSame) {
    return std::nullopt;
  }
  tell(options.listener, found.reduce);
  found.block = update->getOperand(update->getOperand(0) == carried ? 1 : 0);
  return found;
}

void rewrite(scf::ForOp loop, unsigned number, Accumulator &found) {
  Location loc = found.reduce.getLoc();
  Type element = elementTypeOf(found.block.getType());
  Value initial = found.initial;
  if (!initial) {
    initial = OpBuilder(loop).create<arith::ConstantOp>(loc, found.constant);
  }
  BlockArgument carried = loop.getRegionIterArgs()[number];
  loop.getInitArgsMutable()[number].assign(initial);
  carried.setType(element);
  loop.getResult(number).setType(element);
  OpBuilder inside(found.update);
  IRMapping mapping;
  mapping.map(found.reduce.getSources()[0], found.block);
  Value ofBlock = inside.clone(*found.reduce, mapping)->getResult(0);
  Operation *sum = inside.insert(
      Operation::create(found.update->getLoc(), found.update->getName(), element,
                        {carried, ofBlock}, found.update->getDiscardableAttrDictionary(),
                        found.update->getPropertiesStorage(), BlockRange(), 0));
  found.update->replaceAllUsesWith(sum);
  found.update->erase();
  found.reduce->getResult(0).replaceAllUsesWith(loop.getResult(number));
  found.reduce->erase();
}

struct ReduceBlocksPass : PassWrapper<ReduceBlocksPass, OperationPass<>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ReduceBlocksPass)

  explicit ReduceBlocksPass(ReduceBlocksOptions options) : options(std::move(options)) {}

  StringRef getArgument() const final { return "tile-reduce-blocks"; }
  StringRef getDescription() const final {
    return "reduce each block in the loop that accumulates a tile only to reduce it";
  }

  void runOnOperation() final {
    SmallVector<scf::ForOp> loops;
    getOperation()->walk([&](scf::ForOp loop) { loops.push_back(loop); });
    for (scf::ForOp loop : loops) {
      for (unsigned number = 0; number < loop.getNumResults(); ++number) {
        if (std::optional<Accumulator> found = asAccumulator(loop, number, options)) {
          rewrite(loop, number, *found);
        }
      }
    }
  }

  ReduceBlocksOptions options;
};

} // namespace

std::unique_ptr<Pass> createReduceBlocksPass(ReduceBlocksOptions options) {
  return std::make_unique<ReduceBlocksPass>(std::move(options));
}

} // namespace nereid::tile
