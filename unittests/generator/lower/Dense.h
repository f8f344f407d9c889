// SPDX-License-Identifier: Apache-2.0
// Tensors that are there, all elements in a row, and views that copy: what lazy views are compared
// with. Each is written as a walk over its result's positions, and knows nothing of index
// expressions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace nereid::generator {

struct Dense {
  using Position = std::vector<int64_t>;

  Position shape;
  std::vector<double> elements;

  /// The tensor of this shape whose elements `at` gives.
  static Dense make(Position shape, const std::function<double(const Position &)> &at);
  double operator()(const Position &position) const;
};

Dense permute(const Dense &x, const std::vector<size_t> &order);
Dense expand(const Dense &x, size_t dim, int64_t size);
Dense reshape(const Dense &x, Dense::Position shape);
Dense slice(const Dense &x, size_t dim, int64_t start, int64_t count, int64_t step);
Dense flip(const Dense &x, size_t dim);
Dense insertDim(const Dense &x, size_t dim);
Dense pad(const Dense &x, size_t dim, int64_t before, int64_t after, double value);
Dense cat(const std::vector<Dense> &parts, size_t dim);
Dense windows(const Dense &x, size_t dim, int64_t size, int64_t step, int64_t dilation,
              int64_t count);
Dense add(const Dense &a, const Dense &b);
/// The sum over a dimension, or its maximum.
Dense reduce(const Dense &x, size_t dim, bool isMaximum, bool keepsDim);
Dense runningSum(const Dense &x, size_t dim, bool isReverse);

} // namespace nereid::generator
