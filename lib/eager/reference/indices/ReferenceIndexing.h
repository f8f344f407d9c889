// SPDX-License-Identifier: Apache-2.0
// Reads and writes at indices from tensors in the reference: plain loops over the points of
// Indexing.h. What meets in one element is collected first and then joined by the rule of the
// reduction, so that the bound of a sum has the length of its collision.
#pragma once

#include "lib/eager/reference/ReferenceGraph.h"

namespace nereid::eager {

/// E0629 for an index that the table's dimension does not have. `type`: of the table's elements.
Result<BoundedTensor> indexedBounded(const definition::Node &node,
                                     const std::vector<const BoundedTensor *> &operands, DType type,
                                     const ErrorModel &model);

} // namespace nereid::eager
