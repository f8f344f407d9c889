// SPDX-License-Identifier: Apache-2.0
// Makes the CPU target known to the pipeline. Knows no MLIR, so that programs can include it.
#pragma once

#include "lib/support/Diagnostics.h"

#include <string>
#include <string_view>
#include <vector>

namespace nereid::cpu {

/// Registers the vendor name "cpu"; may be called more than once.
void registerCpuTarget();

/// The target ("cpu:aarch64+lse") for a machine of which runtime/cpu/CpuFeatures.h, there, gave
/// architecture and features. E0303 when it is too old.
Result<std::string> targetOffering(std::string_view architecture,
                                   const std::vector<std::string> &features);

} // namespace nereid::cpu
