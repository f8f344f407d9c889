// SPDX-License-Identifier: Apache-2.0
// One iteration of an unrolled loop as a list that another iteration can be compared with: what its
// operations are, where their operands come from, and the integer constants apart.
#pragma once

#include "lib/tile/ir/Tile.h"

#include "mlir/IR/Operation.h"

#include <vector>

namespace nereid::tile {

/// Where an operand comes from.
struct Use {
  enum Kind { Inside, Previous, Before } kind;
  size_t number;      ///< of the value in its own (Inside) or the previous iteration (Previous)
  mlir::Value before; ///< the value itself, where it is from before
  mlir::OpOperand *operand;
};

/// An integer, also as a float, or a tile of one.
struct IntegerConstant {
  mlir::Operation *op;
  int64_t value;
};

class Iteration {
public:
  Iteration(llvm::SmallVector<mlir::Operation *> ops, const Iteration *previous);

  /// The same operations, with the same types, attributes and operands from inside.
  bool doesTheSameAs(const Iteration &other) const;
  /// The same operands from outside: the same values of the iteration before, or the same values.
  bool takesTheSameAs(const Iteration &other) const;
  /// Where this one takes a value of the iteration before, the first one may take anything; else
  /// it takes the same.
  bool isFedAs(const Iteration &first) const;
  /// Its constants are those of `first` plus `distance` times what `second` adds.
  bool continuesConstants(const Iteration &first, const Iteration &second, int64_t distance) const;
  /// Whether it has a volatile load, or an atomic whose result is used.
  bool polls() const;

  llvm::SmallVector<mlir::Operation *> ops; ///< in one block, neighbours
  std::vector<mlir::Value> values;          ///< everything defined here, also in regions
  std::vector<Use> uses;
  std::vector<IntegerConstant> constants;

private:
  void add(mlir::Operation &op, const Iteration *previous);
  void define(mlir::Value value);

  std::vector<const void *> shape; ///< names, types, attributes, counts
  llvm::DenseMap<mlir::Value, size_t> numbers;
};

} // namespace nereid::tile
