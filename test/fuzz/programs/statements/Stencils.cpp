// SPDX-License-Identifier: Apache-2.0
// Sums over neighbours: taps along a row, windows of an image, with and without padding.
#include "test/fuzz/programs/statements/Statements.h"

#include <fmt/format.h>

namespace nereid::fuzz {
namespace {

/// A tile of an image: rows and columns in the padding around it are masked.
void summingWindows(Writer &w) {
  w.drawn(Class::Windows);
  bool real = w.chance(60);
  std::string type = real ? "float32" : "int32",
              from = real ? w.oneOf({"X", "H"}) : w.oneOf({"A", "B"});
  int64_t height = int64_t{4} << w.pick(3), width = int64_t{16} << w.pick(2);
  std::string rows = w.let(fmt::format("tl.arange(0, {})", height));
  std::string columns = w.let(fmt::format("tl.arange(0, {})", width));
  std::string sum = w.let(fmt::format("tl.zeros(({}, {}), tl.{})", height, width, type));
  std::string high = w.oneOf({"n", "m", "12"}), wide = w.oneOf({"m * 4", "40", "n * 2"});
  std::string r = w.name(), s = w.name(), range = w.oneOf({"tl.static_range", "range"});
  {
    Writer::Block outer(w, fmt::format("for {} in {}({}):", r, range, w.between(2, 3)));
    Writer::Block inner(w, fmt::format("for {} in {}({}):", s, range, w.between(1, 3)));
    std::string line = w.let(fmt::format("{} + {} - 1", rows, r));
    std::string column = w.let(fmt::format("{} + {} - 1", columns, s));
    std::string inside = fmt::format("({0} >= 0) & ({0} < {1})", line, high);
    if (w.chance(50)) {
      inside += fmt::format(" & ({} < {})", rows, w.oneOf({"h", "n"}));
    }
    std::string mask = fmt::format("({})[:, None]", inside);
    if (w.chance(50)) {
      mask += fmt::format(" & (({0} >= 0) & ({0} < {1}))[None, :]", column, wide);
    }
    w.line(fmt::format(
        "{} += tl.load({} + 80 + {}[:, None] * 70 + {}[None, :], mask={}, other=0).to(tl.{})", sum,
        from, line, column, mask, type));
  }
  w.bind(sum, type, {height, width});
}

} // namespace

void summingNeighbours(Writer &w) {
  if (w.chance(35)) {
    return summingWindows(w);
  }
  w.drawn(Class::Stencil);
  bool real = w.chance(60);
  std::string from = real ? w.oneOf({"X", "X", "H"}) : w.oneOf({"A", "B", "D"});
  std::string type = real ? "float32" : "int32", weights = real ? "X" : "A";
  int64_t size = int64_t{32} << w.pick(3), taps = w.between(2, 5), width = w.between(20, 55);
  bool isImage = w.chance(50);
  std::string lanes = w.let(fmt::format("{} * {} + tl.arange(0, {})", w.pid(), size, size));
  std::string wide = w.oneOf({"n", "16"});
  std::string line = isImage ? w.let(fmt::format("{} // {}", lanes, wide)) : "";
  std::string column = isImage ? w.let(fmt::format("{} - {} * {}", lanes, line, wide)) : lanes;
  std::string sum = w.let(fmt::format("tl.zeros(({},), tl.{})", size, type));
  std::string stride = w.oneOf({"1", "1", "2", "n"});
  auto tap = [&](const std::string &r, const std::string &t) {
    // The first elements of the buffer are the padding.
    std::string at = w.let(
        fmt::format("{} * {} + {} + 8{}", column, stride, t,
                    isImage ? fmt::format(" + ({} + {}) * {}", line, r, width) : std::string()));
    std::string mask = w.chance(50) ? fmt::format(", mask=({0} + {1} >= 2) & ({0} < {2}), other=0",
                                                  column, t, w.oneOf({"n * 4", "60", "m"}))
                                    : std::string();
    w.line(fmt::format("{} += tl.load({} + {}{}).to(tl.{}) * tl.load({} + {} + {} * 4){}", sum,
                       from, at, mask, type, weights, t, r, real ? " * 0.5" : ""));
  };
  std::string t = w.name(), r = isImage ? w.name() : "0";
  std::string range = w.oneOf({"tl.static_range", "range"});
  auto row = [&] {
    Writer::Block loop(w, fmt::format("for {} in {}({}):", t, range, taps));
    tap(r, t);
  };
  if (isImage) {
    Writer::Block loop(w, fmt::format("for {} in {}({}):", r, range, w.between(1, 3)));
    row();
  } else {
    row();
  }
  w.bind(sum, type, {size});
}

} // namespace nereid::fuzz
