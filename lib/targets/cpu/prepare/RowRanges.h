// SPDX-License-Identifier: Apache-2.0
// The bytes that a contiguous rank-1 access of a row loop touches, as scalar tile IR for any row:
// what PipelineRows.cpp compares at run time.
#pragma once

#include "lib/targets/cpu/lower/plan/TileAxes.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"

namespace nereid::cpu {

struct RowRange {
  mlir::Value pointer; ///< tile or scalar
  mlir::Value limit;   ///< scalar number of elements accessed, when a mask bounds them
  int64_t elements = 1;
  int64_t elementBytes = 1;
};

class RowRanges {
public:
  RowRanges(mlir::scf::ForOp loop, const TileAxes &axes) : loop(loop), axes(axes) {}

  /// Computed from the induction variable and values from outside of the loop, without memory.
  bool dependsOnRowOnly(mlir::Value value);
  /// Nothing when the addresses are not consecutive or not known before the row begins.
  std::optional<RowRange> of(mlir::Value pointer, mlir::Value mask);

  struct Bytes {
    mlir::Value start, count; ///< i64
  };
  Bytes emit(mlir::OpBuilder &builder, mlir::Location loc, const RowRange &range, mlir::Value row);
  mlir::Value overlap(mlir::OpBuilder &builder, mlir::Location loc, Bytes a, Bytes b);
  mlir::Value isUnaligned(mlir::OpBuilder &builder, mlir::Location loc, Bytes bytes,
                          int64_t alignment);

private:
  using Memo = llvm::DenseMap<mlir::Value, mlir::Value>;
  bool hasFirst(mlir::Value value);
  /// The scalar, or the tile's first element, for the row `memo` maps the induction variable to.
  mlir::Value first(mlir::OpBuilder &builder, mlir::Value value, Memo &memo);

  mlir::scf::ForOp loop;
  const TileAxes &axes;
};

} // namespace nereid::cpu
