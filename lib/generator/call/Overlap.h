// SPDX-License-Identifier: Apache-2.0
// Tensors of one call that share memory: what a call writes may lie in the memory of an input only
// where the definition says so, or where its own inputs are copied first.
#pragma once

#include "lib/generator/call/CallChecks.h"

namespace nereid::generator {

/// Whether some byte may belong to both; gaps between elements count.
bool overlap(const runtime::Tensor &a, const runtime::Tensor &b);

/// Of kernels made of programs: inputs, by number, that are copied first because an output lies
/// over them. E0612 for outputs that overlap each other, or that are not in the memory of the
/// input which they belong to.
Result<std::vector<int>> inputsToCopy(const CalledOperator &called,
                                      std::span<const runtime::Tensor> inputs,
                                      std::span<const runtime::Tensor> outputs);
/// Of fused kernels, whose programs read elements of a whole tensor where they write: an output may
/// be such an input, and overlaps nothing otherwise. E0612.
Status checkApart(const CalledOperator &called, std::span<const runtime::Tensor> inputs,
                  std::span<const runtime::Tensor> outputs);

} // namespace nereid::generator
