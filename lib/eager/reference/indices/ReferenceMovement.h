// SPDX-License-Identifier: Apache-2.0
// The reference's movements: elements and their bounds copied one by one, nothing rounded.
#pragma once

#include "lib/eager/reference/ReferenceGraph.h"

namespace nereid::eager {

/// See definition/operations/Movement.h; the node's attributes are numbers.
Result<BoundedTensor> moveBounded(const definition::Node &node,
                                  std::span<const BoundedTensor *const> operands, DType dtype);

} // namespace nereid::eager
