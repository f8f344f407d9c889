// SPDX-License-Identifier: Apache-2.0
// The loop of a matrix product among the operations of a block: its sums, the scalars that each
// iteration starts with, operands that are computed into scratch; GemmEmitter.cpp does the rest.
#include "lib/targets/cpu/lower/product/GemmLowering.h"

#include "lib/targets/cpu/lower/Recognisers.h"
#include "lib/targets/cpu/lower/product/GemmEmitter.h"

using namespace mlir;

namespace nereid::cpu {

/// The values that iteration `t` of the source loop starts with; null = the first.
static void startIteration(BlockLowering &block, scf::ForOp op, OpBuilder &at, Value t) {
  KernelState &kernel = block.kernel;
  Location loc = op.getLoc();
  Evaluator evaluator(kernel);
  Scope fresh(at, &block.scope);
  evaluator.scopes.push_back(&fresh);
  LoopSteps steps(kernel, op);
  auto growth = [&](Value source) -> Value {
    return at.create<arith::MulIOp>(loc, t, steps.emit(source, evaluator, at));
  };
  auto advanced = [&](Value start, Value source) -> Value {
    if (!t) {
      return start;
    }
    if (auto pointer = dyn_cast<tile::PtrType>(source.getType())) {
      return at.create<LLVM::GEPOp>(loc, start.getType(),
                                    KernelState::memoryType(pointer.getPointee()), start,
                                    ValueRange{growth(source)});
    }
    return at.create<arith::AddIOp>(loc, start,
                                    convertElements(at, loc, growth(source), start.getType()));
  };
  kernel.scalars[op.getInductionVar()] =
      advanced(kernel.scalar(op.getLowerBound()), op.getInductionVar());
  for (auto [i, arg] : llvm::enumerate(op.getRegionIterArgs())) {
    if (kernel.axes.induction(arg)) {
      Type type = isPointerTile(arg) ? at.getI64Type() : elementTypeOf(arg);
      kernel.inductionOffsets[arg] =
          t ? convertElements(at, loc, growth(arg), type) : kernel.zero(type);
    } else if (!isTile(arg)) {
      kernel.scalars[arg] = kernel.scalar(op.getInitArgs()[i]);
      if (steps.isSteady(arg)) {
        kernel.scalars[arg] = advanced(kernel.scalars[arg], arg);
      }
    }
  }
}

/// The operand of iteration `t` element by element: for addresses that turned out not to be what
/// reading in place takes for granted, which is rare and must not cost much code.
static void computeByElement(BlockLowering &block, scf::ForOp op, Value tile, int buffer,
                             OpBuilder &at, Value t) {
  KernelState &kernel = block.kernel;
  Location loc = op.getLoc();
  startIteration(block, op, at, t);
  BlockLowering inner(kernel, at, &block.scope);
  for (Operation &source : op.getBody()->without_terminator()) {
    if (!isTile(source.getResult(0))) {
      inner.lowerScalar(source);
    }
  }
  at = inner.builder();
  ArrayRef<int64_t> shape = shapeOf(tile);
  Evaluator evaluator(kernel);
  auto rows = at.create<scf::ForOp>(loc, kernel.i64(0), kernel.i64(shape[0]), kernel.i64(1));
  OpBuilder inRow(rows.getBody()->getTerminator());
  auto columns = inRow.create<scf::ForOp>(loc, kernel.i64(0), kernel.i64(shape[1]), kernel.i64(1));
  Scope outside(OpBuilder(rows), &block.scope), row{OpBuilder(columns)};
  Scope element(OpBuilder(columns.getBody()->getTerminator()));
  evaluator.scopes = {&outside, &row, &element};
  evaluator.dimLevel = {1, 2};
  evaluator.dimIndex = {rows.getInductionVar(), columns.getInductionVar()};
  evaluator.laneBase.assign(1, kernel.i64(0));
  Dims dims = identityDims(2);
  evaluator.storeToBuffer(buffer, evaluator.evaluate(tile, dims, 0), dims, 0, loc);
}

/// The operations of the loop's body that the tile is made by.
static llvm::SmallPtrSet<Operation *, 16> operationsBehind(scf::ForOp loop, Value tile) {
  llvm::SmallPtrSet<Operation *, 16> found;
  SmallVector<Value> work{tile};
  while (!work.empty()) {
    Operation *op = work.pop_back_val().getDefiningOp();
    if (op && op->getBlock() == loop.getBody() && found.insert(op).second) {
      work.append(op->operand_begin(), op->operand_end());
    }
  }
  return found;
}

/// The operand of iteration `t`, with whatever its loop nests need besides.
static void computeInNests(BlockLowering &block, scf::ForOp op, Value tile, int buffer,
                           OpBuilder &at, Value t) {
  KernelState &kernel = block.kernel;
  const int64_t mark = kernel.scratchMark();
  startIteration(block, op, at, t);
  BlockLowering inner(kernel, at, &block.scope);
  // What else is in the body would only take time, and the memory of what this tile is made of.
  auto needed = operationsBehind(op, tile);
  needed.erase(tile.getDefiningOp());
  for (Operation &source : op.getBody()->without_terminator()) {
    if (needed.contains(&source)) {
      inner.lowerOp(source);
    }
  }
  inner.flush();
  inner.addRoot({FusionRoot::Kind::Materialise, nullptr, tile, buffer, true});
  inner.flush();
  at = inner.builder();
  kernel.releaseTo(mark);
  // The body is lowered again, for other iterations or the other operand, which must not find its
  // tiles where this time has left them.
  for (Operation *source : needed) {
    for (Value result : source->getResults()) {
      kernel.buffers.erase(result);
    }
  }
}

/// Where a product's sum is: in place when the loops around it carry the sum on.
static int bufferForSum(BlockLowering &block, scf::ForOp op, Value initial) {
  KernelState &kernel = block.kernel;
  SmallVector<int64_t> shape(shapeOf(initial));
  shape[0] += gemmOverhangRows;
  auto own = kernel.buffers.find(initial);
  if (own != kernel.buffers.end() && initial.hasOneUse() &&
      initial.getParentBlock() == op->getBlock() &&
      ArrayRef<int64_t>(kernel.buffer(own->second).shape) == ArrayRef<int64_t>(shape)) {
    block.disown(initial);
    return own->second;
  }
  int target = kernel.allocate(shape, elementTypeOf(initial), op.getLoc());
  block.copyInto({{initial, target}});
  return target;
}

bool lowerGemm(BlockLowering &block, scf::ForOp op) {
  KernelState &kernel = block.kernel;
  std::optional<GemmLoop> gemm = recogniseGemm(kernel, op);
  if (!gemm) {
    return false;
  }
  Location loc = op.getLoc();
  Type f32 = block.builder().getF32Type();
  GemmShape shape = gemmShapeFor(kernel.machine, KernelState::byteSize(f32), gemm->n);
  shape.depth *= gemm->packFactor;
  const int64_t panelWidth = shape.vectors * shape.lanes;
  if (gemm->n % panelWidth != 0) {
    decline(Recogniser::Gemm, gemm->dot, "its columns are no whole number of vectors");
    return false;
  }
  countFired(Recogniser::Gemm);
  tally(Recogniser::GemmOperand, gemm->a.load != nullptr);
  tally(Recogniser::GemmOperand, gemm->b.load != nullptr);
  shape.deepest = shape.depth / 4 / gemm->k * gemm->k; // of a rest
  shape.depth = std::max(shape.depth / gemm->k, int64_t(1)) * gemm->k;
  shape.deepest += shape.depth;
  Value initial = op.getInitArgs()[gemm->carried];
  const bool startsAtZero = gemm->startsAtZero && !kernel.buffers.count(initial);
  int target = startsAtZero ? kernel.allocate({gemm->m + gemmOverhangRows, gemm->n},
                                              elementTypeOf(initial), loc)
                            : bufferForSum(block, op, initial);
  int64_t mark = kernel.scratchMark();
  startIteration(block, op, block.builder(), nullptr);
  for (Operation &inner : op.getBody()->without_terminator()) {
    if (!isTile(inner.getResult(0))) {
      block.lowerScalar(inner);
    }
  }
  auto copyFor = [&](const GemmOperand &operand, bool isB) -> GemmCopy {
    if (operand.load && operand.lowerMasks.empty()) {
      return {};
    }
    GemmCopy copy;
    Type type = gemm->packFactor == 1 ? f32 : elementTypeOf(operand.tile);
    copy.tile = kernel.allocate(shapeOf(operand.tile), type, loc);
    bool isPanel = !isB || gemm->n == panelWidth || gemm->packFactor > 1;
    copy.joined = shape.deepest == gemm->k && isPanel
                      ? copy.tile
                      : kernel.allocate({shape.deepest, isB ? gemm->n : gemm->m}, type, loc);
    Value tile = operand.tile;
    int buffer = copy.tile;
    if (operand.load) {
      copy.compute = [&block, op, tile, buffer](OpBuilder &at, Value t) {
        computeByElement(block, op, tile, buffer, at, t);
      };
      return copy;
    }
    copy.compute = [&block, op, tile, buffer](OpBuilder &at, Value t) {
      computeInNests(block, op, tile, buffer, at, t);
    };
    return copy;
  };
  kernel.buffers[op.getResult(gemm->carried)] = target;
  bool isStored =
      emitGemm(kernel, op, *gemm, shape, block.scope,
               {copyFor(gemm->a, false), copyFor(gemm->b, true)}, {target, startsAtZero});
  if (tally(Recogniser::GemmEpilogue, isStored)) {
    block.skip(gemm->store);
  }
  kernel.releaseTo(mark);
  return true;
}

} // namespace nereid::cpu
