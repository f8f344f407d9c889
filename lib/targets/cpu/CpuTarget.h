// SPDX-License-Identifier: Apache-2.0
// Makes the CPU target known to the pipeline. Knows no MLIR, so that programs can include it.
#pragma once

namespace nereid::cpu {

/// Registers the vendor name "cpu"; may be called more than once.
void registerCpuTarget();

} // namespace nereid::cpu
