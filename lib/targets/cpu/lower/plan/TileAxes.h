// SPDX-License-Identifier: Apache-2.0
// How the elements of a tile vary along each of its dimensions, found by reading the program once:
// not at all, by a constant step, or arbitrarily. Everything the loops know about contiguous
// addresses and about masks that are loop bounds comes from here.
#pragma once

#include "lib/tile/analysis/Coordinates.h"
#include "lib/tile/analysis/Inductions.h"
#include "lib/tile/analysis/MaskBounds.h"
#include "lib/tile/ir/Tile.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"

#include <optional>

namespace nereid::cpu {

enum class AxisKind : uint8_t { Uniform, Linear, General };

struct Axis {
  AxisKind kind = AxisKind::General;
  /// Of a Linear axis: the step from one element to the next when it is a constant.
  std::optional<int64_t> stride;
};

/// Exact: true for the values themselves, integer wrap-around included.
/// Address: additionally a widened offset is taken not to have wrapped before, as addresses may be.
/// Assumed: additionally `linear % uniform` does not wrap and `linear / uniform` does not step;
/// whoever uses this view must check that at run time.
enum class AxisView : uint8_t { Exact, Address, Assumed };

using tile::Dims;
using tile::isElementwise;
using tile::isTrivialReshape;
using tile::mapDims;
using tile::readsElsewhere;
using tile::zeroDim;

class TileAxes {
public:
  /// Visits every operation in program order; afterwards `axis` answers from tables.
  void analyse(mlir::Operation *function);

  Axis axis(mlir::Value tile, unsigned dim, AxisView view) const;
  bool isUniform(mlir::Value tile, unsigned dim) const {
    return axis(tile, dim, AxisView::Exact).kind == AxisKind::Uniform;
  }
  bool isUniformEverywhere(mlir::Value tile) const;
  /// A tile of addresses may hold one more than once, as far as is known when it is compiled.
  bool mayRepeat(mlir::Value pointer) const;
  /// The term of a mask as a bound along this dimension; nothing when it is none, or its numbers
  /// may wrap around.
  std::optional<tile::MaskBound> bound(mlir::Value term, unsigned dim) const;
  /// Of a tile that a loop carries and that needs no place in memory, as each element is known from
  /// the first one and what was added since; null for others.
  const tile::Induction *induction(mlir::Value carried) const;
  /// Coordinates with every dimension the tile does not depend on replaced by zero.
  Dims normalise(mlir::Value tile, const Dims &dims) const;

private:
  using Axes = llvm::SmallVector<Axis, 2>;
  struct Views {
    Axes byView[3];
  };
  void analyseBlock(mlir::Block &block);
  void analyseLoop(mlir::Operation *op);
  void analyseOp(mlir::Operation *op);
  Axes elementwise(mlir::Operation *op, AxisView view, unsigned rank) const;
  const Axes *find(mlir::Value tile, AxisView view) const;

  llvm::DenseMap<mlir::Value, Views> table;
  llvm::DenseMap<mlir::Value, tile::Induction> inductions;
};

/// The shape of a tile; empty for a scalar.
llvm::ArrayRef<int64_t> shapeOf(mlir::Value value);
mlir::Type elementTypeOf(mlir::Value value);
bool isTile(mlir::Value value);
bool isPointerTile(mlir::Value value);
/// A cross-lane operation: reads whole tiles from scratch and writes whole tiles there, in loops of
/// its own.
bool isCrossLane(mlir::Operation *op);
/// In how many tables a histogram counts: neighbours in different ones where clearing and adding
/// these up costs little, as a number that comes again would wait for its own count to be written.
int64_t histogramTables(tile::HistogramOp op);
/// Numbers in all of them: each has a bin more, for what is not counted.
int64_t histogramEntries(tile::HistogramOp op);

} // namespace nereid::cpu
