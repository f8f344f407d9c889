// SPDX-License-Identifier: Apache-2.0
// Which numbers carry the error of a function that is not correctly rounded, or the roundings of
// many turns of a loop, by a few units in the last place: rounding a quotient of such a number
// correctly brings nothing.
#pragma once

#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseMap.h"

namespace nereid::lowering {

/// Follows float arithmetic, choices and what loops carry back to functions of the math dialect;
/// what comes from memory, from integers or from other threads carries none. It looks at operations
/// before they are expanded, and remembers what it found: none may be erased in between.
class ApproximatedValues {
public:
  virtual ~ApproximatedValues() = default;
  bool contains(mlir::Value value);

protected:
  /// Of operations of other dialects and of arguments of their blocks: whether they carry an error
  /// of their own, and whether they hand on that of their operands.
  virtual bool isOrigin(mlir::Value) const { return false; }
  virtual bool isHandedOn(mlir::Operation *) const { return false; }

private:
  bool find(mlir::Value value);
  llvm::DenseMap<mlir::Value, bool> known;
};

} // namespace nereid::lowering
