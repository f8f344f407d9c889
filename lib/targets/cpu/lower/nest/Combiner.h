// SPDX-License-Identifier: Apache-2.0
// The region of a reduction or a scan as something that combines scalars or vectors: vectors when
// it consists of elementwise operations, scalars always.
#pragma once

#include "lib/targets/cpu/lower/elements/Evaluator.h"

namespace nereid::cpu {

class Combiner {
public:
  explicit Combiner(tile::ReduceOp reduce) : op(reduce) {}
  explicit Combiner(tile::ScanOp scan) : op(scan) {}
  unsigned count() const { return op->getNumOperands(); }
  /// Vectors can be combined, not just scalars.
  bool isElementwise() const;
  /// A value that changes nothing when combined, per source; empty when the region has none known.
  llvm::SmallVector<mlir::TypedAttr> identity() const;
  /// Combining with a value a second time changes nothing: a minimum, a maximum.
  bool isIdempotent() const;
  llvm::SmallVector<mlir::Value> apply(Evaluator &evaluator, mlir::OpBuilder &builder,
                                       llvm::ArrayRef<mlir::Value> a,
                                       llvm::ArrayRef<mlir::Value> b) const;
  /// Combines the lanes of vectors into scalars.
  llvm::SmallVector<mlir::Value> acrossLanes(Evaluator &evaluator, mlir::OpBuilder &builder,
                                             llvm::SmallVector<mlir::Value> lanes) const;
  mlir::Operation *op;
};

} // namespace nereid::cpu
