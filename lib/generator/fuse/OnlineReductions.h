// SPDX-License-Identifier: Apache-2.0
// Reductions that need another one, online: made in the walk over the line that makes that one.
//
//   top = max[j](s[j]);  total = sum[j](exp(s[j] - top))
//
// are the two components of one reduction by the monoid "logsumexp", whose parts are joined by exp
// of what their largest elements are apart. Beside a mean m,
//
//   sum[j]((x[j] - m)²)  =  q + (c - m) (2 e + n (c - m))
//
// where "welford" gives the number n of elements, their mean as it was rounded, c, and the sums e
// and q of distances and of squared ones from c. Two parts have a mean in common, to which their
// sums are moved by the same identity, as in split/Distances.h: nothing is lost by what means are
// rounded by, and m is whatever the program says. Rows that are walked over in pieces are read once
// less. Columns are not made so: a turn has few elements of each, and what joins them took what the
// walk had saved.
#pragma once

#include "lib/generator/program/Program.h"

namespace nereid::generator {

struct OnlineStores {
  std::vector<Store> inPieces; ///< of rows that one program walks over
  /// Of rows in parts (split/Split.h), which have a form of their own for squared distances.
  std::vector<Store> inParts;
};

/// The stores with such reductions, or as they are where these need no walk less. Program: nodes.
OnlineStores withOnlineReductions(Program &program, const std::vector<Store> &stores);

} // namespace nereid::generator
