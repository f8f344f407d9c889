// SPDX-License-Identifier: Apache-2.0
// Lowers one block of the source function in program order: scalars one to one, roots collected
// into nests, control flow by blocks of its own. Tiles that cross a loop or a branch live in
// buffers.
#pragma once

#include "lib/targets/cpu/lower/LoopNest.h"

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
  void addRoot(const Root &root);
  void lowerScalar(mlir::Operation &op);
  void lowerScalarStore(tile::StoreOp op);
  mlir::Value lowerScalarLoad(tile::LoadOp op);
  // ---- Effects.cpp ----
  void lowerPrint(tile::PrintOp op);
  void lowerAssert(tile::AssertOp op);
  using ElementBody = llvm::function_ref<void(Evaluator &, mlir::Value index)>;
  void forEachElement(mlir::Location loc, llvm::ArrayRef<int64_t> shape, ElementBody body);
  mlir::Value textAddress(llvm::StringRef text, mlir::Location loc);
  void callRuntime(mlir::OpBuilder &builder, mlir::Location loc, llvm::StringRef name,
                   mlir::ValueRange arguments);
  // ---- ControlFlow.cpp ----
  void lowerFor(mlir::scf::ForOp op);
  void lowerIf(mlir::scf::IfOp op);
  void lowerWhile(mlir::scf::WhileOp op);
  int bufferForCarried(mlir::Value initial, Copies &copies);
  /// Computes tiles into buffers "at once": none is overwritten before all that read it are done.
  void copyInto(const Copies &copies);
  mlir::Value scalarAtZero(mlir::Value tile);
  // ---- DotLowering.cpp ----
  void lowerDot(tile::DotOp op);
  int dotOperand(mlir::Value tile, mlir::Type type);

  KernelState &kernel;
  Scope scope;
  GroupState pending;
};

} // namespace nereid::cpu
