// SPDX-License-Identifier: Apache-2.0
// Lowers one block of the source function in program order: scalars one to one, roots collected
// into nests, control flow by blocks of its own. Tiles that cross a loop or a branch live in
// buffers.
#pragma once

#include "lib/targets/cpu/lower/nest/LoopNest.h"
#include "lib/targets/cpu/lower/plan/NestCollector.h"

namespace nereid::cpu {

class BlockLowering {
public:
  BlockLowering(KernelState &kernel, mlir::OpBuilder builder, const Scope *parent);
  BlockLowering(const BlockLowering &) = delete;
  BlockLowering &operator=(const BlockLowering &) = delete;
  /// Everything but the terminator.
  void lower(mlir::Block &block);
  /// Emits the nest collected so far.
  void flush() { pending.flush(); }
  mlir::OpBuilder &builder() { return scope.builder; }

  // ---- for what lowers one operation, see Operations.h ----
  void lowerOp(mlir::Operation &op);
  void lowerScalar(mlir::Operation &op);
  void addRoot(const FusionRoot &root) { pending.add(root); }
  /// The operation was made part of a loop in front of it.
  void skip(mlir::Operation *op) { done.insert(op); }
  /// The element at the first place of a tile.
  mlir::Value scalarAtZero(mlir::Value tile);
  /// The tile in scratch with elements of `type`: where it is materialised, or a converted copy.
  int bufferOf(mlir::Value tile, mlir::Type type);
  /// A new buffer that holds the result.
  int bufferFor(mlir::Value result);
  /// The block's buffer is released when its tile is read for the last time; `disown` passes it on.
  void own(mlir::Value tile, int buffer) { owned.push_back({tile, buffer}); }
  void disown(mlir::Value tile);
  using Copies = llvm::SmallVector<std::pair<mlir::Value, int>>;
  /// Computes tiles into buffers "at once": none is overwritten before all that read it are done.
  void copyInto(const Copies &copies);

  KernelState &kernel;
  Scope scope;

private:
  /// Computes a tile into a buffer where it is defined.
  void materialise(mlir::Value tile);
  mlir::Value overwrittenProduct(const FusionRoot &root, mlir::Type element) const;
  void addDelayedStore(mlir::scf::IfOp branch);
  /// Gives back the buffers of this block's tiles that nobody reads at or behind the operation.
  void releaseBefore(mlir::Operation *op);
  void lowerScalarStore(tile::StoreOp op);
  mlir::Value lowerScalarLoad(tile::LoadOp op);
  // ---- ControlFlow.cpp ----
  /// Lets other programs run; `observed` changes when this one gets on.
  void emitYield(mlir::OpBuilder &builder, mlir::Location loc,
                 llvm::ArrayRef<mlir::Value> observed);
  void lowerFor(mlir::scf::ForOp op);
  void lowerIf(mlir::scf::IfOp op);
  void lowerWhile(mlir::scf::WhileOp op);
  int bufferForCarried(mlir::Operation *loop, mlir::Value initial, Copies &copies);

  NestCollector pending;
  llvm::SmallVector<std::pair<mlir::Value, int>> owned;
  llvm::DenseSet<mlir::Operation *> done; ///< see skip
};

} // namespace nereid::cpu
