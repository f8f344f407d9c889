// SPDX-License-Identifier: Apache-2.0
// From operations on tiles to what one thread does: one function for each kind of operation, which
// reads what the thread holds of the operands and says what it holds of the results. Those that
// fail have said why.
#pragma once

#include "lib/targets/nvidia/NvidiaMachine.h"
#include "lib/targets/nvidia/threads/ThreadCode.h"
#include "lib/tile/analysis/axis/AxisInfo.h"

namespace nereid::nvidia {

// ---- Elements.cpp ----

void lowerProgramId(ThreadCode &code, tile::ProgramIdOp op);
void lowerNumPrograms(ThreadCode &code, tile::NumProgramsOp op);

/// One operation for each element, or for each run of equal ones; scalars alike.
void lowerElementwise(ThreadCode &code, mlir::Operation *op, const tile::AxisInfos &axes);
void lowerExtremumOf(ThreadCode &code, tile::MaxNumOp op);
void lowerExtremumOf(ThreadCode &code, tile::MinNumOp op);
void lowerConstant(ThreadCode &code, mlir::arith::ConstantOp op);
void lowerAddPtr(ThreadCode &code, tile::AddPtrOp op);
void lowerPointerCast(ThreadCode &code, mlir::Operation *op);

// ---- Moves.cpp: elements of other shapes, which no thread has to fetch ----

void lowerRange(ThreadCode &code, tile::MakeRangeOp op);
void lowerSplat(ThreadCode &code, tile::SplatOp op);
/// Of expand_dims, broadcast, reshape and trans.
void lowerMove(ThreadCode &code, mlir::Operation *op);
void lowerJoin(ThreadCode &code, tile::JoinOp op);
void lowerSplit(ThreadCode &code, tile::SplitOp op);

// ---- Memory.cpp ----

void lowerLoad(ThreadCode &code, tile::LoadOp op, const tile::AxisInfos &axes);
/// Of a load with the attribute nvidia.held: a copy into shared memory, of which the thread reads
/// its own part again where it needs it.
void lowerHeldLoad(ThreadCode &code, tile::LoadOp op);
void lowerReadAgain(ThreadCode &code, ReadAgainOp op);
void lowerStore(ThreadCode &code, tile::StoreOp op, const tile::AxisInfos &axes);

// ---- Atomics.cpp ----

/// `capability`: 90 and above add vectors of floats.
mlir::LogicalResult lowerAtomic(ThreadCode &code, tile::AtomicRMWOp op, const tile::AxisInfos &axes,
                                int capability);
void lowerCompareAndSwap(ThreadCode &code, tile::AtomicCASOp op);

// ---- Exchange.cpp: through registers of other threads or shared memory ----

void lowerConvertLayout(ThreadCode &code, ConvertLayoutOp op);
void lowerUnsplat(ThreadCode &code, tile::UnsplatOp op);
void lowerGather(ThreadCode &code, tile::GatherOp op);
void lowerExchange(ThreadCode &code, ExchangeOp op);
void lowerHistogram(ThreadCode &code, tile::HistogramOp op);

// ---- Products.cpp ----

void lowerDot(ThreadCode &code, tile::DotOp op);

// ---- Assembly.cpp ----

mlir::LogicalResult lowerAssembly(ThreadCode &code, tile::InlineAsmOp op);

// ---- Output.cpp ----

void lowerPrint(ThreadCode &code, tile::PrintOp op);
/// A program in which an element is false leaves a record (Failure.h) and ends.
void lowerAssert(ThreadCode &code, tile::AssertOp op);

// ---- Lower.cpp ----

/// Makes the kernel of `module` the code of one thread. Tells E0301 at what this target does not
/// have, and E0501 at what needs more shared memory than the machine has.
mlir::LogicalResult lowerTilesToThreads(mlir::ModuleOp module, const NvidiaMachine &machine);

} // namespace nereid::nvidia
