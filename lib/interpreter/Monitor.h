// SPDX-License-Identifier: Apache-2.0
// Somebody who watches a launch while the interpreter runs it, such as lib/check. The interpreter
// calls it around every access to memory and after every operation; without one it pays a test of a
// null pointer. A monitor decides which elements may touch memory, so it may report an access that
// is wrong and let the launch go on.
#pragma once

#include "lib/interpreter/Tile.h"

namespace mlir {
class Operation;
}

namespace nereid::interpreter {

class Instance;
struct Launch;

class Monitor {
public:
  virtual ~Monitor() = default;

  /// Once, after the arguments are bound and before the first program instance runs.
  virtual void launchBegins(const Launch &launch) = 0;

  /// Before a load, store or atomic operation. Returns, in the pointer's shape, i1 for the elements
  /// that touch memory: those of the mask without those that lie outside.
  virtual Tile admit(Instance &instance, mlir::Operation *op, const Tile &pointer, const Tile *mask,
                     ElementType type) = 0;

  /// After an atomic operation has worked on one admitted element.
  virtual void atomicDone(Instance &instance, mlir::Operation *op, uint64_t address,
                          ElementType type, bool hasChanged) = 0;

  /// After an operation has its results. May give them marks (see Tile).
  virtual void after(Instance &instance, mlir::Operation *op) = 0;
};

} // namespace nereid::interpreter
