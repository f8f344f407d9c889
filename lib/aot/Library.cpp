// SPDX-License-Identifier: Apache-2.0
#include "lib/aot/Library.h"

#include "lib/aot/GridCode.h"
#include "lib/aot/Launcher.h"
#include "lib/aot/ObjectMerge.h"
#include "lib/aot/SpecificityOrder.h"
#include "lib/language/host/KernelDecorators.h"
#include "lib/pipeline/Target.h"
#include "runtime/cpu/CpuFeatures.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace nereid::aot {
namespace {

std::set<std::string> namesIn(const std::string &features) {
  std::set<std::string> names;
  for (size_t at = 0; at < features.size();) {
    const size_t end = std::min(features.find(',', at), features.size());
    names.insert(features.substr(at, end - at));
    at = end + 1;
  }
  return names;
}

using TargetTable = std::vector<std::pair<std::string, std::vector<std::string>>>;

const TargetTable &targetsByArchitecture() {
  static const TargetTable table = {
      {"x86-64", {"cpu:x86-64-v4+avx512bf16", "cpu:x86-64-v4", "cpu:x86-64-v3", "cpu:x86-64-v2"}},
      {"aarch64", {"cpu:aarch64"}},
      {"riscv64", {"cpu:rv64gcv"}}};
  return table;
}

struct ChosenTarget {
  std::string spec; ///< as the pipeline finds it
  pipeline::Target *target;
  std::set<std::string> features;
};

/// The ones that ask for more first; equal ones once.
Result<std::vector<ChosenTarget>> chooseTargets(const std::vector<std::string> &specs,
                                                const std::string &chip) {
  std::vector<ChosenTarget> chosen;
  for (const std::string &spec : specs) {
    Result<pipeline::Target *> target = pipeline::findTarget(spec, chip);
    if (!target) {
      return target.error();
    }
    std::set<std::string> features = namesIn((*target)->features());
    const bool isKnown = std::any_of(chosen.begin(), chosen.end(), [&](const ChosenTarget &other) {
      return other.features == features;
    });
    if (!isKnown) {
      chosen.push_back({spec, *target, std::move(features)});
    }
  }
  std::vector<ChosenTarget> ordered;
  for (size_t next : specificityOrder(chosen.size(), [&](size_t a, size_t b) {
         return std::includes(chosen[a].features.begin(), chosen[a].features.end(),
                              chosen[b].features.begin(), chosen[b].features.end());
       })) {
    ordered.push_back(chosen[next]);
  }
  return ordered;
}

/// "x86-64-v3" of "cpu:x86-64-v3", without the model that the code is tuned for.
std::string shortName(const pipeline::Target &target) {
  std::string name = target.name();
  name.erase(0, name.find(':') + 1);
  return name.substr(0, name.find(' '));
}

class Builder {
public:
  Builder(const LibraryRequest &request, const language::SourceModule &module,
          const language::FunctionDef &function, Diagnostics &diags)
      : request(request), module(module), function(function), diags(diags) {}

  std::optional<CompiledLibrary> build() {
    library.kernel = function.name;
    library.name = request.name.empty() ? function.name : request.name;
    library.grid = request.grid;
    if (!checkName() || !matchSignatures() || !writeGrids()) {
      return std::nullopt;
    }
    auto chosen = chooseTargets(request.targets.empty() ? portableTargets(hostArchitecture())
                                                        : request.targets,
                                request.chip);
    if (!chosen) {
      diags.add(chosen.error());
      return std::nullopt;
    }
    targets = std::move(*chosen);
    for (const ChosenTarget &target : targets) {
      library.targets.push_back({shortName(*target.target), target.target->features()});
    }
    library.deviceRuntime = targets.front().target->deviceRuntime();
    if (!compileVariants() || !link()) {
      return std::nullopt;
    }
    for (CParameter &parameter : library.interface.parameters) {
      parameter.isWritten = written.count(parameter.kernelName) != 0;
    }
    return std::move(library);
  }

private:
  std::string_view hostArchitecture() const {
    return request.architecture.empty() ? runtime::cpuArchitecture()
                                        : std::string_view(request.architecture);
  }

  bool isForDevice() const { return !library.deviceRuntime.empty(); }

