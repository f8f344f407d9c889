// SPDX-License-Identifier: Apache-2.0
// What the lanes behind the last column hold while a row is reduced. Inputs are loaded with a value
// that a reduction ignores where that carries through, so that most kernels need no second mask.
#pragma once

#include "lib/generator/Fusion.h"

#include <vector>

namespace nereid::generator {

enum class Lane { Zero, NegativeInfinity, PositiveInfinity, Anything };

/// Per node the value of its masked lanes when `other` of the loads is chosen as loadLane says.
std::vector<Lane> analyseLanes(const FusedOperator &fused);
/// `other` for the load of a node: what its first reduction ignores.
Lane loadLane(const FusedOperator &fused, int node);
/// What a reduction ignores.
Lane identityOf(const std::string &reduction);

/// True when a NaN in a row makes every output of the row NaN anyway (softmax), so that amax, which
/// in the kernel language passes over NaN, needs no check of its own.
bool hasNanCovered(const FusedOperator &fused, int amax);

/// sum(exp(x - amax(x))): at least 1 and at most the number of columns, or NaN.
bool isSumOfShiftedPowers(const FusedOperator &fused, int node);

} // namespace nereid::generator
