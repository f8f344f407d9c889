// SPDX-License-Identifier: Apache-2.0
// What can be said of a generated kernel where there is no device to run it: that it compiles for
// every case of the grid, as far as contiguous tensors go.
#pragma once

#include "lib/develop/accuracy/Verification.h"

namespace nereid::develop {

struct CompiledCases {
  size_t cases = 0;   ///< that would be launched
  size_t kernels = 0; ///< that they need, each compiled once
};

/// Compiles what each case of AccuracyOptions::dtypes needs, up to the target's last phase. The
/// first kernel's error that does not compile.
Result<CompiledCases> compileCases(generator::Generation &generation, const KernelSource &source,
                                   const Machine &chip, const AccuracyOptions &options);

} // namespace nereid::develop
