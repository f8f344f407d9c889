// SPDX-License-Identifier: Apache-2.0
// What single operations become that are no part of a loop nest, each kind in a file of its own.
// All tiles they read are in scratch memory by then, or are brought there; the nest collected so
// far is built (BlockLowering::flush).
#pragma once

#include "lib/targets/cpu/lower/block/BlockLowering.h"

namespace nereid::cpu {

// ---- Effects.cpp ----
void lowerPrint(BlockLowering &block, tile::PrintOp op);
void lowerAssert(BlockLowering &block, tile::AssertOp op);

// ---- AtomicLowering.cpp ----
void lowerAtomic(BlockLowering &block, mlir::Operation &op);
/// One element's access; gives what memory held, or zero where the mask is false.
mlir::Value emitAtomic(KernelState &kernel, mlir::OpBuilder &outside, mlir::Operation &op,
                       llvm::function_ref<mlir::Value(mlir::Value)> valueOf);

// ---- PrivatisedAtomics.cpp ----
/// False when the atomic has to reach memory at once, and then nothing was emitted.
bool lowerPrivatisedAtomic(BlockLowering &block, mlir::Operation &op);

// ---- DotLowering.cpp ----
/// A product that is no loop.
void lowerDot(BlockLowering &block, tile::DotOp op);

// ---- CrossLaneLowering.cpp, ScanLowering.cpp, HistogramLowering.cpp ----
/// Any of the operations that isCrossLane names.
void lowerCrossLane(BlockLowering &block, mlir::Operation &op);
void lowerScan(BlockLowering &block, tile::ScanOp op);
void lowerHistogram(BlockLowering &block, tile::HistogramOp op);

} // namespace nereid::cpu
