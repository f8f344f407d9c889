// SPDX-License-Identifier: Apache-2.0
// Rows that are reduced and stored, one per program or several in a loop, as softmax and
// normalisations are written, in whole numbers.
#include "test/fuzz/programs/statements/Statements.h"

#include <fmt/format.h>

#include <algorithm>

namespace nereid::fuzz {
namespace {

struct Row {
  std::string number, lanes, mask, from, stride, type;
  int64_t size;
};

std::string loaded(Writer &w, const Row &row, const std::string &from) {
  return w.let(fmt::format("tl.load({} + {} * {} + {}{}).to(tl.{})", from, row.number, row.stride,
                           row.lanes, row.mask.empty() ? "" : row.mask + ", other=0", row.type));
}

/// Reductions of the row and of what was made with the one before.
std::string normalised(Writer &w, const Row &row) {
  std::string x = loaded(w, row, row.from);
  for (int64_t i = w.between(1, 3); i > 0; --i) {
    std::string reduced =
        w.let(fmt::format("tl.{}({}, axis=0)", w.oneOf({"sum", "max", "min"}), x));
    std::string text =
        fmt::format(fmt::runtime(w.oneOf({"{0} - {1}", "{0} * 2 + {1}", "tl.maximum({0}, {1} - 3)",
                                          "tl.where({0} == {1}, 1, {0})"})),
                    x, reduced);
    x = w.let(row.type == "float32" ? bounded(text, "float32")
                                    : fmt::format("({}).to(tl.int32)", text));
  }
  if (w.chance(40)) {
    std::string weight =
        w.let(fmt::format("tl.load({} + {})", row.type == "float32" ? "X" : "A", row.lanes));
    x = w.let(fmt::format("{} + {}", x, weight));
  }
  return x;
}

} // namespace

void reducingRows(Writer &w) {
  Row row;
  row.type = w.oneOf({"float32", "float32", "int32"});
  row.from = row.type == "float32" ? w.oneOf({"X", "X", "H", "G"}) : w.oneOf({"A", "B"});
  row.size = int64_t{64} << w.pick(5);
  int64_t rows = std::max(1024 / row.size * w.between(1, 4) + 1, w.programs());
  row.lanes = w.let(fmt::format("tl.arange(0, {})", row.size));
  row.stride = w.chance(70) ? std::to_string(row.size) : fmt::format("({} + n)", row.size);
  row.mask = w.chance(60)
                 ? fmt::format(", mask={} < {}", row.lanes, w.oneOf({"n * 16", "m * 32", "64"}))
                 : "";
  // A row per program, or each program every second, third, fourth one.
  bool isLoop = w.chance(45);
  w.drawn(isLoop ? Class::RowLoop : Class::RowPerProgram);
  // Rows of one stride apart in Y and Z are the program's own; OUT is its own anyway.
  std::string to = row.type == "float32" ? w.oneOf({"Y", "Y", "Z"}) : w.oneOf({"OUT", "W", "W"});
  std::string cache = w.chance(50) ? ", cache_modifier='.cs'" : "";
  int64_t offset = to == "OUT" ? w.reserve((row.size + 16) * rows) : 0;
  if (offset < 0 || (to != "OUT" && !w.claim(to))) {
    return;
  }
  auto body = [&](const std::string &number) {
    row.number = number;
    std::string x = normalised(w, row);
    w.line(fmt::format("tl.store({} + {} + {} * {} + {}, {}.to(tl.{}){}{})", to, offset, number,
                       row.stride, row.lanes, x,
                       to == "Y"   ? "float32"
                       : to == "Z" ? "float16"
                       : to == "W" ? "int32"
                                   : "int64",
                       row.mask, cache));
  };
  if (!isLoop) {
    return body(w.pid());
  }
  std::string k = w.name(),
              end = w.chance(50) ? fmt::format("tl.minimum(m, {})", rows) : std::to_string(rows);
  Writer::Block loop(w, fmt::format("for {} in range({}, {}, {}):", k, w.pid(), end, w.programs()));
  body(k);
}

} // namespace nereid::fuzz
