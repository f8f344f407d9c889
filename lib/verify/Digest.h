// SPDX-License-Identifier: Apache-2.0
// Tells quickly whether memory is as it was: of inputs that no launch may change, and of outputs
// that agreed with a reference once and need not be compared again.
#pragma once

#include "runtime/tensor/Tensor.h"

#include <cstdint>
#include <span>

namespace nereid::verify {

/// A number that changes when any byte of the contiguous tensors does, but for one chance in 2^64.
uint64_t digestOf(std::span<const runtime::Tensor> tensors);

} // namespace nereid::verify
