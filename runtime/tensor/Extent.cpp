// SPDX-License-Identifier: Apache-2.0
#include "runtime/tensor/Extent.h"

#include <limits>

namespace nereid::runtime {
namespace {

std::string listText(const std::vector<int64_t> &numbers) {
  std::string text = "(";
  for (int64_t number : numbers) {
    text += (text.size() > 1 ? ", " : "") + std::to_string(number);
  }
  return text + ")";
}

} // namespace

std::optional<Extent> extentOf(const Tensor &tensor) {
  if (!tensor.data() || tensor.elementCount() == 0) {
    return Extent{};
  }
  const auto base = static_cast<int64_t>(reinterpret_cast<uintptr_t>(tensor.data()));
  const auto bytes = static_cast<int64_t>(sizeInBytes(tensor.dtype()));
  int64_t first = base, last = base;
  bool tooLarge = base < 0;
  for (size_t i = 0; i < tensor.shape().size(); ++i) {
    int64_t reach = 0;
    tooLarge |= __builtin_mul_overflow(tensor.shape()[i] - 1, tensor.strides()[i], &reach);
    tooLarge |= __builtin_mul_overflow(reach, bytes, &reach);
    int64_t &end = reach < 0 ? first : last;
    tooLarge |= __builtin_add_overflow(end, reach, &end);
  }
  tooLarge |= __builtin_add_overflow(last, bytes, &last);
  if (tooLarge || first < 0) {
    return std::nullopt;
  }
  return Extent{static_cast<uint64_t>(first), static_cast<uint64_t>(last)};
}

std::string impossibilityOf(const Tensor &tensor) {
  if (tensor.elementCount() == 0) {
    return {};
  }
  const auto bytes = static_cast<int64_t>(sizeInBytes(tensor.dtype()));
  if (tensor.elementCount() > std::numeric_limits<int64_t>::max() / bytes) {
    return "expects elements that can be counted, but got the sizes " + listText(tensor.shape());
  }
  if (!extentOf(tensor)) {
    return "expects memory within the address space, but the sizes " + listText(tensor.shape()) +
           " with the strides " + listText(tensor.strides()) + " reach beyond it";
  }
  const auto rest = reinterpret_cast<uintptr_t>(tensor.data()) % static_cast<uint64_t>(bytes);
  if (rest != 0) {
    return "expects an address divisible by the " + std::to_string(bytes) +
           " bytes of an element, but it leaves " + std::to_string(rest);
  }
  return {};
}

} // namespace nereid::runtime
