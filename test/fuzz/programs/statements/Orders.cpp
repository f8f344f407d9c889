// SPDX-License-Identifier: Apache-2.0
// Tiles whose dimensions lie in memory in another order than the row-major one, read whole and
// reduced, in loops and outside of them, and stored in yet another order.
#include "test/fuzz/programs/statements/Statements.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace nereid::fuzz {
namespace {

Shape anyShape(Writer &w) {
  static const std::vector<int64_t> sizes = {4, 8, 16, 32, 32, 64, 64};
  Shape shape;
  do {
    shape = w.chance(70) ? Shape{w.oneOf(sizes), w.oneOf(sizes)}
                         : Shape{w.oneOf(sizes) / 2, w.oneOf(sizes) / 2, w.oneOf(sizes) / 2};
  } while (countOf(shape) > 2048);
  return shape;
}

/// The first dimension of the list is the one whose elements are neighbours.
std::vector<size_t> anyOrder(Writer &w, size_t rank) {
  std::vector<size_t> order;
  for (size_t d = 0; d < rank; ++d) {
    order.push_back(d);
  }
  if (rank > 2) {
    w.shuffle(order);
  }
  return order; // of rank 2: columns are neighbours in memory
}

Shape anyStrides(Writer &w, const Shape &shape) {
  std::vector<size_t> order = anyOrder(w, shape.size());
  if (w.chance(15)) {
    std::reverse(order.begin(), order.end());
  }
  w.drawn(shape.size() == 2 ? Class::ColumnMajor : Class::PermutedRank3);
  return w.strides(shape, order, w.chance(30) ? w.between(1, 8) : 0);
}

/// Sums and extrema along an axis, maybe subtracted from the whole tile.
void reduceToo(Writer &w, const Value &tile, size_t axis) {
  bool isLast = axis + 1 == tile.shape.size();
  w.drawn(isLast ? Class::WholeAndReducedLast : Class::WholeAndReduced);
  Shape shape = tile.shape;
  shape.erase(shape.begin() + static_cast<ptrdiff_t>(axis));
  std::string of = isReal(tile.type) ? tile.name + ".to(tl.float32)" : tile.name;
  Value reduced =
      w.bind(fmt::format("tl.{}({}, axis={})", w.oneOf({"sum", "max", "min"}), of, axis), tile.type,
             shape);
  if (w.chance(40)) {
    w.bind(fmt::format("{} - tl.expand_dims({}, {})", tile.name, reduced.name, axis), tile.type,
           tile.shape);
  }
}

void storeInOrder(Writer &w, const Value &tile) {
  Shape steps = w.strides(tile.shape, anyOrder(w, tile.shape.size()));
  int64_t offset = w.reserve(countOf(tile.shape));
  if (offset >= 0) {
    w.drawn(Class::StoredInOrder);
    w.storeAt(tile, offset, w.positions(tile.shape, steps));
  }
}

std::string maskOver(Writer &w, const Shape &shape) {
  if (w.chance(50)) {
    return "";
  }
  size_t dim = static_cast<size_t>(w.pick(static_cast<int64_t>(shape.size())));
  if (w.chance(20)) { // as of the padding around an image
    std::string range = rangeAlong(dim, shape.size(), shape[dim]);
    return fmt::format(", mask=({0} + n >= 4) & ({0} + n < m + 8) & ({0} < {1}), other=1", range,
                       w.oneOf({"h * 2", "20", "n + 5"}));
  }
  std::string text = fmt::format("({} < {})", rangeAlong(dim, shape.size(), shape[dim]),
                                 w.oneOf({"n", "m", "n * 2", "5", "h * 3"}));
  if (w.chance(40)) {
    size_t other = (dim + 1) % shape.size();
    text += fmt::format(" & ({} {} {})", rangeAlong(other, shape.size(), shape[other]),
                        w.oneOf({"<", ">="}), w.oneOf({"h", "m", "3"}));
  }
  return ", mask=" + text + ", other=1";
}

void readInLoop(Writer &w, const Shape &shape, const Shape &steps, const std::string &from,
                const std::string &type) {
  w.drawn(Class::OrdersInLoop);
  size_t axis = static_cast<size_t>(w.pick(static_cast<int64_t>(shape.size())));
  Shape less = shape;
  less.erase(less.begin() + static_cast<ptrdiff_t>(axis));
  std::string whole = w.name(), sum = w.name(), k = w.name();
  auto tuple = [](const Shape &of) { return fmt::format("({},)", fmt::join(of, ", ")); };
  w.line(fmt::format("{} = tl.zeros({}, tl.{})", whole, tuple(shape), type));
  w.line(fmt::format("{} = tl.zeros({}, tl.{})", sum, tuple(less), type));
  {
    Writer::Block loop(w, fmt::format("for {} in range({}):", k, w.bound()));
    std::string tile =
        w.let(fmt::format("tl.load({} + {} + {} * {}{}).to(tl.{})", from, w.positions(shape, steps),
                          k, w.oneOf({"1", "64", "n"}), maskOver(w, shape), type));
    w.line(fmt::format("{} += {}", whole, tile));
    w.line(fmt::format("{} += tl.sum({}, axis={})", sum, w.chance(70) ? tile : whole, axis));
  }
  w.bind(whole, type, shape);
  w.bind(sum, type, less);
}

} // namespace

