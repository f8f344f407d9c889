// SPDX-License-Identifier: Apache-2.0
// Rows of a nest in which masks of rows hold: a loop of their own, without those masks. A stencil
// with padding has such masks for every tap, `row + tap - padding >= 0` and `< height`; all but the
// first and last rows fulfil them all.
#include "lib/targets/cpu/lower/Recognisers.h"
#include "lib/targets/cpu/lower/nest/LoopNest.h"
#include "lib/targets/cpu/lower/plan/NarrowIntegers.h"

#include <limits>

using namespace mlir;

namespace nereid::cpu {

/// Lane loops of at most this many steps go around the rows; of more where a row's loads are saved,
/// as these outweigh that neighbours in memory are read far apart.
constexpr int64_t mostLaneSteps = 4, mostLaneStepsWithLoads = 16;
constexpr int fewestSavedLoads = 3;

namespace {
/// A term of a mask that bounds the rows.
struct RowTerm {
  Value term;
  tile::MaskBound bound;
  Dims dims; ///< of the term and the two sides of the bound
  unsigned position = 0;
};

SmallVector<RowTerm> rowTermsOf(const KernelState &kernel, const LanePlan &plan, int8_t dim) {
  SmallVector<RowTerm> terms;
  llvm::DenseSet<ElementKey> seen;
  for (const LanePlan::Site &site : plan.masks) {
    kernel.plan.visitMaskTerms(site.first, site.second, [&](Value term, const Dims &at) {
      Dims dims = kernel.axes.normalise(term, at);
      bool dependsOnRowOnly = llvm::count(dims, zeroDim) + 1 == static_cast<int64_t>(dims.size()) &&
                              llvm::is_contained(dims, dim);
      if (!dependsOnRowOnly || !seen.insert(Evaluator::keyOf(term, dims)).second) {
        return;
      }
      auto position = static_cast<unsigned>(llvm::find(dims, dim) - dims.begin());
      const auto bound = kernel.plan.isStored(term) ? std::optional<tile::MaskBound>()
                                                    : kernel.axes.bound(term, position);
      const int64_t widest = std::numeric_limits<int32_t>::max() / shapeOf(term)[position];
      if (bound && bound->stride <= widest) {
        terms.push_back({term, *bound, dims, position});
      }
    });
  }
  return terms;
}

/// How many rows from the first on the limit lies above, at least 0 and at most `size`.
Value rowsBelow(Evaluator &evaluator, const RowTerm &row, int64_t size) {
  KernelState &kernel = evaluator.kernel;
  OpBuilder &builder = evaluator.scopes.back()->builder;
  Location loc = row.term.getLoc();
  Dims first(row.dims);
  first[row.position] = zeroDim;
  Value limit = evaluator.evaluate(row.bound.limit, row.dims, 0);
  Value start = evaluator.evaluate(row.bound.linear, first, 0);
  Value distance = distanceTo(builder, loc, limit, start);
  int64_t extra = (row.bound.inclusive ? 1 : 0) + row.bound.stride - 1; // rounded up to whole rows
  distance = builder.create<arith::MinSIOp>(loc, distance, kernel.i64(size * row.bound.stride));
  distance = builder.create<arith::MaxSIOp>(loc, distance, kernel.i64(-1));
  distance = builder.create<arith::AddIOp>(loc, distance, kernel.i64(extra));
  distance = builder.create<arith::MaxSIOp>(loc, distance, kernel.i64(0));
  Value rows = builder.createOrFold<arith::DivUIOp>(loc, distance, kernel.i64(row.bound.stride));
  return builder.create<arith::MinSIOp>(loc, rows, kernel.i64(size));
}
} // namespace

/// The row behind the last one that any store writes.
Value LoopNest::storedRows(int8_t dim) {
  OpBuilder &builder = outer();
  Value end, size = kernel.i64(shape[dim]);
  for (const FusionRoot &root : roots) {
    Value mask =
        root.kind == FusionRoot::Kind::Store ? cast<tile::StoreOp>(root.op).getMask() : Value();
    Value own = size;
    if (mask) {
      LanePlan store;
      store.masks.push_back({mask, identityDims(shape.size())});
      for (const RowTerm &row : rowTermsOf(kernel, store, dim)) {
        if (!row.bound.isLower) {
          own = builder.create<arith::MinSIOp>(loc, own, rowsBelow(evaluator, row, shape[dim]));
        }
      }
    }
    end = end ? builder.create<arith::MaxSIOp>(loc, end, own).getResult() : own;
  }
  return end;
}

bool LoopNest::buildRowsInside(unsigned depth) {
  int8_t dim = order[depth];
  bool isInnermost = depth + 2 == order.size() && order[depth + 1] == plan.dim;
  if (!isInnermost || reductions.axis >= 0 || transposedDim != zeroDim) {
    return false;
  }
  SmallVector<RowTerm> terms = rowTermsOf(kernel, plan, dim);
  // Bounds from above alone end with the tile: there is nothing to skip in all other tiles.
  const bool hasLower = llvm::any_of(terms, [](const RowTerm &row) { return row.bound.isLower; });
  if (!tally(Recogniser::NestRows, terms.size() >= 3 && hasLower)) {
    return false;
  }
  OpBuilder &builder = outer();
  const Value size = storedRows(dim);
  Value low = kernel.i64(0), high = size;
  for (const RowTerm &row : terms) {
    Value bound = rowsBelow(evaluator, row, shape[dim]);
    if (row.bound.isLower) {
      low = builder.create<arith::MaxSIOp>(loc, low, bound);
    } else {
      high = builder.create<arith::MinSIOp>(loc, high, bound);
    }
  }
  low = builder.create<arith::MinSIOp>(loc, low, size);
  high = builder.create<arith::MaxSIOp>(loc, low, high);
  Value inside = builder.create<arith::SubIOp>(loc, high, low);
  Value outside = builder.create<arith::SubIOp>(loc, size, inside);
  auto markRows = [&] {
    Operation *rows = outer().getInsertionBlock()->getParentOp();
    rows->setAttr(attribute::readsNeighbours, builder.getUnitAttr());
  };
  loop(kernel.i64(0), outside, 1, [&](Value number) {
    markRows();
    OpBuilder &body = outer();
    Value isBefore = body.create<arith::CmpIOp>(loc, arith::CmpIPredicate::slt, number, low);
    Value behind = body.create<arith::AddIOp>(loc, number, inside);
    evaluator.dimIndex[dim] = body.create<arith::SelectOp>(loc, isBefore, number, behind);
    buildLevel(depth + 1);
  });
  insideRows = {dim, low, high, {}, false};
  for (const RowTerm &row : terms) {
    insideRows.holding.push_back(Evaluator::keyOf(row.term, row.dims));
  }
  // Narrow rows: what depends on the lanes alone stays in registers while the rows pass by.
  int64_t steps = shape[plan.dim] / std::max<int64_t>(1, plan.width * plan.unroll);
  int64_t mostSteps =
      plan.rowlessLoads >= fewestSavedLoads ? mostLaneStepsWithLoads : mostLaneSteps;
  insideRows.rowsInLanes =
      steps <= mostSteps && plan.remainders.empty() && plan.runtimeStrides.empty();
  if (insideRows.rowsInLanes) {
    auto level = static_cast<int>(depth) + 1;
    evaluator.dimLevel[plan.dim] = level;
    evaluator.dimLevel[dim] = level + 1;
    buildLanes(depth);
    evaluator.dimLevel[dim] = level;
    evaluator.dimLevel[plan.dim] = level + 1;
  } else {
    loopInsideRows([&] {
      markRows();
      buildLevel(depth + 1);
    });
  }
  insideRows = {};
  return true;
}

void LoopNest::loopInsideRows(llvm::function_ref<void()> body) {
  Value end = insideRows.rowsInLanes ? keepInRegister(outer(), insideRows.high) : insideRows.high;
  loop(insideRows.low, end, 1, [&](Value index) {
    Value holds = kernel.constantInt(outer().getI1Type(), 1);
    for (const ElementKey &key : insideRows.holding) {
      evaluator.scopes.back()->values[key] = holds;
    }
    evaluator.dimIndex[insideRows.dim] = index;
    evaluator.steppedDim = insideRows.rowsInLanes ? insideRows.dim : zeroDim;
    body();
    evaluator.steppedDim = zeroDim;
  });
}

} // namespace nereid::cpu
