// SPDX-License-Identifier: Apache-2.0
// A kernel in CUDA C++ as PTX of one architecture, found by its name and held against the arguments
// that it would be given. docs/cuda.md is for users.
#pragma once

#include "lib/pipeline/kernel/ForeignKernel.h"

#include <string>

namespace nereid::nvidia {

/// architecture: "sm_90a". E0028 without a compiler, E0314 with what it says of the source, E0315
/// when there is no kernel of that name or more than one fits, E0316 when none takes the arguments.
Result<pipeline::ForeignCode> compileCuda(const pipeline::ForeignSource &source,
                                          const std::string &architecture);

} // namespace nereid::nvidia
