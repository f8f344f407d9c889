// SPDX-License-Identifier: Apache-2.0
// What the lowering is told about a machine. Between codegen/, which knows machines, and lower/,
// which knows only widths and what memory accesses cost.
#pragma once

#include "lib/targets/cpu/codegen/CpuMachine.h"
#include "lib/targets/cpu/lower/Lower.h"

namespace nereid::cpu {

LoweringOptions loweringOptionsFor(const CpuMachine &machine);

} // namespace nereid::cpu
