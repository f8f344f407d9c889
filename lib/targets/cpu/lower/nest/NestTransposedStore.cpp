// SPDX-License-Identifier: Apache-2.0
// Storing a materialised tile whose neighbours in memory are those of its columns, as the sums of a
// convolution over images with planes of channels are: width by width blocks are read along the
// rows of the buffer, transposed in registers and stored along the columns.
#include "lib/targets/cpu/lower/nest/TransposeBlock.h"
#include "lib/targets/cpu/lower/nest/TransposedNest.h"

using namespace mlir;

namespace nereid::cpu {

namespace {
/// What is stored can be evaluated along the rows as well as along the columns, and a buffer takes
/// part in it.
class RowWiseValue {
public:
  RowWiseValue(const KernelState &kernel, int8_t columnDim)
      : kernel(kernel), columnDim(columnDim) {}

  bool holds(Value value) {
    return visit(value, identityDims(shapeOf(value).size())) && readsBuffer;
  }

private:
  bool visit(Value value, const Dims &coordinates) {
    Dims dims = kernel.axes.normalise(value, coordinates);
    if (!isTile(value) || !llvm::is_contained(dims, columnDim)) {
      return true; // the same for all rows
    }
    if (kernel.plan.isStored(value) && kernel.buffers.count(value)) {
      readsBuffer |= dims == identityDims(dims.size());
      return true;
    }
    Operation *op = value.getDefiningOp();
    bool isPlain =
        op && (isElementwise(op) || isa<tile::SplatOp, tile::ExpandDimsOp, tile::BroadcastOp,
                                        tile::MakeRangeOp, arith::ConstantOp>(op));
    return isPlain && llvm::all_of(op->getOperands(), [&](Value operand) {
             return visit(operand, mapDims(op, operand, dims));
           });
  }

  const KernelState &kernel;
  int8_t columnDim;
  bool readsBuffer = false;
};
} // namespace

bool storesDownColumns(const KernelState &kernel, ArrayRef<FusionRoot> roots, int8_t dim) {
  auto store = roots.size() == 1 && roots[0].kind == FusionRoot::Kind::Store && !roots[0].guard
                   ? cast<tile::StoreOp>(roots[0].op)
                   : tile::StoreOp();
  if (!store || roots[0].shape().size() != 2 || dim != 0 || isPointerTile(store.getValue())) {
    return false;
  }
  auto isUnit = [&](unsigned position) {
    Axis axis = kernel.axes.axis(store.getPointer(), position, AxisView::Address);
    return axis.kind == AxisKind::Linear && axis.stride == 1;
  };
  return isUnit(0) && !isUnit(1);
}

bool writesTransposed(const KernelState &kernel, ArrayRef<FusionRoot> roots, int8_t dim) {
  if (!storesDownColumns(kernel, roots, dim)) {
    return false;
  }
  Value value = cast<tile::StoreOp>(roots[0].op).getValue();
  const int64_t lanes = kernel.machine.vectorBytes / 4;
  return KernelState::byteSize(elementTypeOf(value)) == 4 && lanes >= 4 &&
         roots[0].shape()[0] % lanes == 0 && roots[0].shape()[1] % lanes == 0 &&
         RowWiseValue(kernel, dim).holds(value);
}

void emitTransposedStore(Evaluator &evaluator, tile::StoreOp store, const LanePlan &plan,
                         int8_t transposedDim, Location loc) {
  KernelState &kernel = evaluator.kernel;
  Scope *lanes = evaluator.scopes.back();
  OpBuilder &builder = lanes->builder;
  const Dims dims = identityDims(shapeOf(store.getPointer()).size());
  const int8_t laneDim = plan.dim;
  const Value base = evaluator.dimIndex[transposedDim], laneStart = evaluator.laneBase[0];
  const Value laneIndex = evaluator.dimIndex[laneDim];
  auto at = [&](int8_t dim, Value start, int64_t i, llvm::function_ref<void()> body) {
    evaluator.dimIndex[dim] = builder.createOrFold<arith::AddIOp>(loc, start, kernel.i64(i));
    Scope fresh(builder); // what was computed for the last coordinate does not hold for this one
    evaluator.scopes.back() = &fresh;
    body();
    evaluator.scopes.back() = lanes;
  };
  SmallVector<Value> vectors;
  const bool isVector = evaluator.width > 1;
  if (isVector) {
    // Along the rows nothing is known of masks and strides.
    const PeeledPart part = std::exchange(evaluator.part, PeeledPart::Plain);
    evaluator.laneDim = transposedDim;
    evaluator.laneBase[0] = base;
    for (int64_t i = 0; i < plan.width; ++i) {
      at(laneDim, laneStart, i,
         [&] { vectors.push_back(evaluator.evaluateLanes(store.getValue(), dims, 0)); });
    }
    transposeBlock(builder, loc, vectors, kernel.machine.laneShuffles == LaneShuffles::Avx512);
    evaluator.part = part;
    evaluator.laneDim = laneDim;
    evaluator.laneBase[0] = laneStart;
    evaluator.dimIndex[laneDim] = laneIndex;
  }
  for (int64_t i = 0; i < plan.width; ++i) {
    at(transposedDim, base, i, [&] {
      Value value = isVector ? vectors[i] : evaluator.evaluate(store.getValue(), dims, 0);
      evaluator.store(store, 0, value, /*nonTemporal=*/false);
    });
  }
  evaluator.dimIndex[transposedDim] = base;
}

} // namespace nereid::cpu
