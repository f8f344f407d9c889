// SPDX-License-Identifier: Apache-2.0
// Whether a store writes each element at most once (law L4).
#pragma once

#include "lib/generator/index/Affine.h"

namespace nereid::generator {

/// True when it is proved that two points of `iterators` have different indices. The test is that
/// of mixed radices: in one dimension each coefficient is beyond what the terms of smaller ones
/// reach together, so that the index tells all of them; dimensions may use what others have told.
bool isInjective(const std::vector<Affine> &index, const std::set<IteratorId> &iterators,
                 const IndexSpace &space);

} // namespace nereid::generator
