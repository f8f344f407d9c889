// SPDX-License-Identifier: Apache-2.0
// Values that are read where data says.
#pragma once

#include "lib/generator/emit/AccessMask.h"
#include "lib/generator/index/NodeQueries.h"

namespace nereid::generator {

/// Whether it is an access at an index that depends on memory or on a number that is computed.
inline bool readsAtData(const NodeParts &node) {
  return isAccess(node) && readsIndex(node.indices);
}

} // namespace nereid::generator
