// SPDX-License-Identifier: Apache-2.0
// Factors that several products need and that are computed of a reduction at the same points:
//
//   h[i, j] = sum[k](x[i, k] * w[j, k])
//   p[i, a] = sum[j](exp(h[i, j]) * u[a, j])
//   q[j, a] = sum[i](exp(h[i, j]) * v[a, i])
//
// The sum h is a stage of its own, which leaves something in memory for each i and j anyway: that
// is exp(h) then, computed once, and where the elements of h are. Left h, each product would
// compute it again, in each of its blocks of columns. There are no more kernels and, for a factor,
// no more memory than without; one that has no such sum stays with the products.
#pragma once

#include "lib/generator/fuse/BoundNames.h"

#include <functional>

namespace nereid::generator {

class SharedFactors {
public:
  /// Of the stages, by their numbers, that `isAsked`, before anything is cut off them.
  SharedFactors(const Program &program, BoundNames &names,
                const std::function<bool(size_t)> &isAsked);

  /// Those that products of the group compute, as they are called there.
  std::vector<const Node *> in(const std::vector<Store> &group);

private:
  BoundNames &names;
  std::vector<const Node *> shared;
};

} // namespace nereid::generator
