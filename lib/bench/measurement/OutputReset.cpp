// SPDX-License-Identifier: Apache-2.0
#include "lib/bench/measurement/OutputReset.h"

#include <cstring>

namespace nereid::bench {

using launch::KernelArguments;
using launch::KernelCase;

using runtime::Tensor;

std::vector<Tensor> outputsOf(const KernelCase &one, const KernelArguments &arguments) {
  std::vector<Tensor> list;
  for (const std::string &name : outputNames(one)) {
    if (auto found = arguments.tensors.find(name); found != arguments.tensors.end()) {
      list.push_back(found->second);
    }
  }
  return list;
}

std::vector<Tensor> inputsOf(const KernelCase &one, const KernelArguments &arguments) {
  std::vector<Tensor> list;
  const std::set<std::string> changed = changedNames(one);
  for (const auto &[name, tensor] : arguments.tensors) {
    if (!changed.contains(name) && (one.computed.contains(name) || !startsEmpty(one, name))) {
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
