// SPDX-License-Identifier: Apache-2.0
// How functions that work on elements reach those of a tensor that lies on a device: by a tensor on
// the host, of which it takes over the elements. Private to the runtime.
#pragma once

#include "runtime/Device.h"
#include "runtime/tensor/Tensor.h"

#include <cstdint>

namespace nereid::runtime {

/// Calls write(tensor), which writes every element, with a tensor in host memory: this one, or an
/// uninitialised one of the same form whose elements it takes over afterwards.
template <class Write> LaunchError writeOnHost(const Tensor &tensor, const Write &write) {
  if (tensor.isOnHost()) {
    write(tensor);
    return {};
  }
  std::variant<Tensor, LaunchError> copied = tensor.likeThisOn(cpuDevice());
  if (LaunchError *error = std::get_if<LaunchError>(&copied)) {
    return std::move(*error);
  }
  write(std::get<Tensor>(copied));
  return tensor.copyFrom(std::get<Tensor>(copied));
}

/// One element, of 8 bytes at most, wherever the tensor lies.
LaunchError readElement(const Tensor &tensor, int64_t i, void *element);
LaunchError writeElement(const Tensor &tensor, int64_t i, const void *element);

} // namespace nereid::runtime
