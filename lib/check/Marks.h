// SPDX-License-Identifier: Apache-2.0
// Elements whose value means nothing: their address arithmetic or an index that a comparison sees
// has wrapped, they were divided by zero, or a mask kept them from being loaded. That alone is no
// error, since a later mask may drop them, so a mark travels with the element (Tile::marks) through
// arithmetic and shapes until it is used: as an address, as a stored value, as a mask.
#pragma once

#include "lib/interpreter/Instance.h"

#include <cstdint>
#include <vector>

namespace nereid::check {

/// Why an element got its mark.
struct Cause {
  enum class Kind : uint8_t { Overflow, DivisionByZero, MaskedOff, WrappedIndex };
  Kind kind = Kind::Overflow;
  mlir::Operation *op = nullptr;
  uint64_t left = 0, right = 0; ///< operands of arithmetic and comparisons
  unsigned bits = 0;            ///< their width
};

class Marks {
public:
  /// The mark for a cause. Causes are kept up to a limit, then the latest of the same operation
  /// stands for further ones.
  uint32_t add(const Cause &cause);
  const Cause &cause(uint32_t mark) const { return causes[mark - 1]; }
  /// False as long as no element ever had a mark: then there is nothing to carry along.
  bool isEmpty() const { return causes.empty(); }

  /// Gives the results of `op`, which has been evaluated, what its operands' marks say.
  void carry(interpreter::Instance &instance, mlir::Operation *op) const;

private:
  void carryElementwise(interpreter::Instance &instance, mlir::Operation *op) const;
  void carryMoved(interpreter::Instance &instance, mlir::Operation *op) const;
  void carryReduced(interpreter::Instance &instance, tile::ReduceOp op) const;
  void carryProduct(interpreter::Instance &instance, tile::DotOp op) const;

  std::vector<Cause> causes;
  llvm::DenseMap<mlir::Operation *, uint32_t> latest;
};

/// The mark of an element, 0 for none; scalars stand for every element.
inline uint32_t markAt(const interpreter::Tile &tile, size_t i) {
  return tile.marks ? (*tile.marks)[tile.marks->size() == 1 ? 0 : i] : 0;
}

} // namespace nereid::check
