// SPDX-License-Identifier: Apache-2.0
// Machines are a level of an architecture (x86-64-v2, v3, v4; aarch64; rv64gcv) plus single
// extensions. A host that lacks one feature of a level counts as the level below: code generation
// then has few cases to get right.
#include "lib/targets/cpu/codegen/CpuMachine.h"

#include "lib/targets/cpu/codegen/MachineTables.h"
#include "runtime/cpu/CpuFeatures.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/TargetParser/Host.h"

#include <algorithm>
#include <cstdlib>
#include <optional>

namespace nereid::cpu {
namespace {

constexpr Architecture architectures[] = {Architecture::X86, Architecture::Aarch64,
                                          Architecture::Riscv64};

/// As runtime/cpu/CpuFeatures.h and descriptors of chips name it.
std::string_view nameOf(Architecture architecture) {
  switch (architecture) {
  case Architecture::X86:
    return "x86-64";
  case Architecture::Aarch64:
    return "aarch64";
  case Architecture::Riscv64:
    return "riscv64";
  }
  return {};
}

/// Bytes of a vector, and registers for them, that every processor has.
constexpr int leastOfVectors = 16;

/// Vectors no longer and registers no more than the chip's.
void limitVectors(CpuMachine &machine, const Machine &chip) {
  // RISC-V's vectors are groups of registers, see describeVectors.
  const int group = machine.instructionSet == Architecture::Riscv64 ? 2 : 1;
  machine.vectorRegisters =
      std::min(machine.vectorRegisters, std::max(chip.vectorRegisters / group, leastOfVectors));
  if (chip.vectorBytes * group >= machine.vectorBytes) {
    return;
  }
  machine.vectorBytes = chip.vectorBytes * group;
  // These are instructions for the architecture's whole vectors.
  machine.hasAvx512 = machine.hasBf16Dots = machine.hasInt8Dots = false;
  machine.laneShuffles = machine.laneShuffles != LaneShuffles::None && machine.vectorBytes == 32
                             ? LaneShuffles::Avx2
                             : LaneShuffles::None;
  if (machine.instructionSet == Architecture::Aarch64) { // NEON's, see describeVectors
    machine.hasMaskedMoves = machine.hasGather = machine.hasScatter = false;
    machine.roundsWideIntegersOnce = false;
  }
}

/// What no processor of the architecture is like.
Status checkChip(const Machine &chip, Architecture architecture) {
  auto refused = [&](const std::string &expected, const char *key, const std::string &got) {
    return makeError("E0701", "chip descriptor '" + chip.name + "' expects " + expected + " for '" +
                                  key + "', but got " + got);
  };
  if (chip.architecture != nameOf(architecture)) {
    return refused("'" + std::string(nameOf(architecture)) + "', which the target is of,",
                   "architecture", "'" + chip.architecture + "'")
        .withHelp("name a target of the chip's architecture with --target");
  }
  for (const auto &[key, value] : {std::pair("vector_bytes", chip.vectorBytes),
                                   std::pair("vector_registers", chip.vectorRegisters)}) {
    if (value < leastOfVectors) {
      return refused("at least " + std::to_string(leastOfVectors), key, std::to_string(value))
          .withHelp("every " + chip.architecture + " processor that there is code for has them");
    }
  }
  return Done{};
}

/// `chip` as for parseMachine, or null.
CpuMachine makeMachine(Architecture architecture, int level,
                       const std::vector<std::string_view> &added, const Machine *chip = nullptr) {
  std::span<const Level> levels = levelsOf(architecture);
  CpuMachine machine;
  static_cast<Machine &>(machine) = chip != nullptr ? *chip : genericMachine();
  if (machine.caches.empty()) {
    machine.caches = genericMachine().caches;
  }
  machine.architecture = nameOf(architecture);
  machine.instructionSet = architecture;
  machine.targetName = levels[static_cast<size_t>(level)].name;
  for (const Level &one : levels.first(static_cast<size_t>(level) + 1)) {
    machine.targetFeatures.insert(machine.targetFeatures.end(), one.features.begin(),
                                  one.features.end());
  }
  for (const Extension &extension : allExtensions()) {
    if (extension.architecture != architecture ||
        std::find(added.begin(), added.end(), extension.name) == added.end()) {
      continue;
    }
    machine.targetName += "+" + std::string(extension.name);
    if (!extension.feature.empty() &&
        std::find(machine.targetFeatures.begin(), machine.targetFeatures.end(),
                  extension.feature) == machine.targetFeatures.end()) {
      machine.targetFeatures.emplace_back(extension.feature);
    }
    machine.minimumVectorBits = std::max(machine.minimumVectorBits, extension.vectorBits);
    machine.hasVectorTruncation &= extension.name != "qemu7";
    machine.hasBf16 |= extension.feature == "avx512bf16";
    machine.hasVnni |= extension.feature == "avx512vnni";
  }
  describeVectors(machine, level);
  if (chip != nullptr) {
    limitVectors(machine, *chip);
  }
  return machine;
}

struct LevelName {
  Architecture architecture;
  int level;
};

/// `level` is -1 when there is none of this name.
LevelName findLevel(std::string_view name) {
  for (Architecture architecture : architectures) {
    std::span<const Level> levels = levelsOf(architecture);
    for (size_t i = 0; i < levels.size(); ++i) {
      if (levels[i].name == name) {
        return {architecture, static_cast<int>(i)};
      }
    }
  }
  return {Architecture::X86, -1};
}

/// The highest level that does not need `feature`; the lowest one is never given up.
int levelWithout(std::span<const Level> levels, std::string_view feature) {
  for (size_t i = 1; i < levels.size(); ++i) {
    const auto &own = levels[i].features;
    if (std::find(own.begin(), own.end(), feature) != own.end()) {
      return static_cast<int>(i) - 1;
    }
  }
  return static_cast<int>(levels.size()) - 1;
}

/// "x86-64-v4,+avx512bf16" and "x86-64-v4+avx512bf16" are the same.
std::vector<std::string_view> splitNames(std::string_view text) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    size_t end = text.find_first_of(",+");
    parts.push_back(text.substr(0, end));
    bool isBoth = end != std::string_view::npos && text.substr(end, 2) == ",+";
    text = end == std::string_view::npos ? "" : text.substr(end + (isBoth ? 2 : 1));
  }
  return parts;
}

