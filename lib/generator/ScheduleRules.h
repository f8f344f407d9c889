// SPDX-License-Identifier: Apache-2.0
// The rules behind the first choice and the space of schedules; shared by the two and by
// neighbours().
#pragma once

#include "lib/generator/Schedule.h"

namespace nereid::generator {

/// Smallest power of two >= value, at least 1.
int64_t powerOfTwoAtLeast(int64_t value);
/// Columns of a block for this many columns: a power of two, at least one vector register of
/// 16 lanes.
int64_t columnBlock(int64_t columns, int64_t limit);
/// Variants the operator has kernels for.
std::vector<KernelVariant> variantsOf(const FusedOperator &fused);
/// The widest row that is computed as one tile on this chip.
int64_t widestRowTile(const Machine &chip);
/// The option of a launch that schedules of devices have.
inline constexpr const char *warpsName = "num_warps";
/// What the rule picks for a variant.
Schedule ruleFor(KernelVariant variant, const CaseSizes &sizes, const Machine &chip);
KernelVariant variantByRule(const FusedOperator &fused, const CaseSizes &sizes,
                            const Machine &chip);

} // namespace nereid::generator
