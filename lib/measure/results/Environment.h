// SPDX-License-Identifier: Apache-2.0
// Where and how a result was obtained: everything needed to judge or repeat it. Stands in every
// result file.
#pragma once

#include "lib/machine/Machine.h"
#include "lib/measure/results/SystemState.h"

#include <map>
#include <string>

namespace nereid::measure {

struct Environment {
  std::string chip, fingerprint, system, compiler, flags, version, revision, date;
  /// Variables of nereid knobs that are set, with their values.
  std::map<std::string, std::string> knobs;
  int threads = 1;
  SystemState state; ///< when the run began
  double copyBandwidth = 0;
  Calibration calibration; ///< of the rates that shares of the roofline rest on
};

/// `revision` is the git revision the program was built from, "unknown" outside a checkout.
Environment describeEnvironment(const Machine &chip);
/// What the system does not tell is null.
std::string toJson(const Environment &environment);

} // namespace nereid::measure
