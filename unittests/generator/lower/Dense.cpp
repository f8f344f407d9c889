// SPDX-License-Identifier: Apache-2.0
// Views that copy, see Dense.h.
#include "unittests/generator/lower/Dense.h"

#include <algorithm>

namespace nereid::generator {
namespace {

using Position = Dense::Position;

Position with(Position list, size_t at, int64_t value) {
  list[at] = value;
  return list;
}
Position without(Position list, size_t at) {
  list.erase(list.begin() + static_cast<std::ptrdiff_t>(at));
  return list;
}
Position inserted(Position list, size_t at, int64_t value) {
  list.insert(list.begin() + static_cast<std::ptrdiff_t>(at), value);
  return list;
}

} // namespace

Dense Dense::make(Position shape, const std::function<double(const Position &)> &at) {
  Dense result{shape, {}};
  int64_t count = 1;
  for (int64_t size : shape) {
    count *= size;
  }
  Position position(shape.size(), 0);
  for (int64_t number = 0; number < count; ++number) {
    result.elements.push_back(at(position));
    for (size_t dim = shape.size(); dim-- > 0;) {
      if (++position[dim] < shape[dim]) {
        break;
      }
      position[dim] = 0;
    }
  }
  return result;
}

double Dense::operator()(const Position &position) const {
  size_t offset = 0;
  for (size_t dim = 0; dim < shape.size(); ++dim) {
    offset = offset * static_cast<size_t>(shape[dim]) + static_cast<size_t>(position[dim]);
  }
  return elements.at(offset);
}

Dense permute(const Dense &x, const std::vector<size_t> &order) {
  Position shape;
  for (size_t dim : order) {
    shape.push_back(x.shape[dim]);
  }
  return Dense::make(shape, [&](const Position &to) {
    Position from(to.size());
    for (size_t dim = 0; dim < order.size(); ++dim) {
      from[order[dim]] = to[dim];
    }
    return x(from);
  });
}

Dense expand(const Dense &x, size_t dim, int64_t size) {
  return Dense::make(with(x.shape, dim, size),
                     [&](const Position &to) { return x(with(to, dim, 0)); });
}

Dense reshape(const Dense &x, Position shape) { return {std::move(shape), x.elements}; }

Dense slice(const Dense &x, size_t dim, int64_t start, int64_t count, int64_t step) {
  return Dense::make(with(x.shape, dim, count),
                     [&](const Position &to) { return x(with(to, dim, start + step * to[dim])); });
}

Dense flip(const Dense &x, size_t dim) {
  return Dense::make(
      x.shape, [&](const Position &to) { return x(with(to, dim, x.shape[dim] - 1 - to[dim])); });
}

Dense insertDim(const Dense &x, size_t dim) { return {inserted(x.shape, dim, 1), x.elements}; }

Dense pad(const Dense &x, size_t dim, int64_t before, int64_t after, double value) {
  return Dense::make(with(x.shape, dim, x.shape[dim] + before + after), [&](const Position &to) {
    int64_t from = to[dim] - before;
    return from < 0 || from >= x.shape[dim] ? value : x(with(to, dim, from));
  });
}

Dense cat(const std::vector<Dense> &parts, size_t dim) {
  Position shape = parts[0].shape;
  shape[dim] = 0;
  for (const Dense &part : parts) {
    shape[dim] += part.shape[dim];
  }
  return Dense::make(shape, [&](const Position &to) {
    int64_t at = to[dim];
    size_t number = 0;
    while (at >= parts[number].shape[dim]) {
      at -= parts[number++].shape[dim];
    }
    return parts[number](with(to, dim, at));
  });
}

Dense windows(const Dense &x, size_t dim, int64_t size, int64_t step, int64_t dilation,
              int64_t count) {
  Position shape = with(x.shape, dim, count);
  shape.push_back(size);
  return Dense::make(shape, [&](const Position &to) {
    Position from(to.begin(), to.end() - 1);
    return x(with(from, dim, to[dim] * step + to.back() * dilation));
  });
}

Dense add(const Dense &a, const Dense &b) {
  return Dense::make(a.shape, [&](const Position &to) { return a(to) + b(to); });
}

Dense reduce(const Dense &x, size_t dim, bool isMaximum, bool keepsDim) {
  Position shape = keepsDim ? with(x.shape, dim, 1) : without(x.shape, dim);
  return Dense::make(shape, [&](const Position &to) {
    Position from = keepsDim ? to : inserted(to, dim, 0);
    double result = x(from);
    for (from[dim] = 1; from[dim] < x.shape[dim]; ++from[dim]) {
      result = isMaximum ? std::max(result, x(from)) : result + x(from);
    }
    return result;
  });
}

Dense runningSum(const Dense &x, size_t dim, bool isReverse) {
  return Dense::make(x.shape, [&](const Position &to) {
    int64_t begin = isReverse ? to[dim] : 0, end = isReverse ? x.shape[dim] - 1 : to[dim];
    double sum = 0;
    for (int64_t i = begin; i <= end; ++i) {
      sum += x(with(to, dim, i));
    }
    return sum;
  });
}

} // namespace nereid::generator
