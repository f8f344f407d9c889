// SPDX-License-Identifier: Apache-2.0
#include "lib/importer/shapes/Sizes.h"

#include "lib/importer/onnx/TensorElements.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace nereid::importer {

Dim productOf(const Shape &shape, size_t first, size_t last) {
  std::vector<int64_t> sizes;
  for (size_t i = first; i < last; ++i) {
    if (!shape[i].isSize()) {
      return last - first == 1 ? shape[i] : Dim{};
    }
    sizes.push_back(shape[i].size);
  }
  const auto count = elementCount(sizes);
  return count ? Dim{*count, ""} : Dim{};
}

std::string listed(const Shape &sizes) {
  std::vector<std::string> texts;
  for (const Dim &one : sizes) {
    texts.push_back(one.symbol.empty() ? std::to_string(one.size) : one.symbol);
  }
  return fmt::format("[{}]", fmt::join(texts, ", "));
}

Shape sized(const std::vector<int64_t> &sizes) {
  Shape shape;
  for (int64_t size : sizes) {
    shape.push_back({size, ""});
  }
  return shape;
}

} // namespace nereid::importer
