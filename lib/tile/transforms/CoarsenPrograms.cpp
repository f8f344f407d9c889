// SPDX-License-Identifier: Apache-2.0
// `tile-coarsen-programs`: a loop around a kernel's body, so that one call of the kernel runs
// neighbouring programs of the grid's first axis.
// Why: a program that reduces one row knows nothing of the next one. In a loop over rows its store
// can wait for the next row, the next row is prefetched, and what all programs compute alike is
// computed once. Requires: a kernel that reduces rank-1 tiles outside of its loops, or whose atomic
// additions may be private (tile-privatise-atomics), and that neither multiplies, waits, prints nor
// asserts. Others gain nothing: a product is long, what writes element by element overlaps with the
// next program by itself, and a program may have a loop over rows of its own. Guarantees: the same
// accesses; those of one program keep their order. The loop has the attribute `tile.coarsened`,
// the id behind the last program `tile.end_of_range`. Example:
//   row = program_id(0) ; load x[row] …
//   for row = program_id(0) to end of the range: { load x[row] … }
// Short rows four at a time, operation by operation in turns:
//   for row = … step 4: { load x[row] ; load x[row + 1] ; … ; max … ; max … }
//   for the rest: { load x[row] … }
// Which rows are left over depends on how the threads share the grid, and a result must not: both
// loops have the attribute `tile.one_order`.
#include "lib/tile/analysis/MemoryAccesses.h"
#include "lib/tile/ir/Attributes.h"
#include "lib/tile/transforms/Passes.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;

