// SPDX-License-Identifier: Apache-2.0
// The algebra of runs that the rules of AxisInfo share: shorter runs, runs of one length, and
// whether a run passes the end of its type.
#pragma once

#include "lib/tile/analysis/axis/AxisInfo.h"

namespace nereid::tile {

/// The power of two that divides a number; all bits of it for 0.
unsigned twosOf(const llvm::APInt &number);
unsigned twosOf(uint64_t number);
/// Of a stride in the units of the value: bytes for addresses.
unsigned twosOf(int64_t stride, const AxisInfo &value);

/// Runs of the longest length that lies in runs of both.
int64_t commonLength(int64_t size, int64_t a, int64_t b);

/// The same elements in shorter runs; `length` divides the run's, or the run is the whole
/// dimension.
AxisRun shortened(const AxisInfo &value, unsigned dim, int64_t length);
std::pair<AxisRun, AxisRun> withCommonLength(const AxisInfo &a, const AxisInfo &b, unsigned dim);

/// The number modulo the type's range, as a signed one.
int64_t wrapped(int64_t number, unsigned width);

/// No run along the dimension passes the end of the signed or unsigned numbers: each step adds the
/// stride to the number itself, not only modulo the type's range.
bool staysInRange(const AxisInfo &value, unsigned dim, bool isSigned, Overflow overflow);

/// The longest runs of a value with a known stride s > 0 so that `length * s` divides 2 to the
/// power `span`, and each begins at a multiple of it: numbers of one run are the same except for
/// their last `span` bits. 1 where there is none.
int64_t lengthWithin(const AxisInfo &value, unsigned dim, unsigned span);

} // namespace nereid::tile
