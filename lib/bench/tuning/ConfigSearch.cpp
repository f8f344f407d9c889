// SPDX-License-Identifier: Apache-2.0
#include "lib/bench/tuning/ConfigSearch.h"

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

ConfigSearch searchConfigs(const OpenConfigs &open, const KernelMeasurement &how,
                           const Machine &chip) {
  std::vector<launch::KernelCase> cases;
  for (const OpenConfig &config : open.configs) {
    cases.push_back(config.asked);
  }
  KernelMeasurement alone = how;
  alone.hasPeers = false;
  std::vector<MeasuredCase> measured = measureTogether(cases, alone, chip);
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
  if (search.best && !isLost && !isInterrupted()) {
    const std::string &text = search.tried[*search.best].config;
    choices().write(open.key,
                    std::span(reinterpret_cast<const uint8_t *>(text.data()), text.size()));
  }
  return search;
}

const OpenConfig *keptConfig(const OpenConfigs &open) {
  const auto kept = choices().read(open.key);
  if (!kept) {
    return nullptr;
  }
  const std::string text(kept->begin(), kept->end());
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

std::optional<ChosenCase> chooseConfig(const launch::KernelCase &one, const KernelMeasurement &how,
                                       const Machine &chip, Diagnostics &diags) {
  auto machine = machineOf(how.execution, chip);
  if (!machine) {
    diags.add(machine.error());
    return std::nullopt;
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
