// SPDX-License-Identifier: Apache-2.0
// Decides which tiles are materialised in the scratch arena and which are recomputed where they are
// used, and which operations share one loop nest. A fusion root (the word is XLA's) needs a loop
// nest of its own: a store, a reduction, a dot, a tile to be materialised. Every other tile is a
// fused producer: it is evaluated element by element inside the nests of the roots that reach it.
#pragma once

#include "lib/targets/cpu/Attributes.h"
#include "lib/targets/cpu/lower/plan/TileAxes.h"
#include "lib/tile/analysis/MemoryAccesses.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace nereid::cpu {

struct FusionRoot {
  enum class Kind : uint8_t { Store, Reduce, Materialise };
  Kind kind = Kind::Materialise;
  mlir::Operation *op = nullptr; ///< Store and Reduce
  mlir::Value value;             ///< Materialise: what to compute …
  int target = -1;               ///< … and the buffer it goes to
  bool isCopy = false;    ///< Materialise: an additional buffer, the tile itself stays what it was
  mlir::Value guard = {}; ///< delayed Store: an i1 of the output; false = nothing is stored
  DelayedPart part = DelayedPart::All;
  llvm::ArrayRef<int64_t> shape() const;
};

class FusionPlan {
public:
  explicit FusionPlan(const TileAxes &axes) : axes(axes) {}
  void analyse(mlir::Operation *function);

  /// The tile lives in a scratch buffer: materialised by choice, or result of a reduction, dot or
  /// loop.
  bool isStored(mlir::Value tile) const;
  /// Materialised by choice of this plan: a root at its definition.
  bool isMaterialised(mlir::Value tile) const { return materialised.contains(tile); }
  /// Element type in scratch of a materialised dot operand; null = its own.
  mlir::Type storageType(mlir::Value tile) const { return storage.lookup(tile); }
  unsigned position(mlir::Operation *op) const { return positions.lookup(op); }
  /// Position of the last operation with a nest that reads the tile; 0 when none does.
  unsigned lastUse(mlir::Value tile) const { return uses.lookup(tile).lastPosition; }
  int cost(mlir::Value tile) const;
  /// A materialised tile whose loads are contiguous along another dimension than its last: it wants
  /// a nest of its own, in which it is transposed.
  bool isReadTransposed(mlir::Value tile) const;

  /// The tile whose columns are the rows of a dot's first operand, read where it is materialised;
  /// null when that operand is materialised itself.
  mlir::Value transposedOperand(tile::DotOp dot) const;

  /// Calls visit for every load (its result), stored tile and splatted scalar that evaluating
  /// `tile` at `dims` reads.
  void forEachLeaf(mlir::Value tile, const Dims &dims,
                   llvm::function_ref<void(mlir::Value, const Dims &)> visit) const;
  const tile::MemoryAccesses &memory() const { return accesses; }
  /// See MemoryAccesses::mayConflict.
  bool mayConflict(mlir::Value pointer, mlir::Value other) const {
    return accesses.mayConflict(pointer, other,
                                [&](mlir::Value tile) { return axes.mayRepeat(tile); });
  }
  /// The terms of a mask that are evaluated where it is used.
  void visitMaskTerms(mlir::Value mask, const Dims &dims,
                      llvm::function_ref<void(mlir::Value, const Dims &)> visit) const {
    tile::visitMaskTerms(mask, dims, [&](mlir::Value value) { return isStored(value); }, visit);
  }

private:
  friend class GroupState;
  struct Use {
    unsigned first = ~0u;      ///< position of the first nest that reads it
    unsigned last = 0;         ///< of the last one (of the group's first root)
    unsigned lastPosition = 0; ///< of the last reading root itself
    bool insideLoop = false;   ///< read in a loop it is defined outside of
    bool repeated = false;     ///< read once per element of another dimension
    bool forced = false;
  };
  void number(mlir::Operation *function);
  void simulateGroups(mlir::Block &block);
  void decide(mlir::Operation *op);
  void decide(mlir::Operation *op, mlir::Value tile);
  void note(mlir::Operation *user, mlir::Value tile, unsigned group, unsigned position, Use flags);
  bool shouldMaterialise(mlir::Operation *op, mlir::Value tile, const Use &use) const;
  bool hasEffectBetween(unsigned after, unsigned before) const;
  bool clashesWithStore(tile::LoadOp load) const;
  bool readsMemory(mlir::Value tile) const;
  bool storesTransposed(tile::StoreOp store) const;

  const TileAxes &axes;
  tile::MemoryAccesses accesses;
  llvm::DenseMap<mlir::Operation *, unsigned> positions;
  llvm::DenseMap<mlir::Operation *, unsigned>
      groups;                          ///< root -> position of its group's first root
  llvm::SmallVector<unsigned> effects; ///< positions of everything that writes
  llvm::SmallVector<tile::StoreOp> stores;
  llvm::DenseMap<mlir::Value, Use> uses;
  llvm::DenseMap<mlir::Value, int> costs;
  llvm::DenseMap<mlir::Value, int> depths;
  llvm::DenseSet<mlir::Value> materialised;
  llvm::DenseSet<mlir::Value> loadful; ///< tiles whose evaluation reads memory
  llvm::DenseMap<mlir::Value, mlir::Type> storage;
};

/// The roots collected for one loop nest, and the question whether another may join.
class GroupState {
public:
  explicit GroupState(const FusionPlan &plan) : plan(plan) {}
  bool empty() const { return roots.empty(); }
  llvm::ArrayRef<FusionRoot> all() const { return roots; }
  bool canJoin(const FusionRoot &root) const;
  void add(const FusionRoot &root);
  void clear();
  /// Evaluating this (scalar or tile) needs a result of the group.
  bool isNeededBy(mlir::Value value) const;
  bool writesMemory() const { return !storePointers.empty(); }
  bool materialises(mlir::Value tile) const { return materialisedHere.contains(tile); }
  bool reads(mlir::Value stored) const;

private:
  const FusionPlan &plan;
  llvm::SmallVector<FusionRoot> roots;
  llvm::DenseSet<mlir::Value> reduced;          ///< results of reductions in the group
  llvm::DenseSet<mlir::Value> materialisedHere; ///< tiles written to scratch by the group
  llvm::SmallVector<mlir::Value> loadPointers;  ///< of loads evaluated in the group
  llvm::SmallVector<mlir::Value> storePointers;
  unsigned firstStore = ~0u;
  int reduceAxis = -1;
};

/// An element of the root needs none of `stored` but the one with its own coordinates.
bool readsInPlace(const FusionPlan &plan, const FusionRoot &root, mlir::Value stored);

/// The identity coordinates of a tile of this rank.
Dims identityDims(size_t rank);

} // namespace nereid::cpu