namespace nereid::tile {

bool mayCoarsenPrograms(func::FuncOp kernel, const CoarsenProgramsOptions &options) {
  if (!kernel.getBody().hasOneBlock()) {
    return false;
  }
  // Sums of the thread's own need no memory of the tensor, so that the next row is read meanwhile.
  bool reducesRows = mayPrivatiseAtomics(kernel, options.atomics), readsId = false;
  const bool privatises = reducesRows;
  WalkResult result = kernel.walk([&](Operation *op) {
    if (isa<DotOp, PrintOp, AssertOp, InlineAsmOp, scf::WhileOp>(op) ||
        (isAtomic(op) && !privatises) || (options.isLong && options.isLong(op))) {
      return WalkResult::interrupt();
    }
    auto load = dyn_cast<LoadOp>(op);
    if (load && load.getIsVolatile()) {
      return WalkResult::interrupt();
    }
    if (auto reduce = dyn_cast<ReduceOp>(op)) {
      reducesRows |=
          op->getParentOp() == kernel && shapeOf(reduce.getSources()[0].getType()).size() == 1;
    }
    if (auto id = dyn_cast<ProgramIdOp>(op)) {
      if (isEndOfRange(id)) {
        return WalkResult::interrupt(); // programs are taken together already
      }
      readsId |= id.getAxis() == 0;
    }
    return WalkResult::advance();
  });
  return !result.wasInterrupted() && reducesRows && readsId;
}

namespace {

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
/// processor does not look far enough ahead to begin the next one meanwhile. A program with more
/// reductions is no short chain: another one beside it only multiplies the code.
bool isOfShortRows(scf::ForOp loop, const CoarsenProgramsOptions &options) {
  bool isShort = true;
  int reductions = 0;
  loop.walk([&](Operation *op) {
    if (auto reduce = dyn_cast<ReduceOp>(op)) {
      ArrayRef<int64_t> shape = shapeOf(reduce.getSources()[0].getType());
      isShort &= shape.size() == 1 && shape[0] <= options.longestJammedRow;
      isShort &= op->getParentOp() == loop; // the branches of programs run one after the other
      ++reductions;
    }
    isShort &= !isAtomic(op); // a tile of additions is no chain
    isShort &= !options.branches || !options.branches(op);
  });
  return isShort && reductions > 1 && reductions <= options.mostJammedReductions &&
         loop.getBody()->getOps<scf::ForOp>().empty();
}

/// Bytes of all tiles of one program, as if each had memory of its own.
int64_t bytesOfTiles(scf::ForOp loop) {
  int64_t bytes = 0;
  loop.walk([&](Operation *op) {
    for (Type type : op->getResultTypes()) {
      if (auto tile = dyn_cast<RankedTensorType>(type)) {
        Type element = tile.getElementType();
        int64_t bits = element.isIntOrFloat() ? element.getIntOrFloatBitWidth() : 64;
        bytes += tile.getNumElements() * ((bits + 7) / 8);
      }
    }
  });
  return bytes;
}

/// A loop over `jammedPrograms` programs at a time in front of the loop, operation by operation in
/// turns; the loop takes the rest.
void jamPrograms(scf::ForOp loop, int64_t jammedPrograms) {
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
  for (scf::ForOp each : {jammed, loop}) {
    each->setAttr(attribute::oneOrder, outside.getUnitAttr());
  }
  OpBuilder inside(jammed.getBody()->getTerminator());
  SmallVector<IRMapping> mappings(static_cast<size_t>(jammedPrograms));
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

void coarsen(func::FuncOp kernel, const CoarsenProgramsOptions &options) {
  Block &body = kernel.getBody().front();
  SmallVector<Operation *> all;
  for (Operation &op : body.without_terminator()) {
    all.push_back(&op);
  }
  OpBuilder builder = OpBuilder::atBlockBegin(&body);
  Location loc = kernel.getLoc();
  Value first = builder.create<ProgramIdOp>(loc, builder.getI32Type(), 0);
  auto end = builder.create<ProgramIdOp>(loc, builder.getI32Type(), 0);
  end->setAttr(attribute::endOfRange, builder.getUnitAttr());
  Value one = builder.create<arith::ConstantOp>(loc, builder.getI32IntegerAttr(1));
  builder.setInsertionPoint(body.getTerminator());
  auto loop = builder.create<scf::ForOp>(loc, first, end, one);
  loop->setAttr(attribute::coarsened, builder.getUnitAttr());
  for (Operation *op : all) {
    if (!isOfAllPrograms(op, loop)) {
      op->moveBefore(loop.getBody()->getTerminator());
    } else if (auto id = dyn_cast<ProgramIdOp>(op); id && id.getAxis() == 0) {
      id.getResult().replaceAllUsesWith(loop.getInductionVar());
      id.erase();
    }
  }
  // Those inside of branches and loops.
  loop.walk([&](ProgramIdOp id) {
    if (id.getAxis() == 0) {
      id.getResult().replaceAllUsesWith(loop.getInductionVar());
    }
  });
  const bool isShort = isOfShortRows(loop, options);
  const bool fits = bytesOfTiles(loop) <= options.mostJammedBytes / options.jammedPrograms;
  tell(options.jams, loop,
       !isShort ? "its rows are long, reduced once or many times, or a part of them branches"
       : !fits  ? "its tiles are too large to be taken several times"
                : "");
  if (isShort && fits) {
    jamPrograms(loop, options.jammedPrograms);
  }
}

struct CoarsenProgramsPass : PassWrapper<CoarsenProgramsPass, OperationPass<>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(CoarsenProgramsPass)

  explicit CoarsenProgramsPass(CoarsenProgramsOptions options) : options(std::move(options)) {}

  StringRef getArgument() const final { return "tile-coarsen-programs"; }
  StringRef getDescription() const final { return "loop over neighbouring programs of rows"; }

  void runOnOperation() final {
    getOperation()->walk([&](func::FuncOp kernel) {
      const bool gains = mayCoarsenPrograms(kernel, options);
      tell(options.loops, kernel, gains ? "" : "a program reduces no row, or does more than that");
      if (gains) {
        coarsen(kernel, options);
      }
    });
  }

  CoarsenProgramsOptions options;
};

} // namespace

bool isCoarsenedLoop(scf::ForOp loop) { return loop->hasAttr(attribute::coarsened); }

bool combinesInOneOrder(Operation *op) {
  auto loop = op->getParentOfType<scf::ForOp>();
  while (loop && !loop->hasAttr(attribute::oneOrder)) {
    loop = loop->getParentOfType<scf::ForOp>();
  }
  return loop != nullptr;
}

bool isEndOfRange(Operation *op) { return op->hasAttr(attribute::endOfRange); }

std::unique_ptr<Pass> createCoarsenProgramsPass(CoarsenProgramsOptions options) {
  return std::make_unique<CoarsenProgramsPass>(std::move(options));
}

} // namespace nereid::tile
