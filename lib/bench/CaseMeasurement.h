// SPDX-License-Identifier: Apache-2.0
// One case of a kernel somebody wrote, measured: right first, then in turns with its peer, with a
// copy or the peak, and right again at a launch that nobody knows.
#pragma once

#include "lib/launch/KernelCases.h"
#include "lib/launch/PreparedKernel.h"
#include "lib/measure/Chip.h"
#include "lib/measure/Roofline.h"
#include "lib/measure/Timer.h"

#include <optional>
#include <string>
#include <vector>

namespace nereid::bench {

struct KernelRow {
  std::string name, kernel, state; ///< state: "verified", "not verified" or what failed
  bool failed = false;
  double bytes = 0, flops = 0, launchSeconds = 0;
  DType peakType = DType::F32; ///< whose peak the arithmetic may reach
  double unfusedBytes = 0;
  /// What copying as many bytes takes and as many FLOPs at the peak rate, timed in turns; 0 = not
  /// measured: within caches, or it is clear which of the two binds.
  double copySeconds = 0, peakSeconds = 0;
  measure::Timing timing;
  measure::Timing yardstick; ///< the copy or the peak
  double yardstickAmount = 0;
  std::string peerName;
  measure::Timing peer;
  std::optional<uint64_t> memory, peerMemory; ///< bytes of one run besides inputs and outputs

  /// Where there are rates to tell: bytes or FLOPs are known.
  bool hasWork() const { return bytes > 0 || flops > 0; }
  /// What was timed beside the kernel where it was, else what the chip's rates say.
  measure::Roofline floor(const measure::Chip &chip) const;
  /// Of that floor; 0 = unknown.
  double rooflineShare(const measure::Chip &chip) const;
  /// Why the share is no result; "" = it is one.
  std::string rooflineFault(const measure::Chip &chip) const;
  /// "verified, noisy, few samples", or the failure.
  std::string note(const measure::Chip &chip) const;
};

struct KernelMeasurement {
  launch::Execution execution;
  double secondsPerCase = 3;
};

/// Nothing, and errors in `diags`, when the case could not be measured at all.
std::optional<KernelRow> measureKernel(const launch::KernelCase &one, const KernelMeasurement &how,
                                       const measure::Chip &chip, Diagnostics &diags);

} // namespace nereid::bench
