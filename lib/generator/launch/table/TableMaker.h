// SPDX-License-Identifier: Apache-2.0
// Kernels as a table of launches: which expressions say blocks, grids and workspaces, and which of
// them a schedule may choose.
#pragma once

#include "lib/generator/launch/Table.h"

namespace nereid::generator {

/// `conditions`: expressions under which a workspace is needed at all.
LaunchTable tableOf(const Program &program, std::map<BufferId, std::string> conditions,
                    const std::vector<StageKernel> &kernels);

} // namespace nereid::generator
