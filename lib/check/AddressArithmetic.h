// SPDX-License-Identifier: Apache-2.0
// The additions, subtractions and multiplications of a kernel whose result becomes an offset of a
// pointer, and whether one of them wraps. Other arithmetic may wrap on purpose (hashes, random
// numbers): the search goes back from `tile.addptr` through arithmetic, shapes and loops, and stops
// at what hides the size of a number, such as a remainder, a shift to the right or an exclusive or.
#pragma once

#include "lib/check/Marks.h"

namespace nereid::check {

class AddressArithmetic {
public:
  /// Finds the operations; once per launch.
  void find(mlir::Operation *module);

  /// Marks the elements of the result that do not have the exact value.
  void markOverflows(interpreter::Instance &instance, mlir::Operation *op, Marks &marks) const;

private:
  void visit(mlir::Value value, bool isSigned);

  /// Operations and how their result is read; read both ways it counts as signed.
  llvm::DenseMap<mlir::Operation *, bool> isSignedOf;
  llvm::DenseSet<mlir::Value> visited[2]; ///< read as unsigned, read as signed
};

/// What a value carried by control flow may come from; nothing for other values.
llvm::SmallVector<mlir::Value, 4> sourcesOf(mlir::Value value);

/// The operation in exact numbers, e.g. 65536 * 65536 = 4294967296.
std::string exactText(const Cause &cause);

} // namespace nereid::check
