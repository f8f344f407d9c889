// SPDX-License-Identifier: Apache-2.0
// Materialising a tile whose elements are contiguous in memory along one dimension and in the
// buffer along another, as the second operand of q·kᵀ is: width by width blocks are loaded as
// vectors of one kind, transposed in registers and stored as vectors of the other.
#include "lib/targets/cpu/lower/Recognisers.h"
#include "lib/targets/cpu/lower/nest/TransposeBlock.h"
#include "lib/targets/cpu/lower/nest/TransposedNest.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace nereid::cpu {

bool canTranspose(const KernelState &kernel, ArrayRef<FusionRoot> roots, const LanePlan &plan) {
  ArrayRef<int64_t> shape = roots[0].shape();
  if (storesDownColumns(kernel, roots, plan.dim)) {
    return tally(Recogniser::TransposedStore,
                 writesTransposed(kernel, roots, plan.dim) &&
                     plan.width == static_cast<unsigned>(kernel.machine.vectorBytes / 4));
  }
  if (roots.size() != 1 || roots[0].kind != FusionRoot::Kind::Materialise ||
      isPointerTile(roots[0].value) || shape.size() < 2 || plan.width < 4) {
    return false;
  }
  int8_t last = static_cast<int8_t>(shape.size() - 1);
  int64_t width = plan.width;
  return tally(Recogniser::TransposedNest,
               plan.dim != last && shape[last] % width == 0 && shape[plan.dim] % width == 0);
}

static void emitTransposedTile(Evaluator &evaluator, const FusionRoot &root, const LanePlan &plan,
                               int8_t transposedDim, Location loc) {
  KernelState &kernel = evaluator.kernel;
  Scope *lanes = evaluator.scopes.back();
  OpBuilder &builder = lanes->builder;
  Type element = kernel.buffer(root.target).element;
  Value base = evaluator.dimIndex[transposedDim];
  Dims dims = identityDims(root.shape().size());
  const int64_t block = plan.width;
  SmallVector<Value> rows;
  for (int64_t j = 0; j < block; ++j) {
    evaluator.dimIndex[transposedDim] = builder.create<arith::AddIOp>(loc, base, kernel.i64(j));
    // What was computed for the last coordinate does not hold for this one.
    Scope fresh(builder);
    evaluator.scopes.back() = &fresh;
    Value row =
        convertElements(builder, loc, evaluator.evaluateLanes(root.value, dims, 0), element);
    rows.push_back(row);
    if (evaluator.width == 1) {
      evaluator.storeToBuffer(root.target, row, dims, 0, loc);
    }
    evaluator.scopes.back() = lanes;
  }
  evaluator.dimIndex[transposedDim] = base;
  if (evaluator.width == 1) {
    return;
  }
  transposeBlock(builder, loc, rows, kernel.machine.laneShuffles == LaneShuffles::Avx512);
  // Row i of the block now holds lane i: stored along the contiguous dimension.
  Value laneStart = evaluator.laneBase[0];
  int8_t laneDim = std::exchange(evaluator.laneDim, transposedDim);
  Value laneIndex = evaluator.dimIndex[laneDim];
  evaluator.laneBase[0] = base;
  for (int64_t i = 0; i < block; ++i) {
    evaluator.dimIndex[laneDim] = builder.create<arith::AddIOp>(loc, laneStart, kernel.i64(i));
    Scope fresh(builder);
    evaluator.scopes.back() = &fresh;
    evaluator.storeToBuffer(root.target, rows[i], dims, 0, loc);
    evaluator.scopes.back() = lanes;
  }
  evaluator.laneDim = laneDim;
  evaluator.laneBase[0] = laneStart;
  evaluator.dimIndex[laneDim] = laneIndex;
}

void emitTransposed(Evaluator &evaluator, const FusionRoot &root, const LanePlan &plan,
                    int8_t transposedDim, Location loc) {
  if (root.kind == FusionRoot::Kind::Store) {
    emitTransposedStore(evaluator, cast<tile::StoreOp>(root.op), plan, transposedDim, loc);
  } else {
    emitTransposedTile(evaluator, root, plan, transposedDim, loc);
  }
}

} // namespace nereid::cpu
