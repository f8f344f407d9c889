// SPDX-License-Identifier: Apache-2.0
#include "lib/targets/cpu/lower/ProgramLoop.h"

#include "lib/targets/cpu/lower/DeferredAdditions.h"
#include "lib/targets/cpu/lower/Recognisers.h"
#include "lib/targets/cpu/lower/TileAxes.h"
#include "lib/tile/analysis/MemoryAccesses.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;

namespace nereid::cpu {

namespace {

constexpr llvm::StringLiteral programLoopName = "nereid.program_loop",
                              endOfRangeName = "nereid.end_of_range";

/// Programs of other kernels gain nothing: a product is long, what writes element by element
/// overlaps with the next program by itself, and a program may have a loop over rows of its own.
bool isKernelOfRows(func::FuncOp kernel) {
  // Sums of the thread's own need no memory of the tensor, so that the next row is read meanwhile.
  bool reducesRows = mayDeferAdditions(kernel), readsId = false;
  const bool defersAdditions = reducesRows;
  WalkResult result = kernel.walk([&](Operation *op) {
    if (isa<tile::DotOp, tile::PrintOp, tile::AssertOp, tile::InlineAsmOp, scf::WhileOp>(op) ||
        (tile::isAtomic(op) && !defersAdditions) || isExchange(op)) {
      return WalkResult::interrupt();
    }
    auto load = dyn_cast<tile::LoadOp>(op);
    if (load && load.getIsVolatile()) {
      return WalkResult::interrupt();
    }
    if (auto reduce = dyn_cast<tile::ReduceOp>(op)) {
      reducesRows |= op->getParentOp() == kernel && shapeOf(reduce.getSources()[0]).size() == 1;
    }
    if (auto id = dyn_cast<tile::ProgramIdOp>(op)) {
      readsId |= id.getAxis() == 0;
    }
    return WalkResult::advance();
  });
  return !result.wasInterrupted() && reducesRows && readsId;
}

/// A scalar that is the same for all programs of a range. Tiles are computed where they are used.
bool isOfAllPrograms(Operation *op, scf::ForOp loop) {
  return op->getNumRegions() == 0 && isMemoryEffectFree(op) &&
         llvm::none_of(op->getResultTypes(),
                       [](Type type) { return isa<RankedTensorType>(type); }) &&
         llvm::none_of(op->getOperands(), [&](Value operand) {
           return loop.getRegion().isAncestor(operand.getParentRegion());
         });
}

/// Short rows that are reduced twice: a program is a chain of few long operations, and the
/// processor does not look far enough ahead to begin the next one meanwhile.
constexpr int64_t longestJammedRow = 256;
constexpr int64_t jammedPrograms = 4;

/// A program with more reductions is no short chain: another one beside it only multiplies the
/// code.
constexpr int mostJammedReductions = 8;

bool isOfShortRows(scf::ForOp loop) {
  bool isShort = true;
  int reductions = 0;
  loop.walk([&](Operation *op) {
    if (auto reduce = dyn_cast<tile::ReduceOp>(op)) {
      ArrayRef<int64_t> shape = shapeOf(reduce.getSources()[0]);
      isShort &= shape.size() == 1 && shape[0] <= longestJammedRow;
      isShort &= op->getParentOp() == loop; // the branches of programs run one after the other
      ++reductions;
    }
    isShort &= !tile::isAtomic(op); // a tile of additions is no chain
  });
  return isShort && reductions > 1 && reductions <= mostJammedReductions &&
         loop.getBody()->getOps<scf::ForOp>().empty();
}

/// A loop over `jammedPrograms` programs at a time in front of the loop, operation by operation in
/// turns; the loop takes the rest.
void jamPrograms(scf::ForOp loop) {
  Location loc = loop.getLoc();
  OpBuilder outside(loop);
  auto constant = [&](OpBuilder &builder, int64_t value) -> Value {
    return builder.create<arith::ConstantOp>(loc, builder.getI32IntegerAttr(value));
  };
  Value first = loop.getLowerBound(), end = loop.getUpperBound();
  Value count = outside.create<arith::SubIOp>(loc, end, first);
  Value whole = outside.create<arith::AndIOp>(loc, count, constant(outside, -jammedPrograms));
  Value rest = outside.create<arith::AddIOp>(loc, first, whole);
  auto jammed = outside.create<scf::ForOp>(loc, first, rest, constant(outside, jammedPrograms));
  loop.setLowerBound(rest);
  OpBuilder inside(jammed.getBody()->getTerminator());
  IRMapping mappings[jammedPrograms];
  for (int64_t i = 0; i < jammedPrograms; ++i) {
    Value program = jammed.getInductionVar();
    mappings[i].map(loop.getInductionVar(),
                    i == 0 ? program
                           : inside.create<arith::AddIOp>(loc, program, constant(inside, i)));
  }
  llvm::DenseSet<Value> varying{loop.getInductionVar()};
  for (Operation &op : loop.getBody()->without_terminator()) {
    bool varies = op.getNumRegions() != 0 || !isMemoryEffectFree(&op) ||
                  llvm::any_of(op.getOperands(), [&](Value v) { return varying.contains(v); });
    if (varies) {
      varying.insert(op.result_begin(), op.result_end());
    }
    for (int64_t i = 0; i < jammedPrograms; ++i) {
      if (i == 0 || varies) {
        inside.clone(op, mappings[i]);
      } else {
        for (Value result : op.getResults()) {
          mappings[i].map(result, mappings[0].lookup(result));
        }
      }
    }
  }
}

} // namespace

OwningOpRef<func::FuncOp> loopOverPrograms(func::FuncOp kernel) {
  if (!tally(Recogniser::ProgramLoop, kernel.getBody().hasOneBlock() && isKernelOfRows(kernel))) {
    return {};
  }
  OwningOpRef<func::FuncOp> copy(kernel.clone());
  Block &body = copy->getBody().front();
  SmallVector<Operation *> all;
  for (Operation &op : body.without_terminator()) {
    all.push_back(&op);
  }
  OpBuilder builder = OpBuilder::atBlockBegin(&body);
  Location loc = kernel.getLoc();
  Value first = builder.create<tile::ProgramIdOp>(loc, builder.getI32Type(), 0);
  auto end = builder.create<tile::ProgramIdOp>(loc, builder.getI32Type(), 0);
  end->setAttr(endOfRangeName, builder.getUnitAttr());
  Value one = builder.create<arith::ConstantOp>(loc, builder.getI32IntegerAttr(1));
  builder.setInsertionPoint(body.getTerminator());
  auto loop = builder.create<scf::ForOp>(loc, first, end, one);
  loop->setAttr(programLoopName, builder.getUnitAttr());
  for (Operation *op : all) {
    if (!isOfAllPrograms(op, loop)) {
      op->moveBefore(loop.getBody()->getTerminator());
    } else if (auto id = dyn_cast<tile::ProgramIdOp>(op); id && id.getAxis() == 0) {
      id.getResult().replaceAllUsesWith(loop.getInductionVar());
      id.erase();
    }
  }
  // Those inside of branches and loops.
  loop.walk([&](tile::ProgramIdOp id) {
    if (id.getAxis() == 0) {
      id.getResult().replaceAllUsesWith(loop.getInductionVar());
    }
  });
  if (tally(Recogniser::JammedPrograms, isOfShortRows(loop))) {
    jamPrograms(loop);
  }
  return copy;
}

bool isProgramLoop(scf::ForOp loop) { return loop->hasAttr(programLoopName); }

bool isEndOfRange(Operation *op) { return op->hasAttr(endOfRangeName); }

} // namespace nereid::cpu
