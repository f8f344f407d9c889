// SPDX-License-Identifier: Apache-2.0
// Why a kernel on a device takes its time: what its code takes of a processor, how many programs
// run there, in how many waves; on a device also the time itself, of launches that were verified.
#pragma once

#include "lib/bench/measurement/CaseMeasurement.h"
#include "lib/bench/profile/Waves.h"
#include "lib/pipeline/Occupation.h"

namespace nereid::bench {

struct CaseProfile {
  std::string caseName, file;
  std::string where; ///< "nvidia:0", a device; or "nvidia:sm_90a", an architecture
  runtime::KernelInfo info;
  runtime::Grid grid{};
  runtime::FunctionResources resources;
  std::vector<std::string> warnings; ///< of whoever made machine code
  pipeline::Occupation occupation;
  int processors = 0; ///< 0 = not known
  /// Of a device; its failure says why there is no time.
  std::optional<KernelRow> measured;
  std::optional<Machine> chip; ///< the descriptor that was given, else what was calibrated

  /// Where the number of processors is known, and a program fits into one.
  std::optional<Waves> waves() const;
  /// The case has taken the device from this process, which can say nothing more of its code.
  bool isDeviceLost() const { return measured && measured->isDeviceLost; }
  /// There is a time, and it is right.
  bool hasTime() const;
};

/// `how.execution.target` is a device, "nvidia:0" or the vendor alone for the first one, or an
/// architecture, for which nothing is launched. Nothing, and errors in `diags`, when there is no
/// profile: E0310 for a target without occupancy, E0027 where an architecture's code cannot be
/// made.
std::optional<CaseProfile> profileKernel(const launch::KernelCase &one,
                                         const KernelMeasurement &how, Diagnostics &diags);

} // namespace nereid::bench
