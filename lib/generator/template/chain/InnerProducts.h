// SPDX-License-Identifier: Apache-2.0
// Products of queries and keys within the turns of a loop over the keys, of which a kernel computes
// something else at each of both: scores of attention, gradients of its weights. Queries stay in
// registers; each product's depth is whole in a tile.
#pragma once

#include "lib/generator/fuse/Contraction.h"
#include "lib/generator/template/StageKernel.h"

#include <list>

namespace nereid::generator {

/// Sizes of a row of queries, keys or values to which a launch takes kernels with it in one tile.
constexpr int64_t chainDepthAtMost = 256;

class InnerProducts {
public:
  /// `ofScores`: dimensions of the tile of both, its last one the keys, the one before it the
  /// queries. The products must outlive it.
  InnerProducts(const Program &program, KernelWriting &writing,
                const std::vector<Contraction> &products);

  /// The dimensions of depth, before any tile is made.
  const std::vector<TileDim> &depths() const { return ownDepths; }
  void makeTiles(const std::vector<TileDim> &ofScores);
  /// Writes the indices along whole dimensions, then the queries, before the loop.
  void bind();
  void load();
  /// Tiles that the loop over the keys binds as well.
  std::vector<Tile *> tiles();
  /// Gives the scores' values the products of this turn.
  void give(Values &ofScores);
  /// Before the kernel is taken, and behind it.
  void takeOffsets();
  void finish(StageKernel &made) const;
  /// That each depth fits, as an expression of the launch table.
  std::string condition() const;

private:
  struct One {
    One(const Program &program, KernelWriting &writing, const Contraction &product,
        std::vector<TileDim> ofQueries, std::vector<TileDim> ofKeys)
        : product(product), queries(writing.tile, std::move(ofQueries)),
          keys(writing.tile, std::move(ofKeys)),
          ofQuery(program, {product.a}, queries, writing.body, writing.arguments),
          ofKey(program, {product.b}, keys, writing.body, writing.arguments) {}
    const Contraction &product;
    Tile queries, keys;
    Values ofQuery, ofKey;
    kernel::Expr query = {};
  };

  const Program &program;
  KernelWriting &writing;
  const std::vector<Contraction> &products;
  std::vector<TileDim> ownDepths;
  std::list<One> all; ///< which refer to their own tiles
};

/// "tl.max" or "tl.sum" of scores along the keys, of which one is left.
kernel::Expr alongKeys(const char *function, const kernel::Expr &scores);

} // namespace nereid::generator