std::string join(const std::vector<std::string> &names) {
  std::string text;
  for (const std::string &name : names) {
    text += (text.empty() ? "" : ", ") + name;
  }
  return text;
}

/// Notes every architecture with its extensions.
Diagnostic unknownName(std::string_view what, std::string_view name, std::string_view where) {
  Diagnostic error = makeError("E0303", "unknown " + std::string(what) + " '" + std::string(name) +
                                            "' in " + std::string(where));
  for (Architecture architecture : architectures) {
    std::vector<std::string> levels, extensions;
    for (const Level &level : levelsOf(architecture)) {
      levels.emplace_back(level.name);
    }
    for (const Extension &extension : allExtensions()) {
      if (extension.architecture == architecture) {
        extensions.push_back("+" + std::string(extension.name));
      }
    }
    error.note("supported: " + join(levels) + "; extensions: " + join(extensions));
  }
  return error.withHelp("write 'cpu' for this machine, or for example 'cpu:x86-64-v3'");
}

/// Nothing when it is unknown.
std::optional<Architecture> architectureNamed(std::string_view name) {
  for (Architecture architecture : architectures) {
    if (nameOf(architecture) == name) {
      return architecture;
    }
  }
  return std::nullopt;
}

using HasFeature = llvm::function_ref<bool(std::string_view)>;

/// -1 when not even the lowest level's features are all there.
int highestLevel(std::span<const Level> levels, HasFeature has) {
  size_t count = 0;
  while (count < levels.size() &&
         std::all_of(levels[count].features.begin(), levels[count].features.end(), has)) {
    ++count;
  }
  return static_cast<int>(count) - 1;
}

std::vector<std::string_view> offeredExtensions(Architecture architecture, int level,
                                                HasFeature has) {
  std::vector<std::string_view> names;
  for (const Extension &extension : allExtensions()) {
    if (extension.architecture == architecture && extension.lowestLevel <= level &&
        !extension.feature.empty() && has(extension.name)) {
      names.push_back(extension.name);
    }
  }
  return names;
}

Diagnostic unsupportedMachine(std::string_view what, std::span<const Level> levels) {
  return makeError("E0303", std::string(what) + " is not supported: expects at least " +
                                std::string(levels[0].name))
      .withHelp("run on a 64-bit x86 processor from 2009 or later, on 64-bit Arm, or on 64-bit "
                "RISC-V with the vector extension");
}

