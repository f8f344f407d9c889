// SPDX-License-Identifier: Apache-2.0
// Values of float32 as sums of shorter numbers, for matrix units that multiply these.
#pragma once

#include "lib/generator/template/StageKernel.h"

#include <functional>
#include <optional>

namespace nereid::generator {

/// Of a float32 these bits remain: 8 of its significand as in a bfloat16, or 11 as in a half and in
/// a tensor float.
enum class KeptBits : int64_t { ShortFloat = -65536, Half = -8192 };

/// The value without the other bits, as a float32.
kernel::Expr truncated(const kernel::Expr &value, KeptBits bits);

/// The next float32 that is nearer to 0, or the one before it.
kernel::Expr nearerToZero(const kernel::Expr &value);

/// Calls `add` with both factors of each product of bfloat16 whose sum is the product of a float32
/// and a number of 16 bits, which `ofLeft` or `ofRight` is the type of. A float32 is the sum of
/// three, and a half of two; each of them has its sign, and none is 0 where the value is not, so
/// that products with infinite numbers are what they are with the value. `mayBeInfinite`: the
/// float32.
void multiplyInParts(KernelWriting &writing, const kernel::Expr &left, std::optional<DType> ofLeft,
                     const kernel::Expr &right, std::optional<DType> ofRight, bool mayBeInfinite,
                     const std::function<void(const kernel::Expr &, const kernel::Expr &)> &add);

} // namespace nereid::generator
