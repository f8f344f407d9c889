// SPDX-License-Identifier: Apache-2.0
// Inner loops that call a function of the C library for each element, for operations without vector
// code in kernels/: as an eager framework without a vector library of its own does.
#pragma once

#include "lib/eager/baseline/kernels/KernelTable.h"

namespace nereid::eager {

/// Null for any other operation. T is float or double.
template <class T> PointwiseLoop<T> libraryLoop(OpId op);

} // namespace nereid::eager
