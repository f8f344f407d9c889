// SPDX-License-Identifier: Apache-2.0
// A scan in parts: where few programs would each walk along a long line, programs sum up its parts,
// one scans these sums, and each part is scanned behind what lies before it.
//
//   out[i] = scan[s](x[s], at i)
//
//   part_1[p] = sum[i](where(L*p + i < N, x[L*p + i], 0))       i < L, p < parts
//   part_2[p] = scan[q](part_1[q], at p)
//   out[L*p + i] = where(p >= 1, part_2[p - 1], 0)
//                  + scan[s](where(L*p + s < N, x[L*p + s], 0), at i)
//
// The number of parts is fixed and none waits for another: results do not change between runs.
#pragma once

#include "lib/generator/fuse/split/Split.h"

namespace nereid::generator {

/// The stores' scan along `line` in `parts` parts. Nothing where it joins several values, or where
/// the stage reads at an index from memory, which only conditions around it may make valid.
std::optional<Split> splitScan(Program &program, const std::vector<Store> &stores, const Node &line,
                               int64_t parts);

} // namespace nereid::generator
