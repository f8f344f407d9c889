// SPDX-License-Identifier: Apache-2.0
// Kernels of additions in order (fuse/split/SplitWalk.h): lanes along what values and results
// share, each of which walks along all values of a part and adds them to memory where they belong.
#pragma once

#include "lib/generator/fuse/split/Split.h"
#include "lib/generator/template/StageKernel.h"

namespace nereid::generator {

/// Whether these are the split's stores that are walked along.
bool walks(const Program &program, const std::vector<Store> &stores, const Split &split);

/// Values' lanes of a program: a warp, as what lanes wait for does not grow with their number, and
/// there are few.
constexpr int64_t lanesOfWalk = 32;

/// The kernel `name` of the stores, turn after turn; in each all of them in their order.
StageKernel emitWalk(const Program &program, const std::string &name,
                     const std::vector<Store> &stores, const WalkOrder &walk);

} // namespace nereid::generator
