// SPDX-License-Identifier: Apache-2.0
// The monitor behind `nereid check`: looks at every access and every operation of a launch and
// collects what is wrong. An access outside its tensor does not happen and the launch goes on.
#pragma once

#include "lib/check/AddressArithmetic.h"
#include "lib/check/Findings.h"
#include "lib/check/Hints.h"
#include "lib/check/IndexComparisons.h"
#include "lib/check/Initialised.h"
#include "lib/check/Marks.h"
#include "lib/check/Overlaps.h"
#include "lib/check/Races.h"
#include "lib/interpreter/Monitor.h"

#include <set>
#include <string>

namespace nereid::check {

class Checker final : public interpreter::Monitor {
public:
  /// `emptyTensors`: parameters whose tensors have no contents before the launch.
  explicit Checker(std::set<std::string> emptyTensors) : emptyTensors(std::move(emptyTensors)) {}

  void launchBegins(const interpreter::Launch &launch) override;
  interpreter::Tile admit(interpreter::Instance &instance, mlir::Operation *op,
                          const interpreter::Tile &pointer, const interpreter::Tile *mask,
                          interpreter::ElementType type) override;
  void atomicDone(interpreter::Instance &instance, mlir::Operation *op, uint64_t address,
                  interpreter::ElementType type, bool hasChanged) override;
  void after(interpreter::Instance &instance, mlir::Operation *op) override;

  std::vector<Finding> takeFindings() { return findings.take(); }

private:
  /// One element of an access that is about to happen.
  struct Element {
    interpreter::Instance &instance;
    mlir::Operation *op;
    const interpreter::Tile &pointer;
    size_t index;
    unsigned bytes;
  };

  /// What all elements of an access have in common.
  struct Use {
    bool isLoad = false, isStore = false, polls = false;
    uint32_t program = 0, operation = 0; ///< numbers
  };

  void checkSignature(const interpreter::Launch &launch);
  bool admitElement(const Element &element, const Use &use);
  bool isSaidOfAddress(const Element &element, const interpreter::Tile &mask) const;
  void reportOutside(const Element &element);
  void reportUninitialised(const Element &element, const interpreter::Allocation &tensor,
                           uint64_t offset, unsigned missing);
  /// The element, of `value`, and the one called `other` are stored to one address.
  void reportSameElement(const Element &element, const interpreter::Tile &value, size_t other);
  void reportRace(interpreter::Instance &instance, mlir::Operation *op, uint64_t address,
                  const Races::Access &access, const Races::Access &other);
  void reportOverlap(interpreter::Instance &instance, mlir::Operation *op,
                     const Overlaps::Access &access, const Overlaps::Access &other);
  /// What it is of the overlaps' business; `position` is the element's, of a tile.
  void recordOverlap(interpreter::Instance &instance, mlir::Operation *op, Overlaps::Access access);
  /// The element depends on the marked cause; `use` says what it is needed for.
  void reportMark(const Element &element, uint32_t mark, const std::string &use);
  void checkAssumption(interpreter::Instance &instance, tile::AssumeOp op);
  void markMaskedOff(interpreter::Instance &instance, tile::LoadOp op);
  void markDivisions(interpreter::Instance &instance, mlir::Operation *op);
  uint32_t numberOf(mlir::Operation *op);
  /// Number of the innermost loop around the operation, if that has a product; 0: none.
  uint32_t productLoopOf(mlir::Operation *op);

  std::set<std::string> emptyTensors;
  Findings findings;
  Marks marks;
  AddressArithmetic arithmetic;
  IndexComparisons comparisons;
  Hints hints;
  Initialised initialised;
  Races races;
  Overlaps overlaps;
  llvm::DenseMap<uint32_t, uint32_t> phases, barriers; ///< of programs, see Overlaps::Access
  llvm::DenseMap<mlir::Operation *, uint32_t> numbers; ///< of operations, from 1 on
  llvm::DenseMap<mlir::Operation *, uint32_t> productLoops;
  std::vector<mlir::Operation *> operations; ///< by number
};

} // namespace nereid::check
