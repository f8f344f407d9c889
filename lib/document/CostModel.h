// SPDX-License-Identifier: Apache-2.0
// How long a launch should take on a chip, from what it moves, computes and hands out: the model
// behind each expected gain of the document. It is for choosing between forms of one operator; what
// a form really takes is measured.
#pragma once

#include "lib/definition/Graph.h"
#include "lib/machine/Machine.h"

#include <array>
#include <optional>
#include <string>
#include <vector>

namespace nereid::document {

/// How an operator is cut into programs in one case.
struct LaunchOutline {
  std::string kernel, schedule;
  std::array<int64_t, 3> grid = {1, 1, 1};
  double elements = 0;      ///< of the index space
  double tiledElements = 0; ///< of all blocks together, those behind its ends included
  int64_t tile = 0;         ///< elements that a program works on at a time
  bool isStreaming = false; ///< stores go past the caches
  int64_t warps = 0;        ///< 0 = a program is one thread
  int64_t stages = 0;       ///< 0 = nothing is copied ahead
  int64_t programs() const { return grid[0] * grid[1] * grid[2]; }
  /// Of the blocks' elements those that lie behind an end; 0 to 1.
  double maskedShare() const;
};

struct ModelTime {
  double memory = 0, arithmetic = 0; ///< alone, with all processors at work
  double handOut = 0;                ///< of the programs, and the launch
  double tail = 1; ///< how much longer for processors without work in the last wave
  double seconds() const;
};

/// Programs of a launch that run at the same time, and how full the last of these waves is.
struct Waves {
  int64_t count = 0;
  double lastShare = 0; ///< of the processors
};
Waves wavesOf(int64_t programs, int processors);

/// Rates are there for a model: memory and arithmetic.
bool hasModel(const Machine &chip);
/// Bytes beyond the last cache are written behind a read of what they replace, unless stores
/// stream or the chip is a device. Handing out a program of a host takes a microsecond, as the
/// rules for schedules have it. Needs hasModel().
ModelTime modelTime(const Machine &chip, const definition::Work &work, const LaunchOutline &launch,
                    DType dtype);
/// The chip as one of its processors sees it when the others rest; nothing where that rate is not
/// known.
std::optional<Machine> oneProcessor(const Machine &chip);
/// Whether what is written does not stay in the last cache.
bool isBeyondCache(const Machine &chip, double bytes);
/// Type whose arithmetic the kernels use.
DType arithmeticType(DType dtype);

} // namespace nereid::document
