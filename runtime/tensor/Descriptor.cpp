// SPDX-License-Identifier: Apache-2.0
#include "runtime/tensor/Descriptor.h"

namespace nereid::runtime {

LaunchError describeTensor(const std::string &who, int64_t rank, const Tensor &tensor,
                           int64_t *parts) {
  const auto dimensions = static_cast<int64_t>(tensor.shape().size());
  if (dimensions != rank) {
    return {"E0409", who + " expects a tensor of " + std::to_string(rank) +
                         (rank == 1 ? " dimension" : " dimensions") +
                         " for its descriptor, but got " + std::to_string(dimensions)};
  }
  if (tensor.shape().back() > 1 && tensor.strides().back() != 1) {
    return {"E0411", who + " expects a last stride of 1 for its descriptor, but got " +
                         std::to_string(tensor.strides().back())};
  }
  for (size_t i = 0; i < tensor.shape().size(); ++i) {
    parts[i] = tensor.shape()[i];
    if (i + 1 < tensor.shape().size()) {
      parts[tensor.shape().size() + i] = tensor.strides()[i];
    }
  }
  return {};
}

} // namespace nereid::runtime
