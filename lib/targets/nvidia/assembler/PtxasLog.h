// SPDX-License-Identifier: Apache-2.0
// What ptxas says of a kernel with -v, as numbers.
#pragma once

#include "lib/pipeline/Occupation.h"

#include <string_view>

namespace nereid::nvidia {

/// Of a text with one kernel; what it does not say is 0. Warnings are the lines with a code, such
/// as
/// "(C7510) Potential Performance Loss: …", and those called so.
pipeline::CodeAccount readPtxasLog(std::string_view log);

} // namespace nereid::nvidia
