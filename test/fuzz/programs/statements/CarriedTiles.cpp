// SPDX-License-Identifier: Apache-2.0
// Loops that carry up to five tiles, each of which may depend on every other one: on the value that
// it had before the iteration, or on the one that it has got in it.
#include "test/fuzz/programs/statements/Statements.h"

#include <fmt/format.h>

namespace nereid::fuzz {
namespace {

struct Carried {
  std::vector<Value> tiles;
  std::string type;
  Shape shape;
  /// Sums stay exact for as many iterations as there are.
  bool isPlain = false;

  std::string fit(const std::string &expression) const {
    if (isPlain) {
      return expression;
    }
    return isReal(type) ? bounded(expression, type)
                        : fmt::format("({}).to(tl.{})", expression, type);
  }
};

/// A tile that no iteration changes, or that each reads.
std::string fresh(Writer &w, const Carried &loop, const std::string &k) {
  std::string steady =
      fmt::format("({} + {}).to(tl.{})", w.like(loop.shape, isReal(loop.type)).name, k, loop.type);
  switch (w.pick(3)) {
  case 0:
    return loop.shape.size() == 1 && !isReal(loop.type)
               ? fmt::format("tl.arange(0, {})", loop.shape[0])
               : steady;
  case 1:
    return fmt::format("tl.load({} + {} + {} * {}).to(tl.{})", isReal(loop.type) ? "X" : "A",
                       w.positions(loop.shape), k, w.oneOf({"1", "16", "n", "37"}), loop.type);
  default:
    return steady;
  }
}

void exchange(Writer &w, const Carried &loop) {
  w.drawn(Class::CarriedExchanged);
  const auto &tiles = loop.tiles;
  std::string kept = w.let(tiles.front().name);
  for (size_t i = 0; i + 1 < tiles.size(); ++i) {
    w.line(tiles[i].name + " = " + tiles[i + 1].name);
  }
  w.line(fmt::format("{} = {}", tiles.back().name, loop.fit(kept + " + 1")));
}

/// One tile from itself and another one.
void update(Writer &w, const Carried &loop, size_t i, const std::string &k) {
  const std::string &tile = loop.tiles[i].name;
  // Mostly the next one: then each sees the sum of all behind it only iterations later.
  std::string other = i + 1 == loop.tiles.size() && w.chance(60) ? fresh(w, loop, k)
                      : w.chance(70) ? loop.tiles[(i + 1) % loop.tiles.size()].name
                                     : w.oneOf(loop.tiles).name;
  if (loop.isPlain) {
    w.line(w.chance(50) ? fmt::format("{} += {}", tile, other)
                        : fmt::format("{0} = {0} + {1}", tile, other));
    return;
  }
  static const std::vector<std::string> wholes = {"{0} + {1}",
                                                  "{0} ^ {1}",
                                                  "{0} - {1}",
                                                  "tl.maximum({0}, {1})",
                                                  "tl.where({1} > {2}, {0}, {1})",
                                                  "{1} + {2}",
                                                  "{0} * 3 + {1}"};
  static const std::vector<std::string> reals = {"{0} + {1}", "{0} - {1}", "tl.maximum({0}, {1})",
                                                 "tl.where({1} > {2}, {0}, {1})", "{1} + {2}"};
  std::string text =
      fmt::format(fmt::runtime(w.oneOf(isReal(loop.type) ? reals : wholes)), tile, other, k);
  w.line(fmt::format("{} = {}", tile, loop.fit(text)));
}

void reshape(Writer &w, const Carried &loop) {
  w.drawn(Class::CarriedReshaped);
  const Value &tile = w.oneOf(loop.tiles);
  const Shape &shape = tile.shape;
  if (shape.size() == 2) {
    w.line(shape[0] == shape[1] && w.chance(50)
               ? fmt::format("{0} = tl.trans({0})", tile.name)
               : fmt::format("{0} = tl.reshape(tl.trans({0}), ({1}, {2}))", tile.name, shape[0],
                             shape[1]));
    return;
  }
  w.line(fmt::format("{0} = tl.reshape(tl.trans(tl.reshape({0}, (4, {1}))), ({2},))", tile.name,
                     shape[0] / 4, shape[0]));
}

void body(Writer &w, const Carried &loop, const std::string &k) {
  std::vector<size_t> order;
  for (size_t i = 0; i < loop.tiles.size(); ++i) {
    order.push_back(i);
  }
  if (w.chance(30)) {
    w.shuffle(order);
  }
  for (size_t i : order) {
    if (w.chance(90)) {
      update(w, loop, i, k);
    }
  }
  if (w.chance(20)) {
    exchange(w, loop);
  }
  if (w.chance(12)) {
    reshape(w, loop);
  }
  if (w.chance(15)) { // a store of what is carried, in the middle of it
    Value tile = w.oneOf(loop.tiles);
    w.store(tile);
  }
}

} // namespace

void carryingTiles(Writer &w) {
  static const std::vector<Shape> shapes = {{16}, {32}, {64}, {128}, {8, 8}, {4, 16}, {16, 32}};
  Carried loop;
  loop.shape = w.oneOf(shapes);
  loop.isPlain = w.chance(50);
  loop.type = loop.isPlain ? w.oneOf({"int32", "int64", "float32", "float64", "int32"})
                           : w.oneOf(w.chance(50) ? w.realTypes : w.wholeTypes);
  auto count = static_cast<size_t>(w.between(2, 5));
  w.drawn(static_cast<size_t>(Class::CarriedTwo) + count - 2);
  for (size_t i = 0; i < count; ++i) {
    Value start = w.like(loop.shape, isReal(loop.type)), tile{w.name(), loop.type, loop.shape};
    w.line(w.chance(30) ? fmt::format("{} = tl.full({}, {}, tl.{})", tile.name,
                                      loop.shape.size() == 1
                                          ? fmt::format("({},)", loop.shape[0])
                                          : fmt::format("({}, {})", loop.shape[0], loop.shape[1]),
                                      w.pick(3), loop.type)
                        : fmt::format("{} = {}.to(tl.{})", tile.name, start.name, loop.type));
    loop.tiles.push_back(tile);
  }
  std::string end = w.bound(), k = w.name();
  bool isWhile = w.chance(20);
  if (isWhile) {
    w.drawn(Class::CarriedInWhile);
    w.line(k + " = 0");
  }
  {
    Writer::Block block(w, isWhile ? fmt::format("while {} < {}:", k, end)
                                   : fmt::format("for {} in range({}):", k, end));
    body(w, loop, k);
    w.line(isWhile ? k + " += 1" : k + " += 0");
  }
  for (const Value &tile : loop.tiles) {
    if (isReal(loop.type)) {
      w.bind(tile.name, loop.type, loop.shape);
    } else {
      w.keep(tile);
    }
  }
}

namespace {

/// `total += load` with nobody but a reduction behind it.
void onlyReduced(Writer &w, int64_t size, bool real) {
  w.drawn(Class::OnlyReduced);
  std::string total = w.name(), k = w.name();
  std::string function = w.oneOf({"sum", "max", "min"}), from = real ? "X" : "A";
  w.line(fmt::format("{} = tl.full(({},), 0, tl.{})", total, size, real ? "float32" : "int32"));
  {
    Writer::Block loop(w, fmt::format("for {} in range(0, {}, {}):", k,
                                      w.oneOf({"256", "n * 32", "m * 16"}), size));
    std::string lanes = fmt::format("{} + tl.arange(0, {})", k, size);
    std::string block = fmt::format("tl.load({} + {}{})", from, lanes,
                                    w.chance(60) ? fmt::format(", mask={} < n * 31, other=0", lanes)
                                                 : std::string());
    w.line(fmt::format("{} = {}", total,
                       function == "sum"   ? total + " + " + block
                       : function == "max" ? fmt::format("tl.maximum({}, {})", total, block)
                                           : fmt::format("tl.minimum({}, {})", total, block)));
  }
  // Another reduction than the loop's own is a near miss.
  std::string last = w.chance(80) ? function : w.oneOf({"sum", "max", "min"});
  w.bind(fmt::format("tl.{}({}, axis=0)", last, total), real ? "float32" : "int32", {});
}

/// A row's maximum and what depends on it, as in a softmax over blocks.
void running(Writer &w) {
  w.drawn(Class::CarriedReduced);
  int64_t rows = int64_t{4} << w.pick(3), columns = int64_t{16} << w.pick(2);
  Value top{w.name(), "float32", {rows}}, sum{w.name(), "float32", {rows}},
      tile{w.name(), "float32", {rows, columns}};
  w.line(fmt::format("{} = tl.full(({},), -100.0, tl.float32)", top.name, rows));
  w.line(fmt::format("{} = tl.zeros(({},), tl.float32)", sum.name, rows));
  w.line(fmt::format("{} = tl.zeros(({}, {}), tl.float32)", tile.name, rows, columns));
  std::string k = w.name();
  {
    Writer::Block loop(w, fmt::format("for {} in range({}):", k, w.bound()));
    std::string block = w.let(
        fmt::format("tl.load(X + {} + {} * {})", w.positions({rows, columns}), k, rows * columns));
    std::string next = w.let(fmt::format("tl.maximum({}, tl.max({}, 1))", top.name, block));
    std::string scale = w.let(fmt::format("({} - {}) * 0.25", next, top.name));
    w.line(fmt::format(
        "{0} = {1}", sum.name,
        bounded(fmt::format("{} - {} + tl.sum({}, 1)", sum.name, scale, block), "float32")));
    w.line(fmt::format(
        "{0} = {1}", tile.name,
        bounded(fmt::format("{} * {}[:, None] + {}", tile.name, scale, block), "float32")));
    w.line(fmt::format("{} = {}", top.name, next));
  }
  for (const Value &value : {top, sum, tile}) {
    w.bind(value.name, value.type, value.shape);
  }
}

/// Addresses that each iteration advances, by one number or by another for each lane.
void advancing(Writer &w, int64_t size, bool real) {
  w.drawn(Class::CarriedPointers);
  std::string from = real ? "X" : w.oneOf({"A", "B", "D"}), type = real ? "float32" : "int32";
  std::string at = w.name(), total = w.name(), before = w.name(), k = w.name();
  bool isPointer = w.chance(60);
  w.line(fmt::format("{} = {}tl.arange(0, {}) * {}", at, isPointer ? from + " + " : "", size,
                     w.between(1, 3)));
  w.line(fmt::format("{} = tl.zeros(({},), tl.{})", total, size, type));
  w.line(fmt::format("{} = tl.zeros(({},), tl.{})", before, size, type));
  {
    Writer::Block loop(w, fmt::format("for {} in range({}):", k, w.bound()));
    std::string advance =
        fmt::format("{} += {}", at,
                    w.chance(60) ? w.oneOf({"16", "n", "1", "h * 4"})
                                 : fmt::format("tl.arange(0, {}) // {}", size, w.between(1, 4)));
    bool isFirst = w.chance(30);
    if (isFirst) {
      w.line(advance);
    }
    if (w.chance(40)) { // of the iteration before
      w.line(fmt::format("{} += {}", total, before));
    }
    w.line(fmt::format("{} = tl.load({}{}).to(tl.{})", before, isPointer ? "" : from + " + ", at,
                       type));
    w.line(fmt::format("{} += {}", total, before));
    if (!isFirst) {
      w.line(advance);
    }
  }
  w.bind(total, type, {size});
  w.bind(before, type, {size});
}

} // namespace

void accumulating(Writer &w) {
  int64_t size = int64_t{16} << w.pick(4);
  bool real = w.chance(50);
  switch (w.pick(3)) {
  case 0:
    return onlyReduced(w, size, real);
  case 1:
    return running(w);
  default:
    return advancing(w, size, real);
  }
}

} // namespace nereid::fuzz
