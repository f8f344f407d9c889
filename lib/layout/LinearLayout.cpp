// SPDX-License-Identifier: Apache-2.0
#include "lib/layout/LinearLayout.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <numeric>

namespace nereid::layout {
namespace {

constexpr Holder holders[] = {Holder::Register, Holder::Lane, Holder::Warp};

unsigned log2Of(int64_t size) { return static_cast<unsigned>(std::countr_zero(uint64_t(size))); }

/// The lowest bit of each dimension in an element's row-major number.
std::vector<unsigned> firstBits(const LinearLayout::Shape &shape) {
  std::vector<unsigned> first(shape.size());
  unsigned bit = 0;
  for (size_t dim = shape.size(); dim-- > 0;) {
    first[dim] = bit;
    bit += log2Of(shape[dim]);
  }
  return first;
}

} // namespace

int64_t axisBits(const LinearLayout::Shape &shape, size_t axis) {
  return (shape[axis] - 1) << firstBits(shape)[axis];
}

LinearLayout::LinearLayout(Shape shape, Bases registers, Bases lanes, Bases warps)
    : sizes(std::move(shape)), lists{std::move(registers), std::move(lanes), std::move(warps)} {}

int64_t LinearLayout::elementCount() const {
  return std::accumulate(sizes.begin(), sizes.end(), int64_t{1}, std::multiplies<>());
}

int64_t LinearLayout::contribution(Holder holder, int64_t number) const {
  int64_t element = 0;
  for (int64_t basis : bases(holder)) {
    element ^= (number & 1) != 0 ? basis : 0;
    number >>= 1;
  }
  return element;
}

std::unordered_map<int64_t, size_t> LinearLayout::registersByContribution() const {
  std::unordered_map<int64_t, size_t> registers;
  for (int64_t reg = 0; reg < count(Holder::Register); ++reg) {
    registers.try_emplace(contribution(Holder::Register, reg), static_cast<size_t>(reg));
  }
  return registers;
}

int64_t LinearLayout::elementAt(int64_t reg, int64_t lane, int64_t warp) const {
  return contribution(Holder::Register, reg) ^ contribution(Holder::Lane, lane) ^
         contribution(Holder::Warp, warp);
}

bool LinearLayout::isComplete() const {
  // The rank of all bases, by elimination.
  Bases rest;
  for (Holder holder : holders) {
    rest.insert(rest.end(), bases(holder).begin(), bases(holder).end());
  }
  unsigned rank = 0;
  for (int64_t bit = 1; bit < elementCount(); bit <<= 1) {
    auto pivot =
        std::find_if(rest.begin(), rest.end(), [&](int64_t basis) { return (basis & bit) != 0; });
    if (pivot == rest.end()) {
      return false;
    }
    const int64_t chosen = *pivot;
    rest.erase(pivot);
    for (int64_t &basis : rest) {
      basis ^= (basis & bit) != 0 ? chosen : 0;
    }
    ++rank;
  }
  return rank == log2Of(elementCount());
}

bool LinearLayout::isPermutation() const {
  int64_t seen = 0;
  for (Holder holder : holders) {
    for (int64_t basis : bases(holder)) {
      if ((basis & (basis - 1)) != 0 || (seen & basis) != 0) {
        return false;
      }
      seen |= basis;
    }
  }
  return true;
}

int64_t LinearLayout::replicaBits(Holder holder) const {
  int64_t mask = 0;
  const Bases &list = bases(holder);
  for (size_t bit = 0; bit < list.size(); ++bit) {
    mask |= list[bit] == 0 ? int64_t{1} << bit : 0;
  }
  return mask;
}

template <class Map> LinearLayout LinearLayout::mapped(Shape shape, const Map &map) const {
  LinearLayout result = *this;
  result.sizes = std::move(shape);
  for (Bases &list : result.lists) {
    std::transform(list.begin(), list.end(), list.begin(), map);
  }
  return result;
}

LinearLayout LinearLayout::reshaped(Shape shape) const {
  return mapped(std::move(shape), [](int64_t basis) { return basis; });
}

LinearLayout LinearLayout::transposed(std::span<const int32_t> order) const {
  Shape shape(order.size());
  for (size_t i = 0; i < order.size(); ++i) {
    shape[i] = sizes[static_cast<size_t>(order[i])];
  }
  const std::vector<unsigned> from = firstBits(sizes), to = firstBits(shape);
  return mapped(shape, [&](int64_t basis) {
    int64_t result = 0;
    for (size_t i = 0; i < order.size(); ++i) {
      result |= ((basis >> from[static_cast<size_t>(order[i])]) & (shape[i] - 1)) << to[i];
    }
    return result;
  });
}

LinearLayout LinearLayout::projectedTo(const Shape &shape) const {
  const std::vector<unsigned> from = firstBits(sizes), to = firstBits(shape);
  LinearLayout result = mapped(shape, [&](int64_t basis) {
    int64_t kept = 0;
    for (size_t i = 0; i < shape.size(); ++i) {
      kept |= ((basis >> from[i]) & (shape[i] - 1)) << to[i];
    }
    return kept;
  });
  std::erase(result.lists[0], 0);
  return result;
}

LinearLayout LinearLayout::withoutAxis(unsigned axis) const {
  Shape one = sizes, without = sizes;
  one[axis] = 1;
  without.erase(without.begin() + axis);
  return projectedTo(one).reshaped(without);
}

LinearLayout LinearLayout::halved() const {
  LinearLayout result =
      mapped(Shape(sizes.begin(), sizes.end() - 1), [](int64_t basis) { return basis >> 1; });
  std::erase(result.lists[0], 0);
  return result;
}

LinearLayout LinearLayout::doubled() const {
  Shape shape = sizes;
  shape.push_back(2);
  LinearLayout result = mapped(shape, [](int64_t basis) { return basis << 1; });
  result.lists[0].insert(result.lists[0].begin(), 1);
  return result;
}

std::string LinearLayout::text() const {
  std::string result;
  for (Holder holder : holders) {
    result += holder == Holder::Register ? "registers"
              : holder == Holder::Lane   ? ", lanes"
                                         : ", warps";
    for (int64_t basis : bases(holder)) {
      result += " " + std::to_string(basis);
    }
  }
  return result;
}

std::vector<int32_t> rowMajorOrder(size_t rank) {
  std::vector<int32_t> order(rank);
  std::iota(order.rbegin(), order.rend(), 0);
  return order;
}

LinearLayout blockedLayout(const LinearLayout::Shape &shape, std::span<const int32_t> order,
                           int64_t vector, int64_t lanes, int64_t warps) {
  LinearLayout::Bases steps; // of the elements' bits, fastest dimension first
  const std::vector<unsigned> first = firstBits(shape);
  for (int32_t dim : order) {
    const auto place = static_cast<size_t>(dim);
    for (int64_t step = 1; step < shape[place]; step <<= 1) {
      steps.push_back(step << first[place]);
    }
  }
  auto next = steps.begin();
  const int64_t fastest = order.empty() ? 1 : shape[static_cast<size_t>(order.front())];
  auto take = [&](unsigned bits) {
    LinearLayout::Bases taken(bits, 0);
    for (unsigned i = 0; i < bits && next != steps.end(); ++i) {
      taken[i] = *next++;
    }
    return taken;
  };
  LinearLayout::Bases registers = take(log2Of(std::min(vector, fastest)));
  LinearLayout::Bases ofLanes = take(log2Of(lanes)), ofWarps = take(log2Of(warps));
  registers.insert(registers.end(), next, steps.end());
  return {shape, std::move(registers), std::move(ofLanes), std::move(ofWarps)};
}

LinearLayout squareLayout(const LinearLayout::Shape &shape, int64_t lanes, int64_t warps) {
  const std::vector<unsigned> first = firstBits(shape);
  const size_t rank = shape.size();
  LinearLayout::Bases columns, rows, others; // lowest bit last
  for (size_t dim = 0; dim < rank; ++dim) {
    auto &list = dim + 1 == rank ? columns : dim + 2 == rank ? rows : others;
    for (int64_t step = shape[dim] / 2; step > 0; step >>= 1) {
      list.push_back(step << first[dim]);
    }
  }
  auto take = [](std::initializer_list<LinearLayout::Bases *> lists) -> int64_t {
    for (LinearLayout::Bases *list : lists) {
      if (!list->empty()) {
        const int64_t basis = list->back();
        list->pop_back();
        return basis;
      }
    }
    return 0;
  };
  LinearLayout::Bases registers, ofLanes(log2Of(lanes)), ofWarps(log2Of(warps));
  for (size_t bit = 0; bit < ofLanes.size(); ++bit) {
    const bool isColumn = 2 * bit <= ofLanes.size();
    ofLanes[bit] = isColumn ? take({&columns, &rows, &others}) : take({&rows, &columns, &others});
  }
  for (int64_t &basis : ofWarps) {
    basis = take({&rows, &columns, &others});
  }
  while (const int64_t basis = take({&columns, &rows, &others})) {
    registers.push_back(basis);
  }
  return {shape, std::move(registers), std::move(ofLanes), std::move(ofWarps)};
}

LinearLayout scanLayout(const LinearLayout::Shape &shape, unsigned axis, int64_t lanes,
                        int64_t warps) {
  std::vector<int32_t> order = rowMajorOrder(shape.size());
  std::stable_partition(order.begin(), order.end(),
                        [&](int32_t dim) { return static_cast<unsigned>(dim) == axis; });
  constexpr int64_t mostOfThread = 32; // neighbours, so that a row stays within a warp
  const int64_t share = LinearLayout(shape, {}, {}, {}).elementCount() / (lanes * warps);
  const int64_t vector = std::max<int64_t>(1, std::min({shape[axis] / lanes, share, mostOfThread}));
  return blockedLayout(shape, order, vector, lanes, warps);
}

bool isWalkable(const LinearLayout &layout, unsigned axis) {
  if (!layout.isPermutation() || layout.replicaBits(Holder::Register) != 0) {
    return false;
  }
  const int64_t along = axisBits(layout.shape(), axis);
  int64_t above = 0; // of the bits that lanes and warps have, the highest so far
  int64_t below = along + 1;
  for (Holder holder : {Holder::Lane, Holder::Warp}) {
    bool hasBegun = false, hasEnded = false;
    for (int64_t basis : layout.bases(holder)) {
      const bool isAlong = (basis & along) != 0;
      if (isAlong && (basis < above || (hasEnded && holder == Holder::Lane))) {
        return false;
      }
      hasEnded = hasEnded || (hasBegun && !isAlong);
      hasBegun = hasBegun || isAlong;
      above = isAlong ? basis : above;
      below = isAlong ? std::min(below, basis) : below;
    }
  }
  return std::ranges::none_of(layout.bases(Holder::Register), [&](int64_t basis) {
    return (basis & along) != 0 && basis > below && basis < above;
  });
}

} // namespace nereid::layout
