// SPDX-License-Identifier: Apache-2.0
// Lowers one block of the source function in program order: scalars one to one, roots collected
// into nests, control flow by blocks of its own. Tiles that cross a loop or a branch live in
// buffers.
#pragma once

#include "lib/targets/cpu/lower/nest/LoopNest.h"

namespace nereid::cpu {

class BlockLowering {
public:
  BlockLowering(KernelState &kernel, mlir::OpBuilder builder, const Scope *parent);
  /// Everything but the terminator.
  void lower(mlir::Block &block);
  /// Emits the nest collected so far.
  void flush();
  mlir::OpBuilder &builder() { return scope.builder; }

private:
  using Copies = llvm::SmallVector<std::pair<mlir::Value, int>>;
  void lowerOp(mlir::Operation &op);
  /// Computes a tile into a buffer where it is defined.
  void keep(mlir::Value tile);
  mlir::Value overwrittenProduct(const Root &root, mlir::Type element) const;
  void addRoot(const Root &root);
  void addDelayedStore(mlir::scf::IfOp branch);
  /// Gives back the buffers of this block's tiles that nobody reads at or behind the operation.
  void releaseBefore(mlir::Operation *op);
  /// The block's buffer is released when its tile is read for the last time; `disown` passes it on.
  void own(mlir::Value tile, int buffer) { owned.push_back({tile, buffer}); }
  void disown(mlir::Value tile);
  void lowerScalar(mlir::Operation &op);
  void lowerScalarStore(tile::StoreOp op);
  mlir::Value lowerScalarLoad(tile::LoadOp op);
  // ---- Effects.cpp ----
  void lowerPrint(tile::PrintOp op);
  void lowerAssert(tile::AssertOp op);
  using ElementBody = llvm::function_ref<void(Evaluator &, mlir::Value index)>;
  void forEachElement(mlir::Location loc, llvm::ArrayRef<int64_t> shape, ElementBody body);
  mlir::Value textAddress(mlir::OpBuilder &builder, llvm::StringRef text, mlir::Location loc);
  void callRuntime(mlir::OpBuilder &builder, mlir::Location loc, llvm::StringRef name,
                   mlir::ValueRange arguments);
  // ---- AtomicLowering.cpp ----
  void lowerAtomic(mlir::Operation &op);
  /// One element's access; gives what memory held, or zero where the mask is false.
  mlir::Value emitAtomic(mlir::OpBuilder &outside, mlir::Operation &op,
                         llvm::function_ref<mlir::Value(mlir::Value)> valueOf);
  // ---- DeferredAdditions.cpp ----
  /// False when the atomic has to reach memory at once, and then nothing was emitted.
  bool lowerDeferredAddition(mlir::Operation &op);
  // ---- ControlFlow.cpp ----
  /// Lets other programs run; `observed` changes when this one gets on.
  void giveWay(mlir::OpBuilder &builder, mlir::Location loc, llvm::ArrayRef<mlir::Value> observed);
  void lowerFor(mlir::scf::ForOp op);
  void lowerIf(mlir::scf::IfOp op);
  void lowerWhile(mlir::scf::WhileOp op);
  int bufferForCarried(mlir::Operation *loop, mlir::Value initial, Copies &copies);
  int bufferForSum(mlir::scf::ForOp op, mlir::Value initial);
  /// Computes tiles into buffers "at once": none is overwritten before all that read it are done.
  void copyInto(const Copies &copies);
  mlir::Value scalarAtZero(mlir::Value tile);
  // ---- GemmLowering.cpp ----
  /// The loop of a matrix product; false when it is another one, and then nothing was emitted.
  bool lowerGemm(mlir::scf::ForOp op);
  void startIteration(mlir::scf::ForOp op, mlir::OpBuilder &at, mlir::Value t);
  void computeByElement(mlir::scf::ForOp op, mlir::Value tile, int buffer, mlir::OpBuilder &at,
                        mlir::Value t);
  void computeInNests(mlir::scf::ForOp op, mlir::Value tile, int buffer, mlir::OpBuilder &at,
                      mlir::Value t);
  // ---- DotLowering.cpp ----
  void lowerDot(tile::DotOp op);
  /// The tile in scratch with elements of `type`: where it is kept, or a converted copy.
  int bufferOf(mlir::Value tile, mlir::Type type);
  // ---- ExchangeLowering.cpp, ScanLowering.cpp ----
  void lowerExchange(mlir::Operation &op);
  void lowerScan(tile::ScanOp op);
  void lowerJoin(tile::JoinOp op);
  void lowerSplit(tile::SplitOp op);
  void lowerHistogram(tile::HistogramOp op);
  /// A new buffer that holds the result.
  int bufferFor(mlir::Value result);
  using BlockBody = llvm::function_ref<void(mlir::OpBuilder &, mlir::Value index, unsigned width)>;
  /// Positions 0 … count-1 in blocks of `width`, the rest one by one.
  void forBlocks(mlir::Location loc, int64_t count, int64_t width, BlockBody body);
  mlir::Value element(mlir::OpBuilder &b, mlir::Location loc, int buffer, mlir::Value index);
  mlir::Value loadLanes(mlir::OpBuilder &b, mlir::Location loc, int buffer, mlir::Value index,
                        unsigned width);
  void storeLanes(mlir::OpBuilder &b, mlir::Location loc, int buffer, mlir::Value index,
                  mlir::Value lanes);

  KernelState &kernel;
  Scope scope;
  GroupState pending;
  llvm::SmallVector<std::pair<mlir::Value, int>> owned;
  llvm::DenseSet<mlir::Operation *> done; ///< stores that were made part of a loop in front of them
};

} // namespace nereid::cpu
