// SPDX-License-Identifier: Apache-2.0
// DLPack's tensor description read as a Tensor without taking it over; the exchange of managed
// tensors is in Tensor.h.
#pragma once

#include "runtime/tensor/Tensor.h"

#include <dlpack/dlpack.h>

namespace nereid::runtime {

/// Borrows the memory a DLTensor describes; error text for an unknown device or element type.
std::variant<Tensor, std::string> borrowDlpack(const DLTensor &tensor);

} // namespace nereid::runtime
