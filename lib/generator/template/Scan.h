// SPDX-License-Identifier: Apache-2.0
// Kernels of stages that scan a line: [row, r], with the line whole in the tile, or in blocks of it
// and a value that is carried from one to the next. A stage has one scan; all of it is stored at
// the lane's own place.
#pragma once

#include "lib/generator/template/StageKernel.h"

namespace nereid::generator {

/// The Scan or Order of the stores; null: they have none.
const Node *lineOf(const std::vector<Store> &stores);

/// The iterator of the stores that runs along the line: where all of them ask for its values.
/// E0607 where there is no such iterator.
Result<IteratorId> placeOf(const Program &program, const std::vector<Store> &stores,
                           const Node &line);

/// The dimensions of the tile: rows, and the line.
std::vector<TileDim> lineTile(const Program &program, const std::vector<Store> &stores,
                              const Node &line, IteratorId place, DimForm form);

/// The kernels of the stage: of a line whose length is not known, whole and looped.
Result<std::vector<StageKernel>> emitScan(const Program &program, const std::string &name,
                                          const std::vector<Store> &stores, const Node &line);

} // namespace nereid::generator
