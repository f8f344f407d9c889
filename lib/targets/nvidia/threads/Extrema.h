// SPDX-License-Identifier: Apache-2.0
// The larger or smaller of two floats, of which one may be no number.
#pragma once

#include "lib/targets/nvidia/threads/ThreadCode.h"

namespace nereid::nvidia {

enum class Extremum : uint8_t { Max, Min };

/// Of scalars of one float type: the number where one of them is none. As LLVM's intrinsics,
/// because MLIR folds arith.maxnumf(x, -inf) to x, which may be no number.
mlir::Value extremumOfNumbers(ThreadCode &code, Extremum extremum, mlir::Value left,
                              mlir::Value right);

} // namespace nereid::nvidia
