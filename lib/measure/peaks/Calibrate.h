// SPDX-License-Identifier: Apache-2.0
// Measures what this machine can do; when to, ThisChip.cpp decides.
#pragma once

#include "lib/machine/Machine.h"

namespace nereid::measure {

/// Fills in the rates, in about three seconds on an otherwise idle machine. Returns how far the
/// repetitions of a figure were apart at most, as a share.
double calibrate(Machine &chip);

} // namespace nereid::measure
