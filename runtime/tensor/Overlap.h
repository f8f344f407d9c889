// SPDX-License-Identifier: Apache-2.0
// Whether tensors share memory, by their addresses, sizes and strides. Private to the runtime and
// the libraries that call operators.
#pragma once

#include "runtime/tensor/Tensor.h"

namespace nereid::runtime {

/// Whether memory of one lies between the ends of the other's, gaps between elements included.
bool extentsMeet(const Tensor &a, const Tensor &b);
/// Whether an element of one may have a byte of the other's. Rows of one stride that lie in each
/// other's gaps have none.
bool overlap(const Tensor &a, const Tensor &b);
/// Whether two elements of the tensor may share a byte, as those of an expanded one do.
bool overlapsItself(const Tensor &tensor);

} // namespace nereid::runtime
