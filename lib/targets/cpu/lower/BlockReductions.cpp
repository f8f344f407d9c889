// SPDX-License-Identifier: Apache-2.0
#include "lib/targets/cpu/lower/BlockReductions.h"

#include "lib/targets/cpu/lower/Combiner.h"
#include "lib/targets/cpu/lower/Recognisers.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace nereid::cpu {

namespace {

/// Reducing the lanes of the last vectors costs as much as carrying a block of half as many.
constexpr int64_t leastBlock = 128;

/// What happens to one carried tile of a loop.
struct Accumulator {
  tile::ReduceOp reduce;       ///< the only use of the loop's result
  Operation *update = nullptr; ///< combines the carried tile with `block`
  Value block;
  Value initial; ///< of all elements; null = `constant`
  TypedAttr constant;
};

/// The operation of a reduction that combines the two elements; null when there are several.
Operation *onlyStep(tile::ReduceOp reduce) {
  Block &body = reduce.getCombine().front();
  bool isOne = reduce.getNumOperands() == 1 && llvm::hasSingleElement(body.without_terminator());
  return isOne && !Combiner(reduce).identity().empty() ? &body.front() : nullptr;
}

/// Partial sums of fewer bits would lose what one sum per lane keeps.
bool mayReorder(Operation *step) {
  Type type = step->getResult(0).getType();
  return isa<IntegerType>(type) || type.isF32() || type.isF64() ||
         isa<arith::MaxNumFOp, arith::MinNumFOp, arith::MaximumFOp, arith::MinimumFOp>(step);
}

/// Whether the loop may start with one initial element where each lane had one.
bool findInitial(Value tile, const Combiner &combiner, Accumulator &found) {
  DenseElementsAttr dense;
  if (matchPattern(tile, m_Constant(&dense)) && dense.isSplat()) {
    found.constant = cast<TypedAttr>(dense.getSplatValue<Attribute>());
  } else if (auto splat = tile.getDefiningOp<tile::SplatOp>()) {
    found.initial = splat.getSource();
  } else {
    return false;
  }
  if (combiner.isIdempotent()) {
    return true;
  }
  auto number = dyn_cast_or_null<FloatAttr>(found.constant);
  bool isZero = number && number.getValue().isZero(); // of either sign
  TypedAttr neutral = combiner.identity().front();
  return found.constant == neutral || (isZero && cast<FloatAttr>(neutral).getValue().isZero());
}

std::optional<Accumulator> asAccumulator(scf::ForOp loop, unsigned number) {
  Value carried = loop.getRegionIterArgs()[number], result = loop.getResult(number);
  if (!isTile(carried) || shapeOf(carried).size() != 1 || shapeOf(carried)[0] < leastBlock ||
      !carried.hasOneUse() || !result.hasOneUse()) {
    return std::nullopt;
  }
  Accumulator found;
  found.reduce = dyn_cast<tile::ReduceOp>(*result.user_begin());
  found.update = *carried.user_begin();
  Operation *step = found.reduce ? onlyStep(found.reduce) : nullptr;
  Operation *update = found.update;
  bool isSame = step && mayReorder(step) && update->getName() == step->getName() &&
                update->getBlock() == loop.getBody() && update->getResult(0).hasOneUse() &&
                loop.getYieldedValues()[number] == update->getResult(0) &&
                findInitial(loop.getInitArgs()[number], Combiner(found.reduce), found);
  if (!isSame && found.reduce) {
    decline(Recogniser::BlockReductions, found.reduce,
            "the loop does not accumulate the tile as the reduction does");
  }
  if (!isSame) {
    return std::nullopt;
  }
  countFired(Recogniser::BlockReductions);
  found.block = update->getOperand(update->getOperand(0) == carried ? 1 : 0);
  return found;
}

void rewrite(scf::ForOp loop, unsigned number, Accumulator &found) {
  Location loc = found.reduce.getLoc();
  Type element = elementTypeOf(found.block);
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

} // namespace

void reduceBlocks(func::FuncOp kernel) {
  SmallVector<scf::ForOp> loops;
  kernel.walk([&](scf::ForOp loop) { loops.push_back(loop); });
  for (scf::ForOp loop : loops) {
    for (unsigned number = 0; number < loop.getNumResults(); ++number) {
      if (std::optional<Accumulator> found = asAccumulator(loop, number)) {
        rewrite(loop, number, *found);
      }
    }
  }
}

} // namespace nereid::cpu
