// SPDX-License-Identifier: Apache-2.0
// `nereid bench kernels/OP --ladder`: the rungs of a folder's ladders beside each other. They share
// their turns and so this process, on a device too: one that faults ends the run.
#pragma once

#include "lib/cli/develop/KernelBench.h"

namespace nereid::cli {

/// An option that means nothing for a ladder, see OptionUse.h.
std::optional<Diagnostic> unusedLadderOption(const CLI::App &command);
/// Exit 1 where a rung is wrong.
void runKernelLadder(const KernelBenchOptions &options, Session &session);

} // namespace nereid::cli
