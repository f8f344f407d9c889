// SPDX-License-Identifier: Apache-2.0
// The memory that a tensor of somebody else's reaches: sizes, strides and addresses come from
// users, and not all of them describe something that can be. Private to the runtime and the
// libraries that take tensors over.
#pragma once

#include "runtime/tensor/Tensor.h"

#include <optional>

namespace nereid::runtime {

struct Extent {
  uint64_t begin = 0, end = 0; ///< addresses
};

/// Of all elements, whatever the strides; empty without elements. Nothing when the numbers are too
/// large for an address.
std::optional<Extent> extentOf(const Tensor &tensor);

/// Why no memory looks like this tensor; "" when it can. Elements that cannot be counted, an extent
/// beyond the address space and an address between two elements are impossible.
std::string impossibilityOf(const Tensor &tensor);

} // namespace nereid::runtime
