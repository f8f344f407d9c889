// SPDX-License-Identifier: Apache-2.0
// Weights of float32 and values of 16 bits as sums of shorter numbers, for matrix units that
// multiply these.
#pragma once

#include "lib/generator/template/StageKernel.h"

#include <functional>

namespace nereid::generator {

/// Calls `add` with both factors of each product of bfloat16 whose sum is `weight`, a finite number
/// of 0 and above, times `value`, a bfloat16 or a half as `ofValue` says; what is left out is below
/// the last bit of a float32. A weight is the sum of three, each 2^-133 at least, so that one below
/// 2^-110 is less exact, and a half of two. Each has the number's sign, and none is 0 where the
/// number is not: an infinite value stays what it is.
void multiplyInParts(KernelWriting &writing, const kernel::Expr &weight, const kernel::Expr &value,
                     DType ofValue,
                     const std::function<void(const kernel::Expr &, const kernel::Expr &)> &add);

} // namespace nereid::generator
