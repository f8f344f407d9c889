// SPDX-License-Identifier: Apache-2.0
// Kernels of stages that reduce: all reductions run over the same iterators, which are one
// dimension of the tile, whole or looped; the others are divided by the grid. The last dimension is
// that along which most bytes lie contiguous:
//
//   [row, r]        rows that are reduced: sums, softmax, normalisations
//   [row, plane, r] the same, held whole, where not all accesses go along a row as one: groups of
//                   channels with a weight for each, channels of several images
//   [row, r, col]   columns, and dimensions in the middle
//
// What depends on an iterator that is reduced is written in the same tile, so a softmax reads its
// row once where the row is whole. Looped, there is one pass over the row for all reductions that
// need no other, one for those that need these, …, and one for the stores.
#pragma once

#include "lib/generator/template/StageKernel.h"

namespace nereid::generator {

/// Whether some value of the stores is reduced.
bool reduces(const std::vector<Store> &stores);

/// The extent of what the reductions run over.
Polynomial reducedExtent(const Program &program, const std::vector<Store> &stores);

/// The dimensions of the tile that is tried first; the reduced one has `form`. Of a serial one the
/// block is 1.
std::vector<TileDim> firstReduceTile(const Program &program, const std::vector<Store> &stores,
                                     DimForm form);

/// The elements that a tile needs to hold what is reduced whole, as text of the launch table.
std::string heldLength(const Program &program, const std::vector<Store> &stores);

/// Whether the reductions are so short, at all sizes, that each program takes one element after the
/// other of them for many results that are neighbours: windows of pooling, of convolutions of
/// single channels. Nothing is written along such a reduction.
bool isSerial(const Program &program, const std::vector<Store> &stores);

/// The kernel `name` of `stores` over a tile of `dims`. Reductions share their iterators, see
/// fuse/Partition.h. E0607 for other binders and for conditions that rest on reductions in a loop.
Result<StageKernel> emitReduce(const Program &program, const std::string &name,
                               const std::vector<Store> &stores, std::vector<TileDim> dims);

} // namespace nereid::generator
