// SPDX-License-Identifier: Apache-2.0
// Kernels of stages that sort lines, stable. A line that fits a tile is sorted there: each key has
// the order of its element in the high half of 64 bits and the position in the low one. Keys of
// elements of 64 bits are sorted by their low half first, then by the high one.
//
// A longer line takes two kernels and a workspace: the first sorts blocks of it; the second looks
// up, for each key, how many of every block are smaller, which is where it belongs. On devices so
// do few lines that a tile could hold: one program would leave the others without work.
//
// Where up to 16 elements are asked for, none are sorted: each is the smallest above the last one.
// Of a longer line the first kernel chooses so many from each block, the second from what was
// chosen.
#pragma once

#include "lib/generator/template/StageKernel.h"

namespace nereid::generator {

/// Adds the workspaces to the program.
Result<std::vector<StageKernel>> emitOrder(Program &program, const std::string &name,
                                           const std::vector<Store> &stores, const Node &line);

} // namespace nereid::generator
