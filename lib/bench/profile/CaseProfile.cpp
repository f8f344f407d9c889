// SPDX-License-Identifier: Apache-2.0
#include "lib/bench/profile/CaseProfile.h"

#include "lib/launch/KernelReference.h"
#include "lib/measure/peaks/DeviceChip.h"
#include "lib/pipeline/SourceKernel.h"
#include "lib/pipeline/Target.h"

#include <filesystem>

namespace nereid::bench {
namespace {

using launch::KernelCase;

/// "nvidia:0" or "nvidia", and not "nvidia:sm_90a".
bool isOnDevice(const std::string &target) {
  return pipeline::namesDevice(target) || target.find(':') == std::string::npos;
}

class Profiling {
public:
  Profiling(const KernelCase &one, const KernelMeasurement &how, Diagnostics &diags)
      : one(one), how(how), diags(diags) {
    profile.caseName = one.name;
    profile.file = std::filesystem::path(one.kernel).filename().string();
  }

  std::optional<CaseProfile> run() {
    const launch::Execution &execution = how.execution;
    auto target = pipeline::findTarget(execution.target, execution.chip);
    if (!target) {
      return fail(target.error());
    }
    if (auto occupied = (*target)->occupation({}, {}); !occupied) {
      return fail(occupied.error());
    }
    if (!execution.chip.empty()) {
      auto chip = loadMachine(execution.chip);
      if (!chip) {
        return fail(chip.error());
      }
      profile.processors = chip->cores;
      profile.chip = std::move(*chip);
    }
    if (isOnDevice(execution.target) ? !measure() : !describe(**target)) {
      return std::nullopt;
    }
    if (profile.isDeviceLost()) {
      return std::move(profile);
    }
    auto occupation = (*target)->occupation(profile.resources, profile.info);
    if (!occupation) {
      return fail(occupation.error());
    }
    profile.occupation = std::move(*occupation);
    return std::move(profile);
  }

private:
  std::nullopt_t fail(const Diagnostic &error) {
    diags.add(error);
    return std::nullopt;
  }
  bool refuse(const Diagnostic &error) {
    diags.add(error);
    return false;
  }

  /// On a device.
  bool measure() {
    profile.measured = measureKernel(one, how, genericMachine(), diags);
    if (!profile.measured) {
      return false;
    }
    const DeviceLaunch &launch = *profile.measured->onDevice;
    if (profile.measured->isDeviceLost) {
      profile.where = launch.device;
      profile.grid = launch.grid;
      return true;
    }
    if (!launch.resources) {
      return refuse(makeError("E0422", "'" + launch.device + "' does not say what the code of '" +
                                           launch.info.name + "' takes"));
    }
    profile.where = launch.device;
    profile.info = launch.info;
    profile.grid = launch.grid;
    profile.resources = *launch.resources;
    profile.processors = launch.processors;
    if (auto device = pipeline::deviceNamed(launch.device); device && !profile.chip) {
      Machine known = measure::deviceChip(**device);
      if (known.isCalibrated) {
        profile.chip = std::move(known);
      }
    }
    return true;
  }

  /// For an architecture.
  bool describe(const pipeline::Target &target) {
    const launch::KernelReference file = launch::parseKernelReference(one.kernel);
    pipeline::CompileInput input{.path = file.path,
                                 .function = file.function,
                                 .signature = one.signature,
                                 .importPaths = how.execution.importPaths};
    input.kernel = pipeline::readKernel(input, diags);
    if (!input.kernel) {
      return false;
    }
    input.function = input.kernel->function->name;
    input.signature = input.kernel->signature.text();
    pipeline::CompileOptions options;
    options.target = how.execution.target;
    options.chip = how.execution.chip;
    options.useCache = how.execution.useCache;
    auto output = pipeline::compile(input, options, diags);
    if (!output) {
      return false;
    }
    auto integers = launch::makeIntegers(input.kernel->signature, one.arguments);
    auto grid = integers ? launch::evaluateGrid(one.grid, *integers)
                         : Result<runtime::Grid>(integers.error());
    if (!grid) {
      return refuse(grid.error());
    }
    auto account = target.account(output->object);
    if (!account) {
      return refuse(account.error());
    }
    profile.where = target.name();
    profile.info = std::move(output->info);
    profile.grid = *grid;
    profile.resources = account->resources;
    profile.warnings = std::move(account->warnings);
    return true;
  }

  const KernelCase &one;
  const KernelMeasurement &how;
  Diagnostics &diags;
  CaseProfile profile;
};

} // namespace

std::optional<Waves> CaseProfile::waves() const {
  const int64_t places = processors * occupation.programs / info.blocks;
  if (places <= 0) {
    return std::nullopt;
  }
  return Waves{.programs = grid[0] * grid[1] * grid[2], .places = places};
}

bool CaseProfile::hasTime() const {
  return measured && measured->failure.empty() && measured->kernel.summary.count > 0;
}

std::optional<CaseProfile> profileKernel(const KernelCase &one, const KernelMeasurement &how,
                                         Diagnostics &diags) {
  return Profiling(one, how, diags).run();
}

} // namespace nereid::bench
