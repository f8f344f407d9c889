// SPDX-License-Identifier: Apache-2.0
// The attributes `cpu.…` by which one pass of this target tells a later one what it knows, by name.
// They are a dialect of no operations, so that whatever reads a text checks them: where each may
// stand and what it may be is said by a row of Attributes.cpp, and a name without a row is an
// error.
#pragma once

#include "mlir/IR/Dialect.h"

namespace nereid::cpu {

/// Has no operations; checks the attributes.
class CpuDialect : public mlir::Dialect {
public:
  static llvm::StringRef getDialectNamespace() { return "cpu"; }
  explicit CpuDialect(mlir::MLIRContext *context);
  mlir::LogicalResult verifyOperationAttribute(mlir::Operation *op,
                                               mlir::NamedAttribute attribute) override;
};

namespace attribute {

// ---- of tile IR: cpu-pipeline-rows to the lowering ----

/// i32, of an scf.if around one store: it belongs into the nest in front of it. Which share of the
/// row it stores, see DelayedPart.
inline constexpr llvm::StringLiteral delayedStore = "cpu.delayed_store";
/// Unit, of an scf.for: the tiles it carries are those that its delayed store reads. Each has one
/// buffer, which is overwritten in place.
inline constexpr llvm::StringLiteral pipelinedRows = "cpu.pipelined_rows";
/// Unit, of an operation in such a loop: computed for the row before, which the first iteration
/// does not have, and therefore in the branch of the delayed store alone.
inline constexpr llvm::StringLiteral rowBefore = "cpu.row_before";
/// Unit, of a tile.store: it never bypasses the caches.
inline constexpr llvm::StringLiteral cached = "cpu.cached";

// ---- of loops: the lowering to the passes on loops, of an scf.for each ----

/// Unit: a lane loop that walks all of a row but the end, in whole vectors.
inline constexpr llvm::StringLiteral wholeVectors = "cpu.whole_vectors";
/// Unit: a lane loop whose carried vectors are folded across lanes and into each other, so that it
/// does not matter which elements are in which lanes.
inline constexpr llvm::StringLiteral anyLaneOrder = "cpu.any_lane_order";
/// Unit: a loop that walks as many elements as the row has without reading memory, the best place
/// for the next row's prefetches. Its step counts elements.
inline constexpr llvm::StringLiteral hostsPrefetches = "cpu.hosts_prefetches";
/// i64, of a lane loop: how many elements it walks at most, when these are few.
inline constexpr llvm::StringLiteral shortRow = "cpu.short_row";
/// Unit, of a loop over rows: they read what the rows before have brought into the caches.
inline constexpr llvm::StringLiteral readsNeighbours = "cpu.reads_neighbours";

} // namespace attribute

/// Which share of a delayed store a nest takes.
enum class DelayedPart : uint8_t { All, First, Rest };

/// A branch around one store that belongs into the nest in front of it.
bool isDelayedStore(mlir::Operation *op);
/// Of such a branch.
DelayedPart delayedPart(mlir::Operation *branch);

} // namespace nereid::cpu

MLIR_DECLARE_EXPLICIT_TYPE_ID(nereid::cpu::CpuDialect)
