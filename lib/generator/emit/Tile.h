// SPDX-License-Identifier: Apache-2.0
// The part of an iteration space that one program of a kernel computes: a block of each dimension.
// A dimension is a list of iterators, packed, the last one innermost. All values of a kernel have
// the tile's rank, with size 1 where they do not vary, so that they broadcast without further
// rules.
//
//   Tile tile(program, {{"row", "BLOCK_X", {n, c}}, {"col", "BLOCK_Y", {hw}}}, body, arguments);
//   tile.bind();            // row = (pid_row * BLOCK_X + tl.arange(0, BLOCK_X))[:, None], …
//   tile.at(c);             // row % C
//   tile.inside({0, 1});    // row < N_C & col < HW
#pragma once

#include "lib/generator/emit/Arguments.h"

namespace nereid::generator {

struct TileDim {
  std::string index, block;          ///< names in the kernel: of its index and its block's size
  std::vector<IteratorId> iterators; ///< at least one, outermost first
};

/// Numbers of dimensions of a tile.
using DimSet = std::set<size_t>;

class Tile {
public:
  Tile(const Program &program, std::vector<TileDim> dims, kernel::Body &body, Arguments &arguments);

  /// Writes the program's place in the grid: along the last dimension first.
  void bind();

  const std::vector<TileDim> &dimensions() const { return dims; }
  kernel::Expr at(IteratorId iterator) const { return indices.at(iterator); }
  /// The index along a dimension.
  kernel::Expr along(size_t dim) const { return kernel::name(dims[dim].index); }
  DimSet dimsOf(const std::set<IteratorId> &iterators) const;
  /// True in lanes that lie in these dimensions' extents; none for no dimension.
  kernel::Expr inside(const DimSet &which);

private:
  kernel::Expr extent(const TileDim &dim);
  void bindIterators(const TileDim &dim);

  const Program &program;
  std::vector<TileDim> dims;
  kernel::Body &body;
  Arguments &arguments;
  std::map<IteratorId, kernel::Expr> indices;
  std::map<IteratorId, size_t> dimOf;
  std::map<DimSet, kernel::Expr> masks;
};

/// The product of its iterators' extents.
Polynomial extentOf(const TileDim &dim, const Program &program);

} // namespace nereid::generator
