// SPDX-License-Identifier: Apache-2.0
// Which definitions operators/ has, for tests that hold for all of them.
#pragma once

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

namespace nereid {

/// "bias_gelu", "bias_relu", …
inline std::vector<std::string> shippedOperators() {
  std::vector<std::string> names;
  for (const auto &entry : std::filesystem::directory_iterator(NEREID_SOURCE_DIR "/operators")) {
    if (entry.path().extension() == ".toml") {
      names.push_back(entry.path().stem().string());
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

} // namespace nereid
