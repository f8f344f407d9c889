// SPDX-License-Identifier: Apache-2.0
// Addresses whose lanes are not neighbours, but stand at places that the program's text decides:
// every second element, or a channel for each group of lanes, `lane // 4 * 4 + 1`. A load or two of
// neighbours and a shuffle read them, where a gather would take an access for each lane.
#pragma once

#include "lib/targets/cpu/lower/elements/Evaluator.h"

namespace nereid::cpu {

struct LanePattern {
  /// Of each lane, in elements from the first lane of a vector that starts at a multiple of the
  /// width.
  llvm::SmallVector<int64_t, 16> offsets;
  int64_t period = 0; ///< elements from one such vector to the next

  int64_t span() const;       ///< elements from the first one read to the last
  bool readsEachOnce() const; ///< no two lanes read the same element
};

/// Of the pointer's elements along `lane`, its only dimension that varies; nothing when the lanes
/// reach over more than two vectors, or the text does not decide.
std::optional<LanePattern> lanePatternOf(const KernelState &kernel, mlir::Value pointer,
                                         unsigned lane, unsigned width);

/// Of a load that would be a gather, where neighbours and a shuffle take its place.
std::optional<LanePattern> lanePatternOf(const Evaluator &evaluator, tile::LoadOp op,
                                         const Dims &dims, const LaneMask &mask);

/// Neighbours loaded and shuffled; lanes that the mask leaves out are zero.
mlir::Value loadPattern(Evaluator &evaluator, tile::LoadOp op, const LanePattern &pattern,
                        const Dims &dims, unsigned copy, mlir::OpBuilder &builder,
                        const LaneMask &mask, mlir::Type memory);

} // namespace nereid::cpu
