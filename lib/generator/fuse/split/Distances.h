// SPDX-License-Identifier: Apache-2.0
// Sums of squared distances from a number that needs the whole line, as a variance is one, in parts
// that know nothing of each other. A part takes the distances from its own mean, and joining moves
// them to the number m, whatever that is, by what is an identity for any pivot c:
//
//   sum[i]((x[i] - m)²)                                                   i < N
//
//   c[p] = mean[i](x[L*p + i])                                            i of part p
//   e[p] = sum[i](x[L*p + i] - c[p]);  q[p] = sum[i]((x[L*p + i] - c[p])²)
//   sum[p](q[p] + (c[p] - m) * (2 e[p] + n[p] (c[p] - m)))                n[p] elements in part p
//
// So the line is read once where a tile holds a part, and no second pass waits for m. Terms are not
// negative but for e, which is what c was rounded by: nothing cancels, and what c is off by is lost
// twice, as what m is off by in two passes.
#pragma once

#include "lib/generator/fuse/split/Split.h"

namespace nereid::generator {

struct Distances {
  const Node *value = nullptr, *centre = nullptr; ///< x and m
};

/// What the reduction sums up, where it is such a sum; the value needs no reduction, the centre at
/// least one.
std::optional<Distances> distancesOf(const Node &reduction);

/// Where a part lies in the line.
struct PartOfLine {
  std::vector<IteratorId> iterators; ///< that the part's reductions run over
  const Node *inside = nullptr;      ///< the line does not end before the element
  const Node *count = nullptr;       ///< int64: elements of the part
};

/// c, e and q of a part; `value`: there, 0 behind the line's end.
std::vector<const Node *> distancesOfPart(Program &program, const PartOfLine &part,
                                          const Node *value);

/// Squared distances from another number than c: q + away (2 e + n away), away = c - m. `count`: n
/// in their type.
const Node *movedSquares(Program &program, const Node *squares, const Node *distances,
                         const Node *count, const Node *away);

/// The sum over all parts, of whose c, e and q `parts` are what memory has; `count`: as above.
const Node *joinedDistances(Program &program, IteratorId part,
                            const std::vector<const Node *> &parts, const Node *count,
                            const Node *centre);

} // namespace nereid::generator
