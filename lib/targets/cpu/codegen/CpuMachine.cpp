// SPDX-License-Identifier: Apache-2.0
// Machines are a psABI level (x86-64-v2, v3, v4) plus single extensions. A host that lacks one
// feature of a level counts as the level below: code generation then has few cases to get right.
#include "lib/targets/cpu/codegen/CpuMachine.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/TargetParser/Host.h"

#include <algorithm>
#include <cstdlib>
#include <initializer_list>

namespace nereid::cpu {
namespace {

struct Level {
  std::string_view name;
  std::initializer_list<std::string_view> features; // those that the level below does not have
};

const Level levels[] = {
    {"x86-64-v2", {"cx16", "popcnt", "sse3", "ssse3", "sse4.1", "sse4.2"}},
    {"x86-64-v3", {"avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe"}},
    {"x86-64-v4", {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"}},
};
constexpr int levelCount = 3;

struct Extension {
  std::string_view name;
  int level; // lowest index in `levels` that it may be added to
};

const Extension extensions[] = {
    {"avxvnni", 1}, {"avx512bf16", 2}, {"avx512vnni", 2}, {"avx512vbmi", 2}, {"avx512vbmi2", 2},
};

CpuMachine makeMachine(int level, const std::vector<std::string_view> &added) {
  CpuMachine machine;
  machine.name = levels[level].name;
  machine.triple = "x86_64-unknown-linux-gnu";
  for (int i = 0; i <= level; ++i) {
    machine.features.insert(machine.features.end(), levels[i].features.begin(),
                            levels[i].features.end());
  }
  for (const Extension &extension : extensions) {
    if (std::find(added.begin(), added.end(), extension.name) != added.end()) {
      machine.features.emplace_back(extension.name);
      machine.name += "+" + std::string(extension.name);
      machine.hasBf16 |= extension.name == "avx512bf16";
    }
  }
  machine.hasFma = machine.hasF16c = level >= 1;
  machine.hasAvx512 = level >= 2;
  machine.vectorBytes = 16 << level;
  machine.vectorRegisters = level >= 2 ? 32 : 16;
  return machine;
}

int findLevel(std::string_view name) {
  for (int i = 0; i < levelCount; ++i) {
    if (levels[i].name == name) {
      return i;
    }
  }
  return -1;
}

/// The highest level that does not need `feature`; v2 is never given up.
int levelWithout(std::string_view feature) {
  for (int i = 1; i < levelCount; ++i) {
    const auto &own = levels[i].features;
    if (std::find(own.begin(), own.end(), feature) != own.end()) {
      return i - 1;
    }
  }
  return levelCount - 1;
}

std::vector<std::string_view> splitAtCommas(std::string_view text) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    size_t comma = text.find(',');
    parts.push_back(text.substr(0, comma));
    text = comma == std::string_view::npos ? "" : text.substr(comma + 1);
  }
  return parts;
}

Diagnostic unknownName(std::string_view what, std::string_view name, std::string_view where) {
  std::string known;
  for (const Level &level : levels) {
    known += (known.empty() ? "" : ", ") + std::string(level.name);
  }
  std::string knownExtensions;
  for (const Extension &extension : extensions) {
    knownExtensions += (knownExtensions.empty() ? "+" : ", +") + std::string(extension.name);
  }
  return makeError("E0303", "unknown " + std::string(what) + " '" + std::string(name) + "' in " +
                                std::string(where))
      .note("supported architectures: " + known + "; extensions: " + knownExtensions)
      .withHelp("write 'cpu' for this machine, or for example 'cpu:x86-64-v3'");
}

Result<CpuMachine> hostMachine() {
  llvm::StringMap<bool> host = llvm::sys::getHostCPUFeatures();
  auto has = [&](std::string_view feature) {
    return host.lookup(llvm::StringRef(feature.data(), feature.size()));
  };
  int level = -1;
  while (level + 1 < levelCount &&
         std::all_of(levels[level + 1].features.begin(), levels[level + 1].features.end(), has)) {
    ++level;
  }
  if (level < 0) {
    return makeError("E0303", "this machine is not supported: expects at least x86-64-v2 (SSE4.2)")
        .withHelp("run on a 64-bit x86 processor from 2009 or later");
  }
  std::vector<std::string_view> removed;
  if (const char *limit = std::getenv("NEREID_CPU_FEATURES")) {
    for (std::string_view part : splitAtCommas(limit)) {
      int cap = findLevel(part);
      if (cap >= 0) {
        level = std::min(level, cap);
      } else if (part.size() > 1 && part[0] == '-') {
        removed.push_back(part.substr(1));
        level = std::min(level, levelWithout(part.substr(1)));
      } else {
        return unknownName("restriction", part, "NEREID_CPU_FEATURES");
      }
    }
  }
  std::vector<std::string_view> added;
  for (const Extension &extension : extensions) {
    bool isRemoved = std::find(removed.begin(), removed.end(), extension.name) != removed.end();
    if (extension.level <= level && has(extension.name) && !isRemoved) {
      added.push_back(extension.name);
    }
  }
  CpuMachine machine = makeMachine(level, added);
  machine.tuneFor = llvm::sys::getHostCPUName().str();
  return machine;
}

} // namespace

std::string CpuMachine::featureText() const {
  std::string text;
  for (const std::string &feature : features) {
    text += (text.empty() ? "+" : ",+") + feature;
  }
  return text;
}

Result<CpuMachine> parseMachine(std::string_view architecture) {
  if (architecture.empty()) {
    return hostMachine();
  }
  std::string where = "target 'cpu:" + std::string(architecture) + "'";
  std::vector<std::string_view> parts = splitAtCommas(architecture);
  int level = parts.empty() ? -1 : findLevel(parts[0]);
  if (level < 0) {
    return unknownName("architecture", parts.empty() ? "" : parts[0], where);
  }
  std::vector<std::string_view> added;
  for (size_t i = 1; i < parts.size(); ++i) {
    std::string_view name = parts[i];
    if (!name.empty() && name[0] == '+') {
      name.remove_prefix(1);
    }
    const Extension *found = std::find_if(std::begin(extensions), std::end(extensions),
                                          [&](const Extension &e) { return e.name == name; });
    if (found == std::end(extensions)) {
      return unknownName("extension", name, where);
    }
    if (found->level > level) {
      return makeError("E0303", "extension '" + std::string(name) + "' expects at least " +
                                    std::string(levels[found->level].name) + ", but got " +
                                    std::string(levels[level].name))
          .withHelp("write 'cpu:" + std::string(levels[found->level].name) + ",+" +
                    std::string(name) + "'");
    }
    added.push_back(found->name);
  }
  return makeMachine(level, added);
}

} // namespace nereid::cpu
