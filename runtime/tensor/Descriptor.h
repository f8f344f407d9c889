// SPDX-License-Identifier: Apache-2.0
// A tensor passed for a descriptor parameter, taken apart into what the kernel's code takes.
#pragma once

#include "runtime/Kernel.h"

namespace nereid::runtime {

/// Writes the tensor's sizes and its strides but the last, 2·rank - 1 numbers. `who` names the
/// parameter in messages. E0409 when the rank differs, E0411 when rows are not contiguous.
LaunchError describeTensor(const std::string &who, int64_t rank, const Tensor &tensor,
                           int64_t *parts);

} // namespace nereid::runtime
