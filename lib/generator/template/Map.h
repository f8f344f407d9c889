// SPDX-License-Identifier: Apache-2.0
// Kernels of stages that reduce nothing: each program computes a tile of one to three dimensions.
// The last dimension follows what most bytes lie contiguous along; one before it what the others
// do, as in a transpose, or an iterator along which much of what is computed stays the same, as the
// weights of a pixel do in all channels; the first one is all other iterators, packed.
#pragma once

#include "lib/generator/template/StageKernel.h"

namespace nereid::generator {

/// The dimensions of the tile that is tried first.
std::vector<TileDim> firstTile(const Program &program, const std::vector<Store> &stores);

/// The iterator over parts that the stores' reductions join, where each is a number of a row alone:
/// a program joins them for its rows, which takes less than a launch. Nothing where a tile would
/// join them for each of its elements.
std::optional<IteratorId> joinedParts(const Program &program, const std::vector<Store> &stores);

/// The kernel `name` of `stores`, which share their iterators, over a tile of `dims`, which have
/// each of these once. The program keeps the laws and is normalised. E0607 for what binds an
/// iterator but those of joinedParts(), for random numbers and for what memory cannot accumulate.
/// `onDevices`: what devices store instead, see ChosenPlaces.h.
Result<StageKernel> emitMap(const Program &program, const std::string &name,
                            const std::vector<Store> &stores, std::vector<TileDim> dims,
                            const std::optional<std::vector<Store>> &onDevices = std::nullopt);

} // namespace nereid::generator
