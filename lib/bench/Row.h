// SPDX-License-Identifier: Apache-2.0
// What measuring one case came to, the same for generated operators and for kernels somebody wrote.
#pragma once

#include "lib/machine/Machine.h"
#include "lib/measure/Timer.h"
#include "lib/measure/peaks/Roofline.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace nereid::bench {

struct Row {
  std::string caseName;
  double bytes = 0, flops = 0; ///< that one launch must move and compute; 0 = unknown
  double unfusedBytes = 0;     ///< what the same operations move one after the other
  DType peakType = DType::F32; ///< whose peak the arithmetic may reach
  bool isBeyondCache = false;
  bool isOnDevice = false; ///< the floor is that of a device, not of this processor
  measure::Timing kernel;
  /// Another implementation, in turns with the kernel: a library, or the unfused operations.
  measure::Timing peer;
  std::vector<measure::Timing> otherPeers; ///< further ones, in turns as well
  measure::Timing yardstick;               ///< a copy or arithmetic, in turns with the kernel
  double yardstickAmount = 0;
  /// What copying as many bytes takes, and as many FLOPs at the peak rate, timed in turns; 0 = not
  /// timed: within caches, or it is clear which of the two binds.
  double copySeconds = 0, peakSeconds = 0;
  /// What was timed beside the kernel where it was, else what the chip's rates say.
  measure::Roofline floor;
  double launchSeconds = 0;                   ///< host cost of one launch without its programs
  std::optional<uint64_t> memory, peerMemory; ///< bytes of one run besides inputs and outputs
  bool isVerified = false;                    ///< before, while and after it was timed
  std::string skipped;                        ///< why the case was not run; empty when it was
  std::string failure;                        ///< what was wrong; empty when all is well

  bool hasPeer() const { return peer.summary.count > 0; }
  /// Of what memory and arithmetic allow; rooflineShare is the larger of the two. 0 = unknown.
  double bandwidthShare() const;
  double computeShare() const;
  double rooflineShare() const;
  /// Why that share is no result; "" = it is one.
  std::string rooflineFault() const;
};

/// From the row's times: the floor; a row that is quicker than the floor allows fails.
void judgeSpeed(Row &row, const Machine &chip);

} // namespace nereid::bench
