// SPDX-License-Identifier: Apache-2.0
// Inner loops of eager execution on integers, in the operation's own type: what it cannot hold
// wraps. They are plain loops that the compiler vectorises.
#pragma once

#include "lib/eager/baseline/kernels/KernelTable.h"

namespace nereid::eager {

/// Null when the operation does not compute with integers. Comparisons give 0 and 1.
template <class T> PointwiseLoop<T> integerLoop(OpId op);

} // namespace nereid::eager
