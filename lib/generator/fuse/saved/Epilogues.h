// SPDX-License-Identifier: Apache-2.0
// What is computed of reductions at their own points, by the kernel that has their results:
//
//   h[n, t] = sum[c](x[n, c, t] * w[c])                 leaves gelu(h), not h:
//   y[n, i] = sum[k](gelu(h[n, i + k]) * u[k])          else each place of each window computes it
//
//   a = sum[k](x * w), b = sum[k](x * v)                leaves silu(a) * b, one value of two
//
// A reduction's kernel stores an element of each point anyway, so that as many bytes are moved, or
// fewer, and the function is computed once for each. It stays with who needs it where somebody else
// needs the reduction in another way, or where what is computed has more points than it.
#pragma once

#include "lib/generator/fuse/saved/SavedValues.h"

namespace nereid::generator {

class Epilogues {
public:
  Epilogues(Program &program, SavedValues &known, BoundNames &names)
      : program(program), known(known), names(names) {}

  /// What the stage that is cut off leaves in the place of `values`, reductions that `group` of
  /// stage `number` needs; `values` themselves where nothing is gained. `owner`, `apart`: see
  /// SavedValues.h.
  std::vector<const Node *> of(const std::vector<const Node *> &values, size_t number,
                               const std::vector<Store> &group, BufferId owner,
                               const std::set<BufferId> &apart);

  /// Whether what the group needs of the reduction has been left by another stage.
  bool isLeft(const Node *value, size_t number, const std::vector<Store> &group, BufferId owner,
              const std::set<BufferId> &apart);

private:
  bool areNeededAlike(const std::vector<const Node *> &values,
                      const std::vector<const Node *> &left, size_t number,
                      const std::vector<Store> &group);
  std::vector<const Node *> joined(const std::vector<const Node *> &values,
                                   const std::vector<Store> &stores);

  Program &program;
  SavedValues &known;
  BoundNames &names;
};

} // namespace nereid::generator
