// SPDX-License-Identifier: Apache-2.0
// One case of a kernel somebody wrote, measured beside the peer that it names, by the rules of
// Measurement.h.
#pragma once

#include "lib/bench/Row.h"
#include "lib/bench/measurement/FormPeer.h"
#include "lib/launch/KernelCases.h"
#include "lib/launch/PreparedKernel.h"

#include <optional>
#include <string>
#include <vector>

namespace nereid::bench {

/// A launch on another device than the processor that this program runs on.
struct DeviceLaunch {
  std::string device; ///< "nvidia:0"
  runtime::KernelInfo info;
  runtime::Grid grid{};
  std::optional<runtime::FunctionResources> resources; ///< where the device tells
  int processors = 0;                                  ///< 0 = it does not say
};

struct KernelRow : Row {
  std::string file;        ///< of the kernel, and function, without the folder
  std::string config = {}; ///< the one chosen of triton.autotune, see tuning/ConfigSearch.h
  std::optional<DeviceLaunch> onDevice = {};
  bool isDeviceLost = false; ///< to this process, see launch/LostDevice.h

  /// Where there are rates to tell: bytes or FLOPs are known.
  bool hasWork() const { return bytes > 0 || flops > 0; }
  /// "verified", "not verified", or what failed.
  std::string state() const;
  /// "verified, noisy, few samples", or the failure.
  std::string note() const;
};

struct KernelMeasurement {
  launch::Execution execution;
  double secondsPerCase = 3;
  bool hasPeers = true;    ///< what the case names is timed beside it
  FormMaker makeForm = {}; ///< of the forms among them; empty: they are left out
};

/// What became of a case that was measured beside others.
struct MeasuredCase {
  std::optional<KernelRow> row; ///< none: it could not be measured, `diags` says why
  Diagnostics diags;
};

/// Nothing, and errors in `diags`, when the case could not be measured at all.
std::optional<KernelRow> measureKernel(const launch::KernelCase &one, const KernelMeasurement &how,
                                       const Machine &chip, Diagnostics &diags);

/// Several cases in the same turns, so that their samples can be compared one by one; in their
/// order. All of them have their tensors at once. On one device, and in this process: where a case
/// takes the device from it, that one alone has a row.
std::vector<MeasuredCase> measureTogether(const std::vector<launch::KernelCase> &cases,
                                          const KernelMeasurement &how, const Machine &chip);

} // namespace nereid::bench
