// SPDX-License-Identifier: Apache-2.0
// The reductions of one kernel as several: where few programs would each reduce a long line, parts
// of the line are reduced by programs of their own and then joined.
//
//   out[j] = max[i](x[i, j])
//
//   part[p, j] = max[i](where(L*p + i < N, x[L*p + i, j], -inf))      i < L, p < parts
//   out[j] = max[p](part[p, j])
//
// Of reductions that need others (softmax) each level is a pair of stages, but for sums of squared
// distances from what a level says, which are of that level (Distances.h). What is written along
// the reduced iterators is a stage of its own behind them, whose programs join the last parts
// themselves where their rows have long pieces of the line (template/Map.h). Products are split
// along k. The number of parts is fixed and none depends on who is first: results do not change
// between runs.
#pragma once

#include "lib/generator/program/Program.h"

namespace nereid::generator {

/// How programs walk in order along what a stage has stores over (SplitWalk.h).
struct WalkOrder {
  IteratorId part = 0, turn = 0;   ///< a program has one part and all of its turns
  std::vector<IteratorId> cleared; ///< along which it stores these first
  std::vector<Store> clearing;
};

struct Split {
  std::vector<std::vector<Store>> stages; ///< one kernel's stores each, in order
  std::vector<BufferId> workspaces;       ///< that they leave to each other
  std::optional<WalkOrder> walk = std::nullopt;
};

/// The stores' reductions in `parts` parts, along the outermost iterator that they bind; products
/// along all of them together, as the outermost one of a window has few elements. The
/// program gets temporaries and iterators; its stages stay as they are. Nothing where a reduction
/// reads at an index from memory, which only conditions around it may make valid.
std::optional<Split> splitReductions(Program &program, const std::vector<Store> &stores,
                                     int64_t parts);

} // namespace nereid::generator
