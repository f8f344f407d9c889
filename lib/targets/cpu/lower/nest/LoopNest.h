// SPDX-License-Identifier: Apache-2.0
// One loop nest over the shape its roots share: outer dimensions as scalar loops, one dimension in
// vectors. The vector loop has up to three parts (see PeeledPart) and a scalar rest when the size
// is not a multiple of the vector.
#pragma once

#include "lib/targets/cpu/lower/nest/NestReduction.h"
#include "lib/targets/cpu/lower/plan/LanePlan.h"

namespace nereid::cpu {

class LoopNest {
public:
  LoopNest(KernelState &kernel, Scope &block, llvm::ArrayRef<FusionRoot> roots);
  /// Emits the nest at the block's insertion point; afterwards results are in kernel.scalars and
  /// kernel.buffers.
  void build();

private:
  using Body = llvm::function_ref<void(mlir::Value)>;
  void buildLevel(unsigned depth);
  /// The rows in which all bounds of rows hold get a loop of their own; false when none have any.
  bool buildRowsInside(unsigned depth);
  mlir::Value storedRows(int8_t dim);
  void loopInsideRows(llvm::function_ref<void()> body);
  void buildLanes(unsigned depth);
  void buildVectorParts(unsigned depth, const LoopBounds &bounds);
  void emitMain(unsigned depth, mlir::Value start, mlir::Value end);
  void inBranch(mlir::Operation *choice, mlir::OpBuilder inside, llvm::function_ref<void()> body);
  void emitSteps(unsigned depth, mlir::Value start, mlir::Value end, PeeledPart part,
                 unsigned copies);
  void emitLaneBody(unsigned depth, mlir::Value base, unsigned copies);
  void emitBody(unsigned copies);
  void emitStore(tile::StoreOp store, llvm::ArrayRef<mlir::Value> values, bool isAligned);

  // ---- the part behind the ends of the masks ----
  void emitOutside(unsigned depth, mlir::Value start, mlir::Value end);
  bool reduceOutsideOnce(mlir::Value start, mlir::Value end);
  void evaluateAhead(Scope &scope, mlir::Value start);
  bool endsWithMask(const FusionRoot &root) const;

  // ---- delayed stores ----
  void checkDelayedParts();
  void emitDelayedStore(const FusionRoot &root, unsigned copies);
  void loop(mlir::Value low, mlir::Value high, int64_t step, Body body);
  void once(llvm::function_ref<void()> body);
  mlir::OpBuilder &outer() { return evaluator.scopes.back()->builder; }

  // ---- reductions ----
  bool reducesLanes() const { return reductions.axis >= 0 && reductions.axis == plan.dim; }
  bool canBeNonTemporal(tile::StoreOp store) const;
  mlir::Value isAligned(tile::StoreOp store);
  mlir::Value alignedForNonTemporal();
  void findLargeStores();

  KernelState &kernel;
  llvm::ArrayRef<FusionRoot> roots;
  llvm::ArrayRef<int64_t> shape;
  Evaluator evaluator;
  Reductions reductions;
  LanePlan plan;
  llvm::SmallVector<int8_t> order;
  /// Rows in which these masks of rows hold; with `rowsInLanes` they are walked inside the lane
  /// loop.
  struct InsideRows {
    int8_t dim = zeroDim;
    mlir::Value low, high;
    llvm::SmallVector<ElementKey> holding;
    bool rowsInLanes = false;
  };
  InsideRows insideRows;
  int8_t transposedDim = zeroDim; ///< the buffer's contiguous dimension, when it is not the lanes'
  bool isNonTemporal = false;     ///< stores of the body are aligned and may bypass the cache
  llvm::DenseMap<mlir::Operation *, mlir::Value> largeStores; ///< whether they are non-temporal
  mlir::Value mainEnd; ///< of the part in which delayed stores may; null elsewhere
  const Scope *ahead =
      nullptr; ///< what was computed in front of the innermost loop and holds in it
  mlir::OpBuilder *branch = nullptr; ///< loops are created here while code is hoisted to outer()
  llvm::DenseMap<mlir::Value, int> results; ///< buffers that become visible after the nest
  mlir::Location loc;
};

} // namespace nereid::cpu
