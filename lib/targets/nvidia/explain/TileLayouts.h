// SPDX-License-Identifier: Apache-2.0
// The layouts of a kernel's tiles, for `nereid explain-layout`.
#pragma once

#include "lib/pipeline/Phases.h"

namespace nereid::nvidia {

/// Of the kernel of state.module, as phase `tile-nvidia` leaves it.
pipeline::TileLayouts tileLayoutsOf(const pipeline::CompileState &state);

} // namespace nereid::nvidia
