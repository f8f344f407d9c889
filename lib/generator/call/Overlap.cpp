// SPDX-License-Identifier: Apache-2.0
#include "lib/generator/call/Overlap.h"

#include "runtime/tensor/Overlap.h"

#include <fmt/format.h>

#include <algorithm>

namespace nereid::generator {
namespace {

using runtime::Tensor;

bool isSame(const Tensor &a, const Tensor &b) {
  return a.data() == b.data() && a.dtype() == b.dtype() && a.shape() == b.shape() &&
         a.strides() == b.strides();
}

} // namespace

std::optional<size_t> inputOf(const definition::Operator &op, size_t output) {
  const int parameter = definition::memoryOf(op, output);
  if (parameter < 0) {
    return std::nullopt;
  }
  return static_cast<size_t>(
      std::count_if(op.parameters.begin(), op.parameters.begin() + parameter,
                    [](const definition::Parameter &each) { return !each.isScalar; }));
}

Result<std::vector<int>> inputsWritten(const CalledOperator &called, std::span<const Tensor> inputs,
                                       std::span<const Tensor> outputs) {
  std::vector<int> written;
  for (size_t o = 0; o < outputs.size(); ++o) {
    const Operand &output = called.operands[inputs.size() + o];
    const auto refuse = [&](const std::string &got) {
      return misfit(called, output, "memory in which nothing else of the call lies", got);
    };
    if (runtime::overlapsItself(outputs[o])) {
      return refuse("a tensor whose elements lie over each other");
    }
    for (size_t i = 0; i < inputs.size() + o; ++i) {
      const Tensor &other = i < inputs.size() ? inputs[i] : outputs[i - inputs.size()];
      const std::string &name = called.operands[i].name;
      const bool isOwn = !output.memory.empty() && output.memory == name;
      const bool mayBeSame = i < inputs.size() && isSame(other, outputs[o]);
      if (isOwn && !mayBeSame) {
        return misfit(called, output, fmt::format("the memory of '{}'", name), "other memory");
      }
      if (!mayBeSame && runtime::overlap(other, outputs[o])) {
        return refuse(fmt::format("a tensor over part of '{}'", name));
      }
      if (mayBeSame && !isOwn && outputs[o].elementCount() > 0) {
        written.push_back(static_cast<int>(i));
      }
    }
  }
  return written;
}

} // namespace nereid::generator
