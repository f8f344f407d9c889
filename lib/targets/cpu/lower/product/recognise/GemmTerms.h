// SPDX-License-Identifier: Apache-2.0
// What a mask of a product's operand or result says of rows, columns and k: the terms of its
// conjunction, each as a bound along one dimension.
#pragma once

#include "lib/targets/cpu/lower/KernelState.h"

namespace nereid::cpu {

/// A bound along one dimension, of stride 1.
struct PrefixTerm : tile::MaskBound {
  Dims dims; ///< of the comparison's operands
};

/// Visits the terms of a conjunction, the last one first, at the coordinates that matter to them,
/// until one visit is false; so is the result then.
bool forEachTerm(KernelState &kernel, mlir::Value mask, const Dims &dims,
                 llvm::function_ref<bool(mlir::Value, const Dims &)> visit);

/// The term as a bound along the one dimension it depends on.
std::optional<PrefixTerm> asPrefix(KernelState &kernel, mlir::Value term, const Dims &dims,
                                   int8_t dim);

/// One of the terms is the same bound.
bool hasTerm(llvm::ArrayRef<PrefixTerm> terms, const PrefixTerm &term);

} // namespace nereid::cpu
