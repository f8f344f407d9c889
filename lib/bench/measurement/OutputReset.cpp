// SPDX-License-Identifier: Apache-2.0
#include "lib/bench/measurement/OutputReset.h"

#include <cstring>

namespace nereid::bench {

using launch::KernelArguments;
using launch::KernelCase;

using runtime::Tensor;

std::vector<Tensor> tensorsOf(const KernelCase &one, const KernelArguments &arguments,
                              bool isOutput) {
  std::vector<Tensor> list;
  const std::set<std::string> outputs = outputNames(one);
  for (const auto &[name, tensor] : arguments.tensors) {
    if (outputs.contains(name) == isOutput) {
      list.push_back(tensor);
    }
  }
  return list;
}

OutputReset::OutputReset(const KernelCase &one, const KernelArguments &arguments) {
  const std::set<std::string> outputs = outputNames(one);
  for (const auto &[name, tensor] : arguments.tensors) {
    if (outputs.contains(name)) {
      first.push_back({tensor, startsEmpty(one, name) ? Tensor() : tensor.to(tensor.dtype())});
    }
  }
}

void OutputReset::operator()() const {
  for (const auto &[tensor, content] : first) {
    if (content.isValid()) {
      std::memcpy(tensor.data(), content.data(), tensor.byteCount());
    } else {
      tensor.poison();
    }
  }
}

} // namespace nereid::bench
