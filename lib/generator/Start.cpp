// SPDX-License-Identifier: Apache-2.0
#include "lib/generator/Start.h"

namespace nereid::generator {
const std::vector<std::string> &startNames() {
  static const std::vector<std::string> names = {"rule", "naive"};
  return names;
}

std::string_view startName(Start start) { return startNames()[static_cast<size_t>(start)]; }

std::optional<Start> parseStart(std::string_view name) {
  for (Start start : {Start::Rule, Start::Naive}) {
    if (startName(start) == name) {
      return start;
    }
  }
  return std::nullopt;
}

} // namespace nereid::generator
