// SPDX-License-Identifier: Apache-2.0
// Values that stages have left in memory, found again by later ones, which have iterators of their
// own:
//
//   saved[i, j] = sum[k](x[i, k] * y[j, k])
//   sum[c](x[a, c] * y[b, c])                 is saved[a, b]
#pragma once

#include "lib/generator/fuse/BoundNames.h"

namespace nereid::generator {

class SavedValues {
public:
  SavedValues(Program &program, BoundNames &names) : program(program), names(names) {}

  /// `buffer` has the value at the iterators it depends on, in their order. `owner`: what launches
  /// it, see `find`.
  void add(const Node *value, BufferId buffer, BufferId owner);

  /// The element that is the value; null when nothing has left it. An owner that `isApart` has what
  /// serves it for itself, because it may not be launched.
  const Node *find(const Node *value, BufferId owner, const std::set<BufferId> &isApart);

private:
  bool isLasting(const Node *value) const;

  struct Saved {
    const Node *value = nullptr;
    BufferId buffer = 0, owner = 0;
  };
  Program &program;
  BoundNames &names;
  std::vector<Saved> all;
};

} // namespace nereid::generator
