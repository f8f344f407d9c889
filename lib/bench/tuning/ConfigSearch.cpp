// SPDX-License-Identifier: Apache-2.0
#include "lib/bench/tuning/ConfigSearch.h"

#include "lib/bench/tuning/SearchSpace.h"
#include "lib/bench/verification/CaseTrial.h"
#include "lib/launch/PreparedCase.h"
#include "lib/measure/peaks/DeviceChip.h"
#include "lib/pipeline/Target.h"
#include "lib/support/DiskCache.h"
#include "lib/support/FirstError.h"
#include "lib/support/Interrupt.h"

#include <algorithm>
#include <span>

namespace nereid::bench {

/// Texts of some hundred bytes.
static DiskCache &choices() {
  static DiskCache cache(cacheDirectory(), "configs", uint64_t{1} << 24);
  return cache;
}

bool TriedConfig::isRight() const {
  return measured.row && measured.row->failure.empty() && measured.row->kernel.summary.count > 0;
}

bool TriedConfig::hasLostDevice() const { return measured.row && measured.row->isDeviceLost; }

std::string TriedConfig::refusal() const {
  if (isRight()) {
    return "";
  }
  if (measured.row) {
    return measured.row->failure.empty() ? "not timed" : measured.row->failure;
  }
  if (measured.diags.all().empty()) {
    return "not tried";
  }
  const Diagnostic &error = firstError(measured.diags);
  return error.message + " [" + error.code + "]";
}

/// What a launch of the case does besides computing, see CaseTrial.h; "" = nothing. Errors of the
/// case are for who times it.
static std::string faultOf(const launch::KernelCase &one, const KernelMeasurement &how) {
  Diagnostics ignored;
  auto ready = launch::prepareCase(one, how.execution, ignored);
  if (!ready || !launch::resetOutputs(one, ready->arguments)) {
    return "";
  }
  auto tried = tryLaunch(one, ready->kernel, ready->grid, ready->arguments, {}, ignored);
  return tried ? tried->wrong : "";
}

/// Those that may be timed, and for the others a row that failed.
static std::vector<launch::KernelCase> timedOnes(const OpenConfigs &open,
                                                 const KernelMeasurement &how,
                                                 std::vector<MeasuredCase> &measured) {
  std::vector<launch::KernelCase> cases;
  // What a device does outside of its tensors is found behind the launch, and ends a process.
  const bool isTried = open.areGuessed && !pipeline::runsOnDevice(how.execution.target);
  for (size_t i = 0; i < open.configs.size(); ++i) {
    const launch::KernelCase &one = open.configs[i].asked;
    const std::string fault = isTried && !isInterrupted() ? faultOf(one, how) : "";
    if (fault.empty()) {
      cases.push_back(one);
    } else {
      measured[i].row.emplace().failure = fault;
    }
  }
  return cases;
}

ConfigSearch searchConfigs(const OpenConfigs &open, const KernelMeasurement &how,
                           const Machine &chip) {
  KernelMeasurement alone = how;
  alone.hasPeers = false;
  std::vector<MeasuredCase> measured(open.configs.size());
  std::vector<MeasuredCase> timed = measureTogether(timedOnes(open, alone, measured), alone, chip);
  auto next = timed.begin();
  for (MeasuredCase &one : measured) {
    if (!one.row) {
      one = std::move(*next++);
    }
  }
  ConfigSearch search;
  for (size_t i = 0; i < measured.size(); ++i) {
    search.tried.push_back({open.configs[i].text, std::move(measured[i])});
    const TriedConfig &now = search.tried.back();
    const auto median = [&](size_t at) {
      return search.tried[at].measured.row->kernel.summary.median;
    };
    if (now.isRight() && (!search.best || median(i) < median(*search.best))) {
      search.best = i;
    }
  }
  const bool isLost = std::any_of(search.tried.begin(), search.tried.end(),
                                  [](const TriedConfig &one) { return one.hasLostDevice(); });
  if (search.best && !isLost && !isInterrupted() && !open.areGuessed) {
    keepConfig(open.key, search.tried[*search.best].config);
  }
  return search;
}

void keepConfig(const std::string &key, const std::string &config) {
  choices().write(key, std::span(reinterpret_cast<const uint8_t *>(config.data()), config.size()));
}

std::string keptText(const std::string &key) {
  const auto kept = choices().read(key);
  return kept ? std::string(kept->begin(), kept->end()) : "";
}

const OpenConfig *keptConfig(const OpenConfigs &open) {
  const std::string text = keptText(open.key);
  const auto found = std::find_if(open.configs.begin(), open.configs.end(),
                                  [&](const OpenConfig &one) { return one.text == text; });
  return found == open.configs.end() ? nullptr : &*found;
}

Result<std::string> machineOf(const launch::Execution &execution, const Machine &chip) {
  if (!pipeline::runsOnDevice(execution.target)) {
    return chip.fingerprint;
  }
  auto device = pipeline::deviceFor(execution.target);
  return device ? Result<std::string>(measure::describeDevice(**device).fingerprint)
                : device.error();
}

/// What `tune --search` has found for the case, where its signature gives none of it.
static std::optional<ChosenCase> searchedBefore(const launch::KernelCase &one,
                                                const launch::Execution &execution,
                                                const std::string &machine, const Machine &chip) {
  Diagnostics ignored; // openConfigs says them again
  const auto space = searchSpace(one, execution, machine, chip, ignored);
  if (!space || !space->isOpen) {
    return std::nullopt;
  }
  const auto kept = pointFromText(keptText(space->key));
  if (!kept || kept->empty()) {
    return std::nullopt;
  }
  OpenConfig config = configAt(*space, *kept);
  return ChosenCase{std::move(config.asked), std::move(config.text)};
}

std::optional<ChosenCase> chooseConfig(const launch::KernelCase &one, const KernelMeasurement &how,
                                       const Machine &chip, Diagnostics &diags) {
  auto machine = machineOf(how.execution, chip);
  if (!machine) {
    diags.add(machine.error());
    return std::nullopt;
  }
  if (auto searched = searchedBefore(one, how.execution, *machine, chip)) {
    return searched;
  }
  const auto open = openConfigs(one, how.execution, *machine, diags);
  if (!open) {
    return std::nullopt;
  }
  if (open->configs.empty()) {
    return ChosenCase{one, ""};
  }
  if (const OpenConfig *kept = keptConfig(*open)) {
    return ChosenCase{kept->asked, kept->text};
  }
  const ConfigSearch search = searchConfigs(*open, how, chip);
  const auto lost = std::find_if(search.tried.begin(), search.tried.end(),
                                 [](const TriedConfig &one) { return one.hasLostDevice(); });
  if (lost != search.tried.end()) {
    return ChosenCase{one, lost->config, lost->measured.row};
  }
  if (search.best) {
    const OpenConfig &best = open->configs[*search.best];
    return ChosenCase{best.asked, best.text};
  }
  const TriedConfig &first = search.tried.front();
  if (first.measured.row) {
    return ChosenCase{open->configs.front().asked, first.config}; // it fails again, and is told
  }
  for (const Diagnostic &diagnostic : first.measured.diags.all()) {
    diags.add(diagnostic);
  }
  return std::nullopt;
}

} // namespace nereid::bench
