// SPDX-License-Identifier: Apache-2.0
// What stages of parts have in common, whatever is cut (Split.h, SplitScan.h): how long a part is,
// what it takes beyond the line's end, and the memory that one stage leaves to the next.
#pragma once

#include "lib/generator/fuse/split/Split.h"

namespace nereid::generator {

/// Elements of each of `parts` parts of a line. `isAligned`: parts begin at multiples of a few
/// elements, so that wide accesses stay aligned.
Polynomial lengthOfPart(Program &program, const Polynomial &extent, int64_t parts, bool isAligned);

/// place < extent.
const Node *isBelow(Program &program, const Affine &place, const Polynomial &extent);

/// The value where `inside` holds, else the number: of what is converted, already in the type
/// from which it is, for the load to have it.
const Node *selectedInside(Program &program, const Node *inside, const Node *value, double other);

/// A temporary over these iterators, one of the workspaces, and how it is read there.
NodeParts partMemory(Program &program, Split &made, DType dtype,
                     const std::vector<IteratorId> &iterators);

} // namespace nereid::generator