  bool checkName() {
    if (isCName(library.name)) {
      return true;
    }
    diags.add(
        makeError("E0023", fmt::format("'{}' cannot be the name of a C function", library.name))
            .withHelp("choose one with --name: letters, digits and '_', no keyword"));
    return false;
  }

  bool matchSignatures() {
    language::KernelDecorators decorators = language::readDecorators(module, function);
    std::vector<language::Signature> signatures;
    for (const std::string &text : request.signatures) {
      auto special = language::specialize(text, module, function, decorators);
      if (!special) {
        Diagnostic error = special.error();
        if (error.file.empty()) {
          error.file = request.kernel.path;
        }
        diags.add(std::move(error));
        return false;
      }
      signatures.push_back(std::move(special->signature));
    }
    Result<Interface> interface = makeInterface(signatures, request.gridArguments, request.chosen);
    if (!interface) {
      diags.add(interface.error());
      return false;
    }
    library.interface = std::move(*interface);
    return true;
  }

  bool writeGrids() {
    const size_t count = request.grid.empty() ? 0 : library.interface.specializations.size();
    for (size_t i = 0; i < count; ++i) {
      Result<std::string> code = gridFunction(request.grid, library.interface, i);
      if (!code) {
        diags.add(code.error());
        return false;
      }
      grids.push_back(std::move(*code));
    }
    return true;
  }

  bool compileVariants() {
    for (size_t i = 0; i < library.interface.specializations.size(); ++i) {
      variants.emplace_back();
      deviceVariants.emplace_back();
      library.parts.emplace_back();
      library.scratchBytes.push_back(0);
      for (size_t number = 0; number < targets.size(); ++number) {
        const ChosenTarget &target = targets[number];
        if (target.target->deviceRuntime() != library.deviceRuntime) {
          return refuseTogether(*target.target);
        }
        pipeline::CompileInput input = request.kernel;
        input.function = function.name;
        input.signature = library.interface.specializations[i].kernelSignature;
        pipeline::CompileOptions options;
        options.target = target.spec;
        options.chip = request.chip;
        options.useCache = request.useCache;
        auto output = pipeline::compile(input, options, diags);
        if (!output) {
          return false;
        }
        noteOutput(*output);
        if (isForDevice() ? !addDeviceVariant(i, *output, number)
                          : !addVariant(i, *output, *target.target)) {
          return false;
        }
      }
    }
    return true;
  }

  bool refuseTogether(const pipeline::Target &other) {
    diags.add(makeError("E0022", fmt::format("targets '{}' and '{}' are for different "
                                             "processors, and a library is for one",
                                             library.targets.front().name, shortName(other)))
                  .withHelp("compile one library for each"));
    return false;
  }

  void noteOutput(const pipeline::CompileOutput &output) {
    for (const std::string &path : output.sources) {
      if (std::find(library.sources.begin(), library.sources.end(), path) ==
          library.sources.end()) {
        library.sources.push_back(path);
      }
    }
    for (const runtime::ArgumentInfo &argument : output.info.arguments) {
      if (argument.isWritten) {
        written.insert(argument.name);
      }
    }
  }

  std::string partName(size_t specialization, const pipeline::Target &target) const {
    return fmt::format("{}.{}.{}", library.kernel, specialization, shortName(target));
  }

  /// Code that is the same for several targets is kept once.
  bool addVariant(size_t specialization, const pipeline::CompileOutput &output,
                  const pipeline::Target &target) {
    if (!objects.empty() && machineOf(output.object) != machineOf(objects.front())) {
      return refuseTogether(target);
    }
    auto same = std::find(objects.begin(), objects.end(), output.object);
    const auto number = static_cast<size_t>(same - objects.begin());
    if (same == objects.end()) {
      objects.push_back(output.object);
      entries.push_back(partName(specialization, target));
    }
    variants.back().push_back({entries[number], output.info.scratchBytes, output.info.isBlocking,
                               output.info.takesRanges});
    library.parts.back().push_back(entries[number]);
    if (!output.info.isBlocking) { // else every program has memory of its own
      library.scratchBytes.back() = std::max(library.scratchBytes.back(), output.info.scratchBytes);
    }
    library.isBlocking |= output.info.isBlocking;
    return true;
  }

