// SPDX-License-Identifier: Apache-2.0
// Which config of triton.autotune is the quickest for a case: all of them in the same turns, each
// verified like any case that is timed. The choice is kept in the cache folder, by
// OpenConfigs::key.
#pragma once

#include "lib/bench/measurement/CaseMeasurement.h"
#include "lib/bench/tuning/OpenConfigs.h"

#include <optional>
#include <string>
#include <vector>

namespace nereid::bench {

struct TriedConfig {
  std::string config;
  MeasuredCase measured;

  /// It was timed, and was right whenever it was looked at.
  bool isRight() const;
  /// It has taken the device from this process, or was timed when another one did.
  bool hasLostDevice() const;
  /// Why it is not among those to choose from: the first error, or the row's failure; "" = it is.
  std::string refusal() const;
};

struct ConfigSearch {
  std::vector<TriedConfig> tried; ///< in the kernel's order
  std::optional<size_t> best;     ///< the least median of those that are right
};

/// Times all of them and keeps the best one, unless the device was lost to one of them, or they are
/// guessed.
ConfigSearch searchConfigs(const OpenConfigs &open, const KernelMeasurement &how,
                           const Machine &chip);

/// The one that an earlier search chose, if the kernel still has it.
const OpenConfig *keptConfig(const OpenConfigs &open);

/// Keeps a choice under a key, and what is kept under it; "" = nothing.
void keepConfig(const std::string &key, const std::string &config);
std::string keptText(const std::string &key);

/// What tells machines apart that a case of this target is timed on: `chip`'s fingerprint on this
/// processor, that of the device elsewhere. Errors as of pipeline::deviceFor.
Result<std::string> machineOf(const launch::Execution &execution, const Machine &chip);

struct ChosenCase {
  launch::KernelCase asked;
  std::string config; ///< in its signature; empty where there was nothing to choose
  /// Of the config that took the device from this process while it was tried: there is nothing to
  /// measure any more.
  std::optional<KernelRow> lost = {};
};

/// The case with the config that is kept for it, of a search beyond the kernel's configs first, or
/// that is found now among these; as it is where it leaves nothing open. Nothing, and errors in
/// `diags`, when the kernel cannot be read or no config is right (the first config's error).
std::optional<ChosenCase> chooseConfig(const launch::KernelCase &one, const KernelMeasurement &how,
                                       const Machine &chip, Diagnostics &diags);

} // namespace nereid::bench
