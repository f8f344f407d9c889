// SPDX-License-Identifier: Apache-2.0
// What runtime/core/ finds, asked once and sorted; on RISC-V also what only trying finds.
#include "runtime/cpu/CpuFeatures.h"

#include "runtime/core/features/CpuFeatures.h"

#include <algorithm>

namespace nereid::runtime {

#if defined(__riscv) && __riscv_xlen == 64
namespace {

/// An old kernel, and QEMU 7, say nothing of V. One that names extensions and leaves out V is
/// believed.
void addTriedVectors(std::vector<std::string> &found) {
  if (kernelNamesExtensions() || std::find(found.begin(), found.end(), "v") != found.end()) {
    return;
  }
  const unsigned long bits = vectorBits();
  if (bits != 0) {
    found.emplace_back("v");
  }
  for (unsigned long length = 128; length <= bits; length *= 2) {
    found.push_back("zvl" + std::to_string(length) + "b");
  }
}

} // namespace
#else
static void addTriedVectors(std::vector<std::string> &) {}
#endif

std::vector<std::string> detectCpuFeatures() {
  std::vector<std::string> found;
  visitCpuFeatures(
      [](void *list, const char *name) {
        static_cast<std::vector<std::string> *>(list)->emplace_back(name);
      },
      &found);
  addTriedVectors(found);
  return found;
}

static const std::vector<std::string> &presentNames() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> found = detectCpuFeatures();
    std::sort(found.begin(), found.end());
    return found;
  }();
  return names;
}

bool hasCpuFeature(std::string_view name) {
  return std::binary_search(presentNames().begin(), presentNames().end(), name);
}

std::vector<std::string> missingCpuFeatures(std::string_view features) {
  std::vector<std::string> missing;
  while (!features.empty()) {
    const size_t comma = features.find(',');
    const std::string_view entry = features.substr(0, comma);
    features = comma == std::string_view::npos ? "" : features.substr(comma + 1);
    if (entry.size() > 1 && entry[0] == '+' && !hasCpuFeature(entry.substr(1))) {
      missing.emplace_back(entry.substr(1));
    }
  }
  return missing;
}

std::vector<std::string> presentCpuFeatures() { return presentNames(); }

std::string_view cpuArchitecture() {
#if defined(__x86_64__)
  return "x86-64";
#elif defined(__aarch64__)
  return "aarch64";
#elif defined(__riscv) && __riscv_xlen == 64
  return "riscv64";
#else
  return "unknown";
#endif
}

} // namespace nereid::runtime
