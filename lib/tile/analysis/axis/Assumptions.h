// SPDX-License-Identifier: Apache-2.0
// What `tile.assume` says about single numbers: comparisons with a constant, and multiples of a
// power of two, joined by `and`:
//
//   tl.assume(n % 16 == 0)              n is a multiple of 16; so for addresses as integers
//   tl.assume((stride > 0) & (n < 64))  stride is 1 or more, n is 63 or less
//
// It counts for numbers that are made in the block of the assumption: whoever makes them comes to
// it. Tiles, and what stands inside of a branch about numbers from outside, say nothing.
#pragma once

#include "lib/tile/analysis/axis/AxisInfo.h"

#include "llvm/ADT/MapVector.h"

namespace nereid::tile {

class Assumptions {
public:
  /// Of all functions inside of `top`.
  explicit Assumptions(mlir::Operation *top);

  /// Adds what is assumed about the value to what is known of it.
  void apply(mlir::Value value, AxisInfo &info) const;
  /// The numbers that are multiples of more than 1, each with a power of two that divides it (in
  /// bytes for addresses).
  llvm::SmallVector<std::pair<mlir::Value, int64_t>> divisors() const;

private:
  struct Fact {
    unsigned twos = 0; ///< a multiple of 2 to this power
    std::optional<mlir::ConstantIntRanges> range;
  };
  void addCondition(mlir::Value condition, mlir::Block *block);
  void addComparison(mlir::Operation *op, mlir::Block *block);
  void addMultiple(mlir::Value remainder, mlir::Block *block);
  void addRange(mlir::Value value, const mlir::ConstantIntRanges &range, mlir::Block *block);

  llvm::MapVector<mlir::Value, Fact> facts;
};

} // namespace nereid::tile
