// SPDX-License-Identifier: Apache-2.0
#include "lib/verify/Canaries.h"

#include "runtime/tensor/Extent.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace nereid::verify {

using runtime::Extent;
using runtime::Tensor;

namespace {

/// A page on each side, so that the tensor begins where it would in a page without it.
constexpr int64_t margin = 4096;

/// No two neighbours are alike, and few numbers that a kernel would store look like it.
uint8_t patternAt(int64_t index) {
  return static_cast<uint8_t>((static_cast<uint64_t>(index) * 0x9E3779B97F4A7C15U) >> 56);
}

/// Of tensors that are there, so that their bytes have addresses.
Extent bytesOf(const Tensor &tensor) { return runtime::extentOf(tensor).value_or(Extent{}); }

} // namespace

Status Canaries::surround(std::vector<Named> tensors) {
  std::erase_if(tensors, [](const Named &one) {
    return one.tensor->elementCount() == 0 || one.tensor->data() == nullptr;
  });
  std::sort(tensors.begin(), tensors.end(), [](const Named &one, const Named &other) {
    return bytesOf(*one.tensor).begin < bytesOf(*other.tensor).begin;
  });
  for (size_t from = 0; from < tensors.size();) {
    Extent extent = bytesOf(*tensors[from].tensor);
    Block block;
    size_t to = from;
    for (; to < tensors.size() && bytesOf(*tensors[to].tensor).begin < extent.end; ++to) {
      extent.end = std::max(extent.end, bytesOf(*tensors[to].tensor).end);
      block.names += fmt::format("{}'{}'", block.names.empty() ? "" : " and ", tensors[to].name);
    }
    block.bytes = static_cast<int64_t>(extent.end - extent.begin);
    block.storage = Tensor::empty({block.bytes + 2 * margin}, DType::U8);
    if (!block.storage.isValid()) {
      return makeError("E0506", fmt::format("no memory for {} bytes of {} and a pattern around",
                                            block.bytes, block.names))
          .withHelp("use smaller shapes, or a machine with more memory");
    }
    auto *memory = block.storage.as<uint8_t>();
    for (int64_t i = 0; i < margin; ++i) {
      memory[i] = patternAt(i);
      memory[margin + block.bytes + i] = patternAt(margin + i);
    }
    std::memcpy(memory + margin, reinterpret_cast<const void *>(extent.begin),
                static_cast<size_t>(block.bytes));
    for (; from < to; ++from) {
      Tensor &tensor = *tensors[from].tensor;
      const uint64_t offset = reinterpret_cast<uintptr_t>(tensor.data()) - extent.begin;
      tensor = Tensor::borrow(memory + margin + offset, tensor.shape(), tensor.dtype(),
                              tensor.strides());
    }
    blocks.push_back(std::move(block));
  }
  return Done{};
}

std::string Canaries::violation() const {
  for (const Block &block : blocks) {
    const auto *memory = block.storage.as<uint8_t>();
    // Behind first: an index that is one too large is the more frequent mistake.
    for (int64_t i = 0; i < margin; ++i) {
      if (memory[margin + block.bytes + i] != patternAt(margin + i)) {
        return fmt::format("writes outside {}, {} bytes behind the end", block.names, i);
      }
    }
    for (int64_t i = margin; i-- > 0;) {
      if (memory[i] != patternAt(i)) {
        return fmt::format("writes outside {}, {} bytes in front", block.names, margin - i);
      }
    }
  }
  return "";
}

} // namespace nereid::verify
