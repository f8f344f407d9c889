// SPDX-License-Identifier: Apache-2.0
// What reductions and scans share: the tile and axis they work on, and the region that combines two
// elements, elaborated on scalars.
#pragma once

#include "lib/language/emit/Emitter.h"

namespace nereid::language::emit {

/// Makes one element per source of two; what it cannot make is poison.
using Combine = std::function<std::vector<Value>(const std::vector<Value> &first,
                                                 const std::vector<Value> &second)>;

/// The tile to reduce, its axis (none: all elements, the tile is flattened) and keep_dims.
struct Reduction {
  Value input;
  int64_t axis = 0;
  bool isWhole = false;
  bool keepDims = false;
  size_t rank = 0;
};

/// E0215 unless the input is a tile of numbers with such an axis; the name is for messages.
std::optional<Reduction> reductionOf(Emitter &emitter, const Value &input, const Value &axis,
                                     const Value &keepDims, const std::string &name);

/// tile.reduce of the sources, which have the shape of the reduction's input. Poison after an
/// error.
std::vector<Value> emitReduce(Emitter &emitter, const Reduction &reduction,
                              const std::vector<Value> &sources, const Combine &combine);

/// Gives an empty region of tile.reduce or tile.scan its body. False after an error.
bool fillCombineRegion(Emitter &emitter, mlir::Region &region, const std::vector<Value> &sources,
                       const Combine &combine);

} // namespace nereid::language::emit
