// SPDX-License-Identifier: Apache-2.0
// Which definitions operators/ has, for tests that hold for all of them.
#pragma once

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace nereid {

/// Files of operators/ and of the folders below, by name.
inline const std::map<std::string, std::string> &shippedDefinitions() {
  static const std::map<std::string, std::string> paths = [] {
    std::map<std::string, std::string> found;
    for (const auto &entry :
         std::filesystem::recursive_directory_iterator(NEREID_SOURCE_DIR "/operators")) {
      if (entry.path().extension() == ".toml") {
        found.emplace(entry.path().stem().string(), entry.path().string());
      }
    }
    return found;
  }();
  return paths;
}

/// ".../operators/activation/gelu.toml" of "gelu"; a path that does not exist of any other.
inline std::string shippedPath(const std::string &name) {
  auto found = shippedDefinitions().find(name);
  return found == shippedDefinitions().end() ? "operators/" + name + ".toml" : found->second;
}

/// "abs", "acos", …: for what takes no time.
inline std::vector<std::string> shippedOperators() {
  std::vector<std::string> names;
  for (const auto &[name, path] : shippedDefinitions()) {
    names.push_back(name);
  }
  return names;
}

/// One for each kind of graph, for tests that compile and compute: `nereid verify` judges them all.
inline std::vector<std::string> sampledOperators() {
  return {"bias_gelu",   "bias_relu", "broadcast_add", "sqrt_integers",
          "group_norm",  "isfinite",  "layer_norm",    "log_softmax",
          "mask_add",    "maximum",   "mse_loss",      "rotary_halves",
          "scale_shift", "softmax",   "sum_integers",  "var_mean"};
}

/// Of those whose kernels are made of programs.
inline std::vector<std::string> sampledProgramOperators() {
  return {"attention", "conv2d_same", "linear_gelu", "softmax_leading"};
}

} // namespace nereid
