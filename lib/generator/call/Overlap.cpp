// SPDX-License-Identifier: Apache-2.0
#include "lib/generator/call/Overlap.h"

#include <fmt/format.h>

#include <algorithm>

namespace nereid::generator {
namespace {

using runtime::Tensor;

/// The bytes from the first to behind the last element.
std::pair<uintptr_t, uintptr_t> extentOf(const Tensor &tensor) {
  auto low = reinterpret_cast<uintptr_t>(tensor.data()), high = low;
  for (size_t d = 0; d < tensor.shape().size(); ++d) {
    const int64_t way = (tensor.shape()[d] - 1) * tensor.strides()[d] *
                        static_cast<int64_t>(sizeInBytes(tensor.dtype()));
    (way < 0 ? low : high) += static_cast<uintptr_t>(way);
  }
  return {low, high + sizeInBytes(tensor.dtype())};
}

bool isSame(const Tensor &a, const Tensor &b) {
  return a.data() == b.data() && a.dtype() == b.dtype() && a.shape() == b.shape() &&
         a.strides() == b.strides();
}

} // namespace

bool overlap(const Tensor &a, const Tensor &b) {
  if (a.elementCount() == 0 || b.elementCount() == 0 || &a.device() != &b.device()) {
    return false;
  }
  const auto [aLow, aHigh] = extentOf(a);
  const auto [bLow, bHigh] = extentOf(b);
  return aLow < bHigh && bLow < aHigh;
}

static Diagnostic overlapping(const CalledOperator &called, const Operand &output,
                              const std::string &other) {
  return misfit(called, output, "memory of its own", fmt::format("what overlaps '{}'", other));
}

Result<std::vector<int>> inputsToCopy(const CalledOperator &called, std::span<const Tensor> inputs,
                                      std::span<const Tensor> outputs) {
  std::vector<int> copies;
  for (size_t o = 0; o < outputs.size(); ++o) {
    const Operand &operand = called.operands[inputs.size() + o];
    for (size_t i = 0; i < inputs.size(); ++i) {
      const auto number = static_cast<int>(i);
      if (called.operands[i].name == operand.memory) {
        if (!isSame(inputs[i], outputs[o])) {
          return misfit(called, operand, fmt::format("the memory of '{}'", operand.memory),
                        "other memory");
        }
      } else if (overlap(outputs[o], inputs[i]) &&
                 std::find(copies.begin(), copies.end(), number) == copies.end()) {
        copies.push_back(number);
      }
    }
    for (size_t other = 0; other < o; ++other) {
      if (overlap(outputs[o], outputs[other])) {
        return overlapping(called, operand, called.operands[inputs.size() + other].name);
      }
    }
  }
  return copies;
}

Status checkApart(const CalledOperator &called, std::span<const Tensor> inputs,
                  std::span<const Tensor> outputs) {
  for (size_t o = 0; o < outputs.size(); ++o) {
    const Operand &operand = called.operands[inputs.size() + o];
    for (size_t i = 0; i < inputs.size() + o; ++i) {
      const Tensor &other = i < inputs.size() ? inputs[i] : outputs[i - inputs.size()];
      const bool mayShare = i < inputs.size() && isSame(other, outputs[o]);
      if (!mayShare && overlap(other, outputs[o])) {
        return overlapping(called, operand, called.operands[i].name);
      }
    }
  }
  return Done{};
}

} // namespace nereid::generator
