// SPDX-License-Identifier: Apache-2.0
// Runs of floating-point numbers from one format to another, with the same bits that loadAsDouble
// and storeFromDouble give, several at a time. Private to the runtime.
#pragma once

#include "runtime/elements/DType.h"

namespace nereid::runtime {

/// Both types are floating-point and `in` and `out` do not overlap. Every value is rounded once, to
/// nearest even; NaN is quiet and keeps the leading bits of its payload.
void convertFloats(const void *in, DType from, void *out, DType to, int64_t count);

} // namespace nereid::runtime
