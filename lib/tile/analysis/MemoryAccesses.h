// SPDX-License-Identifier: Apache-2.0
// Who touches which argument's bytes: each pointer argument of a kernel is followed forwards,
// through arithmetic, branches and loops, to what reads and writes through it.
//
// Two arguments may point to one tensor, as in-place updates do, but not to parts of one that
// overlap at an offset; within one argument any two addresses may be the same.
#pragma once

#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <memory>

namespace mlir {
class OpOperand;
class Pass;
} // namespace mlir

namespace nereid::tile {

/// tile.atomic_rmw or tile.atomic_cas.
bool isAtomic(mlir::Operation *op);

/// Writes memory or talks to the user, itself or in its regions. A volatile load does not.
bool hasSideEffects(mlir::Operation *op);

/// The pointer or tile of pointers through which a load, store or atomic accesses memory; null for
/// other operations.
mlir::Value accessedThrough(mlir::Operation *op);

/// Both are the same numbers or addresses, element by element, as far as comparing what they are
/// made of tells. What has effects, be it a load, is the same as itself alone.
bool isSameValue(mlir::Value a, mlir::Value b);

class MemoryAccesses {
public:
  /// Of all pointer arguments of the function, which has to stay as it is only meanwhile.
  void find(mlir::Operation *function);

  /// The argument that a pointer, or every pointer of a tile, is made from; null when there may be
  /// several, or when it comes from an integer or from memory.
  mlir::Value argumentOf(mlir::Value pointer) const { return arguments.lookup(pointer); }

  /// Some operation may read or write what the argument points to. An argument that nobody can
  /// follow, as it becomes an integer or is stored, is read and written.
  bool isRead(mlir::Value argument) const { return read.contains(argument); }
  bool isWritten(mlir::Value argument) const { return written.contains(argument); }

  /// An element that one access reaches may be another element of the other access: the two may not
  /// take turns element by element. `mayRepeat`: a tile may hold an address more than once.
  bool mayConflict(mlir::Value pointer, mlir::Value other,
                   llvm::function_ref<bool(mlir::Value)> mayRepeat) const;

private:
  void follow(mlir::Value root, mlir::Value argument);
  void noteUse(mlir::OpOperand &use, mlir::Value argument);

  llvm::DenseMap<mlir::Value, mlir::Value> arguments; ///< by pointer; null = unknown
  llvm::DenseSet<mlir::Value> read, written;
};

/// `tile-print-memory-accesses`: remarks about arguments and accesses.
std::unique_ptr<mlir::Pass> createPrintMemoryAccessesPass();

} // namespace nereid::tile
