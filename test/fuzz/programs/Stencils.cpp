// SPDX-License-Identifier: Apache-2.0
// Sums over neighbours: taps along a row, windows of an image, with and without padding.
#include "test/fuzz/programs/Statements.h"

#include <fmt/format.h>

namespace nereid::fuzz {

void summingNeighbours(Writer &w) {
  w.drawn(Class::Stencil);
  bool real = w.chance(60);
  std::string from = real ? w.oneOf({"X", "X", "H"}) : w.oneOf({"A", "B", "D"});
  std::string type = real ? "float32" : "int32", weights = real ? "X" : "A";
  int64_t size = int64_t{32} << w.pick(3), taps = w.between(2, 5), width = w.between(20, 70);
  bool isImage = w.chance(50);
  std::string lanes = w.let(fmt::format("{} * {} + tl.arange(0, {})", w.pid(), size, size));
  std::string line =
      isImage ? w.let(fmt::format("{} // {}", lanes, w.chance(50) ? "n" : "16")) : "";
  std::string column =
      isImage ? w.let(fmt::format("{} - {} * {}", lanes, line, w.chance(50) ? "n" : "16")) : lanes;
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
