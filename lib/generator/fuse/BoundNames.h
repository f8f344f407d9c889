// SPDX-License-Identifier: Apache-2.0
// Values whose reductions are over iterators called by where they stand alone, whatever stages
// call them, so that equal values of two stages are told to be equal:
//
//   exp(x[i, j] - max[j](x[i, j]))       both become    exp(x[i, j] - max[a](x[i, a]))
//   exp(x[i, j] - max[k](x[i, k]))
//
// An iterator is that of a reduction's height over its innermost ones, of its place among those it
// is over, and of their extent; none of a reduction inside of another one is then the other's.
#pragma once

#include "lib/generator/program/Program.h"

#include <tuple>

namespace nereid::generator {

class BoundNames {
public:
  explicit BoundNames(Program &program) : program(program) {}

  /// What the free iterators of one value are called in the other, if that makes the same value of
  /// it.
  std::optional<std::map<IteratorId, IteratorId>> renaming(const Node *from, const Node *to);
  bool areAlike(const Node *one, const Node *other) {
    return one == other || renaming(one, other).has_value();
  }

private:
  /// The value under such names. The program gets iterators for them.
  const Node *renamed(const Node *value);
  const Node *made(NodeParts parts);
  /// Reductions on the longest way down from the node, which is renamed.
  int64_t heightOf(const Node *node);
  IteratorId iteratorOf(int64_t height, size_t place, const Iterator &like);

  Program &program;
  std::map<const Node *, const Node *> done;
  std::map<const Node *, int64_t> heights;
  std::vector<std::tuple<int64_t, size_t, IteratorId>> iterators;
};

} // namespace nereid::generator
