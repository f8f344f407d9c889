// SPDX-License-Identifier: Apache-2.0
// What is said of times and shares of the roofline that cannot be.
#pragma once

#include "lib/measure/peaks/Roofline.h"

#include <string>

namespace nereid::report {

/// "256 ns is below the roofline's floor of 3.00 ms: rejected as impossible".
std::string impossibleText(double seconds, const measure::Roofline &floor);

} // namespace nereid::report
