// SPDX-License-Identifier: Apache-2.0
// The part of an iteration space that one program of a kernel computes: a block of each dimension.
// A dimension is a list of iterators, packed, the last one innermost. All values of a kernel have
// the tile's rank, with size 1 where they do not vary, so that they broadcast without further
// rules. A dimension that is reduced is whole in the tile, or the program walks over its blocks.
//
//   Tile tile(program, {{"row", "BLOCK_X", {n, c}}, {"col", "BLOCK_Y", {hw}}}, body, arguments);
//   tile.bind();            // row = (pid_row * BLOCK_X + tl.arange(0, BLOCK_X))[:, None], …
//   tile.at(c);             // row % C
//   tile.inside({0, 1});    // row < N_C & col < HW
#pragma once

#include "lib/generator/emit/Arguments.h"

namespace nereid::generator {

enum class DimForm : uint8_t {
  Grid,  ///< each program has one block
  Point, ///< each program has one index: a number, and no axis of the tile
  Whole, ///< the block is not smaller than the dimension: every program has all of it
  Looped ///< every program walks over all blocks
};

struct TileDim {
  std::string index, block;          ///< names in the kernel: of its index and its block's size
  std::vector<IteratorId> iterators; ///< at least one, outermost first
  DimForm form = DimForm::Grid;
  /// Of the block that is tried first; blockAtMost 0: what the launch table's rules say.
  int64_t blockAtLeast = 1, blockAtMost = 0;
  int64_t wholeAtMost = 0; ///< the longest one that is whole in a tile; 0: what the rules say
  /// An iterator of the stores that runs with the only one of `iterators`, which a line binds.
  std::optional<IteratorId> also = std::nullopt;
  /// The largest block as an expression of the launch table, instead of both, see
  /// template/Blocks.h.
  std::string largest = {};
  /// A constexpr: so many blocks of this dimension are taken in turn before the next one of the
  /// dimension behind it, so that programs at a time share more of what they read. "": one.
  std::string group = {};
  /// Whether launches may say that no lane lies beyond the dimension's end, and the constexpr that
  /// says so, once a mask has asked for it.
  bool mayBeEven = false;
  std::string even = {};
};

/// Constexprs with such names follow from sizes alone, as WIDE does.
constexpr std::string_view evenPrefix = "EVEN";

/// Numbers of dimensions of a tile.
using DimSet = std::set<size_t>;

class Tile {
public:
  Tile(const Program &program, std::vector<TileDim> dims, kernel::Body &body, Arguments &arguments);

  /// Another tile of the same program: dimensions of `other` stay as they are bound there, along
  /// the axes that they have there; others are its own.
  Tile(const Tile &other, std::vector<TileDim> dims);

  /// Writes the program's place in the grid: along the last dimension first. `place`: the name of
  /// what says it in place of the program's number, where the grid has several dimensions.
  void bind(const std::string &place = "");
  /// Writes the index along dimensions of its own that are whole.
  void bindOwn();
  /// Writes a loop over the blocks of the dimension that has this form, one at most; `also`: their
  /// own such dimension is the same.
  void loop(const std::function<void()> &inside, const std::vector<Tile *> &also = {});
  /// The same over blocks from `first` to `last`, which is none of them.
  void loop(const kernel::Expr &first, const kernel::Expr &last,
            const std::function<void()> &inside, const std::vector<Tile *> &also = {});
  /// How many blocks a dimension has, of a Point how many indices.
  kernel::Expr blocksOf(const TileDim &dim);

  const std::vector<TileDim> &dimensions() const { return dims; }
  kernel::Expr at(IteratorId iterator) const { return indices.at(iterator); }
  /// The index along a dimension.
  kernel::Expr along(size_t dim) const { return kernel::name(dims[dim].index); }
  /// How many axes, and which one a dimension has that is no Point.
  unsigned rank() const;
  unsigned axisOf(size_t dim) const;
  DimSet dimsOf(const std::set<IteratorId> &iterators) const;
  /// True in lanes that lie in these dimensions' extents; none for no dimension.
  kernel::Expr inside(const DimSet &which);

  /// Where a lane of the stores' iterator is, when that is not its own index.
  void move(IteratorId iterator, kernel::Expr to) { indices[iterator] = std::move(to); }

  /// The dimension that no grid divides, if there is one; of two that is looped.
  std::optional<size_t> reducedDim() const;
  /// All dimensions of that one's form, outermost first: what is reduced whole may have several.
  std::vector<size_t> reducedDims() const;
  /// Whether a value that depends on these is another one in each turn of the loop. Nothing is
  /// where no loop is open.
  bool variesInLoop(const std::set<IteratorId> &iterators) const;
  bool isInLoop() const { return inLoop; }
  /// How many indices of the looped dimension the turn has, as an integer; in the loop alone.
  kernel::Expr countOfTurn();
  /// What `write` writes stands before the loop, if one is open.
  void outside(const std::function<void()> &write);

private:
  kernel::Expr extent(const TileDim &dim);
  void bindGrid(const std::vector<size_t> &grid, const std::string &place,
                std::vector<std::string> &ids);
  void walk(const kernel::Expr &first, const kernel::Expr &end, const std::function<void()> &inside,
            const std::vector<Tile *> &also);
  void regroup(const TileDim &dim, const std::string &own, const std::string &inner,
               const std::string &innerBlocks);
  void bindIndex(size_t dim, const kernel::Expr &first);
  void enter(const std::string &start);
  void bindIterators(const TileDim &dim);

  const Program &program;
  std::vector<TileDim> dims;
  kernel::Body &body;
  Arguments &arguments;
  std::map<IteratorId, kernel::Expr> indices;
  std::map<IteratorId, size_t> dimOf;
  std::map<DimSet, kernel::Expr> masks;
  bool inLoop = false;
  std::string turnStart; ///< of the loop that is open: its first index
};

/// The product of its iterators' extents.
Polynomial extentOf(const TileDim &dim, const Program &program);

} // namespace nereid::generator
