// SPDX-License-Identifier: Apache-2.0
// Elements of integer and bool tensors as 64-bit numbers, exact where a double is not. Signed types
// are extended with their sign; what a type cannot hold wraps.
#pragma once

#include "runtime/tensor/Tensor.h"

namespace nereid::runtime {

uint64_t loadInteger(const void *element, DType type);
void storeInteger(void *element, DType type, uint64_t value);
/// Row-major element number i, whatever the strides.
void storeInteger(const Tensor &tensor, int64_t i, uint64_t value);
uint64_t loadInteger(const Tensor &tensor, int64_t i);

} // namespace nereid::runtime
