// SPDX-License-Identifier: Apache-2.0
// Elements of lines that tests of reductions have in common.
#pragma once

#include <cstddef>
#include <vector>

namespace nereid::generator {

/// Small whole numbers of both signs.
std::vector<double> lineOf(std::size_t count);

/// A line whose parts have means of their own, far from 0, where a float32 is rounded by up to
/// 2^-12: that times the distance of a part from the mean of all would be 1e-4 of the sum.
struct FarLine {
  std::vector<double> elements;
  double squares = 0; ///< the sum of squared distances from the mean
};
FarLine farLine();

} // namespace nereid::generator
