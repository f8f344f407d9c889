// SPDX-License-Identifier: Apache-2.0
// What is known about the numbers in a tile of integers or addresses, along each of its dimensions,
// whatever the arguments of the kernel and the program id are:
//
//   tl.program_id(0) * 64 + tl.arange(0, 64)     one run of 64 that counts up from a multiple of 64
//   tl.arange(0, 64) // 4                         runs of 4 equal elements
//   tl.arange(0, 64) % 16                         runs of 16 that count up from a multiple of 16
//
// A run is a group of `length` elements that begins at an index which is a multiple of `length`; in
// it each element is the one before plus `stride`. Stride 1 is what other compilers call
// contiguity, stride 0 their constancy, and the divisor of the elements where runs begin their
// divisibility; one run says all three. Divisors are powers of two, given by their exponent, since
// only those survive when integers wrap around: a run that passes the end of its type goes on at
// the other end, and still is a run. Only what reads the numbers as such, a widening, a quotient,
// asks whether it does.
#pragma once

#include "mlir/IR/Value.h"
#include "mlir/Interfaces/InferIntRangeInterface.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <memory>
#include <optional>

namespace mlir {
class DataFlowSolver;
class Pass;
} // namespace mlir

namespace nereid::tile {

/// The elements of a tile along one dimension, for all positions along the others.
struct AxisRun {
  int64_t size = 1;   ///< of the dimension
  int64_t length = 1; ///< of a run; the last one is shorter where `size` is no multiple of it
  /// From an element of a run to the next, modulo the type's range; in elements for addresses.
  /// Nothing when each run, at each position along the other dimensions, has one of its own.
  std::optional<int64_t> stride = 0;
  unsigned startTwos = 0; ///< elements where a run begins are multiples of 2 to this power
  unsigned firstTwos = 0; ///< those at index 0 are multiples of 2 to this power

  bool isWhole() const { return length == size; }
  bool isConstant() const { return stride == 0; }
  bool operator==(const AxisRun &) const = default;
};

class AxisInfo {
public:
  AxisInfo() = default;
  /// Nothing is known but the type.
  explicit AxisInfo(mlir::Type type);

  // ---- along a dimension ----
  int64_t contiguity(unsigned dim) const { return lengthOf(dim, 1); }
  int64_t constancy(unsigned dim) const { return lengthOf(dim, 0); }
  /// A power of two that divides the elements where a run begins; in bytes for addresses.
  int64_t divisibility(unsigned dim) const { return divisorOf(axes[dim].startTwos); }
  /// A power of two that divides the elements at index 0; in bytes for addresses.
  int64_t firstMultiple(unsigned dim) const { return divisorOf(axes[dim].firstTwos); }
  bool isUniform(unsigned dim) const { return axes[dim].isWhole() && axes[dim].isConstant(); }

  // ---- of all elements ----
  /// A power of two that divides every element; in bytes for addresses.
  int64_t multiple() const { return divisorOf(twos); }
  /// As a signed number; false for what is no integer.
  bool isNonNegative() const { return range && range->smin().isNonNegative(); }
  /// The only value that elements have, as an unsigned number.
  std::optional<llvm::APInt> constant() const;

  static int64_t divisorOf(unsigned twos) { return int64_t(1) << std::min(twos, 62U); }

  bool operator==(const AxisInfo &) const = default;
  /// What holds whichever of the two a value is.
  void join(const AxisInfo &other);
  /// Ranges that grew since `before` end at zero or at the end of the type, so that loops settle.
  void widen(const AxisInfo &before);
  /// Adds what follows from the facts that are there; every rule ends with it.
  void complete();
  void print(llvm::raw_ostream &out) const;

  llvm::SmallVector<AxisRun, 2> axes; ///< none for scalars
  unsigned twos = 0;                  ///< every element is a multiple of 2 to this power
  unsigned width = 0;                 ///< bits of an integer or address, 0 for anything else
  int64_t unit = 1;                   ///< bytes of what an address points to, 1 for integers
  /// Of the elements of an integer or a tile of integers, read as signed and as unsigned numbers.
  std::optional<mlir::ConstantIntRanges> range;

private:
  int64_t lengthOf(unsigned dim, int64_t stride) const {
    return axes[dim].stride == stride ? axes[dim].length : 1;
  }
};

/// Whether sums, differences, products, shifts and truncations of 32 and more bits may leave the
/// range of signed integers. `Wraps` is true of every launch. With `Excluded` a fact about a value
/// holds unless one of the operations that it is made of wraps around; `nereid check` reports
/// kernels that do that in addresses and comparisons.
enum class Overflow : uint8_t { Wraps, Excluded };

/// The facts about all values of a function, found by a fixpoint over its loops and branches.
/// Besides `Overflow` it is assumed that
/// - the promises of the signature (`tile.divisibility` of arguments) and of the language's hints
///   (`tile.divisibility`, `tile.contiguity` and `tile.constancy` of operations) are kept, and what
///   `tile.assume` says is true (see Assumptions.h),
/// - one load that is not volatile reads the same from one address for all of its elements,
/// - nobody looks at undefined elements: those that a mask turned off, quotients by zero, those
///   that tile.gather picks outside of its source.
/// Values are counted as integers and addresses; floats only have runs of stride 0.
class AxisInfos {
public:
  /// `top` is a function or a module of them. It must stay as it is while this object is asked.
  explicit AxisInfos(mlir::Operation *top, Overflow overflow = Overflow::Wraps);
  ~AxisInfos();

  /// Nothing is known of values that were added since, or that no path leads to.
  AxisInfo of(mlir::Value value) const;

private:
  std::unique_ptr<mlir::DataFlowSolver> solver;
};

/// `tile-print-axis-info`: a remark about each result and each value that a loop carries.
std::unique_ptr<mlir::Pass> createPrintAxisInfoPass(Overflow overflow);

} // namespace nereid::tile
