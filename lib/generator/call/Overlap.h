// SPDX-License-Identifier: Apache-2.0
// Tensors of one call that share memory. As in PyTorch, what a call writes may be the very tensor
// that it reads, and may lie over nothing else that it reads or writes.
#pragma once

#include "lib/generator/call/CallChecks.h"

#include <optional>

namespace nereid::generator {

/// Which of the tensors that a call takes has the memory of an output; nothing where the output has
/// its own.
std::optional<size_t> inputOf(const definition::Operator &op, size_t output);

/// The inputs, by number, that an output is: kernels that read them at other places than they write
/// take copies. E0612 for outputs that lie over themselves, over each other or over part of an
/// input, and for one that is not in the memory of the input which it belongs to.
Result<std::vector<int>> inputsWritten(const CalledOperator &called,
                                       std::span<const runtime::Tensor> inputs,
                                       std::span<const runtime::Tensor> outputs);

} // namespace nereid::generator
