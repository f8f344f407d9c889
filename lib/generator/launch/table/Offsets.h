// SPDX-License-Identifier: Apache-2.0
// How far from their buffers' beginning the lanes of a kernel read and write.
#pragma once

#include "lib/generator/template/StageKernel.h"

namespace nereid::generator {

/// Whether some place is one that data says.
bool isAtData(const StageKernel &kernel);
/// The expression of launches: whether some offset or index, of lanes beyond a tile's edge too,
/// needs more than 32 bits.
std::string isWide(const StageKernel &kernel, const Program &program);

} // namespace nereid::generator