  bool addDeviceVariant(size_t specialization, const pipeline::CompileOutput &output,
                        size_t number) {
    const pipeline::Target &target = *targets[number].target;
    Result<std::vector<uint8_t>> native = target.machineCode(output.object);
    if (!native) {
      diags.add(native.error());
      return false;
    }
    library.targets[number].hasMachineCode = !native->empty();
    library.parts.back().push_back(partName(specialization, target));
    deviceVariants.back().push_back({.entry = output.info.name,
                                     .portable = output.object,
                                     .native = std::move(*native),
                                     .threads = output.info.threads,
                                     .blocks = output.info.blocks,
                                     .memoryBytes = output.info.scratchBytes,
                                     .waits = output.info.waits});
    return true;
  }

  /// Of the launcher. For the least of the targets, which also has to say that a machine has none
  /// of them; where they are devices', for the least of the host's. False with an error.
  bool assembleLauncher(const std::string &text, std::vector<uint8_t> &object) {
    Result<pipeline::Target *> host =
        pipeline::findTarget(portableTargets(hostArchitecture()).back());
    if (!host) {
      diags.add(host.error());
      return false;
    }
    if (isForDevice()) {
      return (*host)->assemble(text, object, diags);
    }
    std::vector<uint8_t> nothing;
    if (!targets.back().target->assemble(text, object, diags) ||
        !(*host)->assemble("", nothing, diags)) {
      return false;
    }
    if (!request.architecture.empty() && machineOf(nothing) != machineOf(object)) {
      diags.add(makeError("E0022", fmt::format("target '{}' is not for the architecture '{}'",
                                               library.targets.front().name, request.architecture))
                    .withHelp("leave one of --target and --architecture out"));
      return false;
    }
    return true;
  }

  bool link() {
    LauncherContent content{.name = library.name,
                            .kernel = library.kernel,
                            .interface = library.interface,
                            .grids = grids,
                            .variants = variants,
                            .targets = {},
                            .deviceRuntime = library.deviceRuntime,
                            .deviceVariants = deviceVariants};
    for (const CompiledTarget &target : library.targets) {
      content.targets.emplace_back(target.name, target.features);
    }
    std::vector<uint8_t> launcher;
    if (!assembleLauncher(launcherText(content), launcher)) {
      return false;
    }
    std::vector<ObjectPart> parts = {{launcher, {}}};
    for (size_t i = 0; i < objects.size(); ++i) {
      parts.push_back({objects[i], {{library.kernel, entries[i]}}});
    }
    const std::vector<std::string> names = functionNames(library);
    auto merged = mergeObjects(parts, {names.begin(), names.end()});
    if (!merged) {
      diags.add(merged.error());
      return false;
    }
    library.object = std::move(*merged);
    return true;
  }

  const LibraryRequest &request;
  const language::SourceModule &module;
  const language::FunctionDef &function;
  Diagnostics &diags;
  CompiledLibrary library;
  std::vector<ChosenTarget> targets;
  std::vector<std::string> grids; ///< IR, by specialization
  std::vector<std::vector<LauncherVariant>> variants;
  std::vector<std::vector<DeviceCode>> deviceVariants;
  std::vector<std::vector<uint8_t>> objects; ///< each different one once
  std::vector<std::string> entries;          ///< symbols of their code
  std::set<std::string> written;             ///< parameters, in any specialization
};

} // namespace

std::vector<std::string> portableTargets(std::string_view architecture) {
  for (const auto &[name, targets] : targetsByArchitecture()) {
    if (name == architecture) {
      return targets;
    }
  }
  return {};
}

std::vector<std::string> architectures() {
  std::vector<std::string> names;
  for (const auto &[name, targets] : targetsByArchitecture()) {
    names.push_back(name);
  }
  return names;
}

std::vector<std::string> functionNames(const CompiledLibrary &library) {
  std::vector<std::string> names = {library.name, library.name + "_select"};
  if (!library.deviceRuntime.empty()) {
    names.push_back(library.name + "_wait");
  }
  return names;
}

std::optional<CompiledLibrary> compileLibrary(const LibraryRequest &request,
                                              const language::SourceModule &module,
                                              const language::FunctionDef &function,
                                              Diagnostics &diags) {
  return Builder(request, module, function, diags).build();
}

} // namespace nereid::aot