Result<CpuMachine> hostMachine(const Machine *chip) {
  Architecture architecture =
      architectureNamed(runtime::cpuArchitecture()).value_or(Architecture::X86);
  std::span<const Level> levels = levelsOf(architecture);
  int level = highestLevel(levels, runtime::hasCpuFeature);
  if (level < 0) {
    return unsupportedMachine("this machine", levels);
  }
  if (Status usable = chip != nullptr ? checkChip(*chip, architecture) : Status(Done{}); !usable) {
    return usable.error();
  }
  std::vector<std::string_view> removed;
  if (const char *limit = std::getenv("NEREID_CPU_FEATURES")) {
    for (std::string_view part : splitNames(limit)) {
      LevelName cap = findLevel(part);
      if (cap.level >= 0 && cap.architecture == architecture) {
        level = std::min(level, cap.level);
      } else if (part.size() > 1 && part[0] == '-') {
        removed.push_back(part.substr(1));
        level = std::min(level, levelWithout(levels, part.substr(1)));
      } else {
        return unknownName("restriction", part, "NEREID_CPU_FEATURES");
      }
    }
  }
  CpuMachine machine = makeMachine(
      architecture, level,
      offeredExtensions(architecture, level,
                        [&](std::string_view name) {
                          return runtime::hasCpuFeature(name) &&
                                 std::find(removed.begin(), removed.end(), name) == removed.end();
                        }),
      chip);
  machine.tuneFor = llvm::sys::getHostCPUName().str();
  return machine;
}

} // namespace

Result<CpuMachine> machineOffering(std::string_view architecture,
                                   const std::vector<std::string> &features) {
  std::string what = "a machine of the architecture '" + std::string(architecture) + "'";
  std::optional<Architecture> known = architectureNamed(architecture);
  if (!known) {
    return unsupportedMachine(what, levelsOf(Architecture::X86));
  }
  auto has = [&](std::string_view name) {
    return std::find(features.begin(), features.end(), name) != features.end();
  };
  int level = highestLevel(levelsOf(*known), has);
  if (level < 0) {
    return unsupportedMachine(what + " that offers only " + join(features), levelsOf(*known));
  }
  return makeMachine(*known, level, offeredExtensions(*known, level, has));
}

std::string CpuMachine::featureText() const {
  std::string text;
  for (const std::string &feature : targetFeatures) {
    text += (text.empty() ? "+" : ",+") + feature;
  }
  return text;
}

std::string CpuMachine::requirementText() const {
  std::string text = featureText();
  if (instructionSet == Architecture::Aarch64 && minimumVectorBits > 0) {
    text += ",+sve" + std::to_string(minimumVectorBits);
  }
  return text;
}

Result<CpuMachine> parseMachine(std::string_view architecture, const Machine *chip) {
  if (architecture.empty()) {
    return hostMachine(chip);
  }
  std::string where = "target 'cpu:" + std::string(architecture) + "'";
  std::vector<std::string_view> parts = splitNames(architecture);
  LevelName found = findLevel(parts[0]);
  if (found.level < 0) {
    return unknownName("architecture", parts[0], where);
  }
  std::span<const Level> levels = levelsOf(found.architecture);
  if (Status usable = chip != nullptr ? checkChip(*chip, found.architecture) : Status(Done{});
      !usable) {
    return usable.error();
  }
  std::vector<std::string_view> added;
  for (size_t i = 1; i < parts.size(); ++i) {
    std::span<const Extension> extensions = allExtensions();
    auto extension = std::find_if(extensions.begin(), extensions.end(), [&](const Extension &e) {
      return e.architecture == found.architecture && e.name == parts[i];
    });
    if (extension == extensions.end()) {
      return unknownName("extension", parts[i], where);
    }
    if (extension->lowestLevel > found.level) {
      std::string name(parts[i]), lowest(levels[extension->lowestLevel].name);
      return makeError("E0303", "extension '" + name + "' expects at least " + lowest +
                                    ", but got " + std::string(levels[found.level].name))
          .withHelp("write 'cpu:" + lowest + ",+" + name + "'");
    }
    added.push_back(extension->name);
  }
  return makeMachine(found.architecture, found.level, added, chip);
}

} // namespace nereid::cpu