void readingInOrders(Writer &w) {
  Shape shape = anyShape(w), steps = anyStrides(w, shape);
  bool real = w.chance(50);
  std::string from = w.oneOf(real ? w.realBuffers : w.wholeBuffers);
  std::string type = real ? w.oneOf({"float32", "float16"}) : w.oneOf({"int32", "int64", "int16"});
  if (w.chance(25)) {
    return readInLoop(w, shape, steps, from, real ? "float32" : "int32");
  }
  auto loaded = [&](const Shape &strides) {
    return fmt::format("tl.load({} + {} + {}{})", from, w.pick(64), w.positions(shape, strides),
                       maskOver(w, shape));
  };
  Value tile = w.bind(loaded(steps), type, shape, true);
  if (w.chance(30)) {
    w.drawn(Class::MixedOrders);
    Shape other = w.chance(50) ? Shape() : anyStrides(w, shape);
    w.bind(fmt::format("{} {} {}", tile.name, w.oneOf({"+", "-"}), loaded(other)), type, shape);
  }
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    if (w.chance(60)) {
      reduceToo(w, tile, axis);
    }
  }
  if (w.chance(50)) {
    storeInOrder(w, tile);
  }
}

/// A copy between orders, with no arithmetic or little: rows are read, columns written.
void copyingTransposed(Writer &w) {
  w.drawn(Class::TransposedCopy);
  Shape shape = {int64_t{8} << w.pick(4), int64_t{8} << w.pick(4)};
  std::vector<size_t> columns = {0, 1};
  bool real = w.chance(60);
  std::string from = real ? w.oneOf({"X", "H", "G"}) : w.oneOf({"A", "B", "C"});
  std::string to = real ? w.oneOf({"Y", "Y", "Z"}) : w.oneOf({"W", "W", "OUT"});
  std::string type = to == "Y" ? "float32" : to == "Z" ? "float16" : to == "W" ? "int32" : "int64";
  int64_t offset = to == "OUT" ? w.reserve(countOf(shape)) : 0;
  if (offset < 0 || (to != "OUT" && !w.claim(to))) {
    return;
  }
  to += to == "OUT" ? "" : fmt::format(" + {} * {}", w.pid(), countOf(shape));
  bool isReadTransposed = w.chance(50);
  Shape none, turned = w.strides(shape, columns);
  std::string tile =
      w.let(fmt::format("tl.load({} + {}{})", from,
                        w.positions(shape, isReadTransposed ? turned : none), maskOver(w, shape)));
  if (w.chance(30)) {
    tile = w.let(fmt::format("{} * 2 + 1", tile));
  }
  w.line(fmt::format("tl.store({} + {} + {}, {}.to(tl.{}){})", to, offset,
                     w.positions(shape, isReadTransposed ? none : turned), tile, type,
                     w.chance(40) ? fmt::format(", mask={} < m", rangeAlong(0, 2, shape[0]))
                                  : std::string()));
}

} // namespace nereid::fuzz
