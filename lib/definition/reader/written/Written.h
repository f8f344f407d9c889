// SPDX-License-Identifier: Apache-2.0
// Functions of operations.def that are written out by code (NEREID_WRITTEN) and have nothing to do
// with windows: copies and other views (Views.cpp), pieces of a tensor (Pieces.cpp), places in
// sorted rows (Searches.cpp), results whose size is a number of the call (Counts.cpp), and
// attention (Attention.cpp).
#pragma once

#include "lib/definition/reader/windows/WrittenCall.h"

namespace nereid::definition {

/// split, chunk, unbind and their like: a call returns as many tensors as there are pieces.
bool returnsPieces(const std::string &name);
std::vector<Value> pieces(WrittenCall &call);

/// contiguous, clone, resolve_conj, resolve_neg, _to_copy.
Value copy(WrittenCall &call);
/// expand_as, view_as, reshape_as.
Value shapedLike(WrittenCall &call);
Value strided(WrittenCall &call);
/// searchsorted, bucketize.
Value searched(WrittenCall &call);
Value binCounts(WrittenCall &call);
Value histogram(WrittenCall &call);
Value nonzeroPlaces(WrittenCall &call);
/// scaled_dot_product_attention.
Value attention(WrittenCall &call);

} // namespace nereid::definition
