// SPDX-License-Identifier: Apache-2.0
// Products of numbers of few bits with scales for each 32 of them (`tl.dot_scaled`). All products
// are multiples of 2^-6 and sums stay below 2^18, so that float32 holds them exactly.
#include "test/fuzz/programs/statements/Statements.h"

#include <fmt/format.h>

namespace nereid::fuzz {
namespace {

struct Side {
  std::string format, from, pointer, scale;
  Shape shape, scales;
};

Side anySide(Writer &w, int64_t lines, int64_t k, bool isLeft) {
  Side side;
  side.format = w.oneOf({"e4m3", "e5m2", "e2m1", "bf16", "fp16"});
  side.from = side.format == "e4m3"   ? "E"
              : side.format == "e5m2" ? "F"
              : side.format == "e2m1" ? "D"
              : side.format == "bf16" ? "G"
                                      : "H";
  int64_t along = side.format == "e2m1" ? k / 2 : k;
  side.shape = isLeft ? Shape{lines, along} : Shape{along, lines};
  side.scales = {lines, k / 32};
  return side;
}

} // namespace

void multiplyingScaled(Writer &w) {
  static const std::vector<int64_t> sizes = {16, 32};
  int64_t m = w.oneOf(sizes), n = w.oneOf(sizes), k = 32 * w.between(1, 2);
  bool isLoop = w.chance(75);
  w.drawn(isLoop ? Class::DotScaledLoop : Class::DotScaled);
  Side sides[] = {anySide(w, m, k, true), anySide(w, n, k, false)};
  std::string sums = w.let(fmt::format("tl.zeros(({}, {}), tl.float32)", m, n));
  bool isPointer = isLoop && w.chance(50);
  bool hasScale[] = {w.chance(65), w.chance(65)};
  if (isLoop && hasScale[1]) {
    w.drawn(Class::DotScaledRight);
  }
  for (int i = 0; i < 2; ++i) {
    Side &side = sides[i];
    side.pointer = fmt::format(
        "{} + {} + {}", side.from, w.pick(64),
        w.positions(side.shape, i == 1 && w.chance(40) ? Shape{1, side.shape[0]} : Shape()));
    if (hasScale[i]) {
      side.scale = fmt::format("T + {} + {}", w.pick(64), w.positions(side.scales));
    }
    if (isPointer) {
      side.pointer = w.let(side.pointer);
      side.scale = hasScale[i] ? w.let(side.scale) : "";
    }
  }
  auto multiply = [&](const std::string &step) {
    std::string tiles[2], scales[2];
    for (int i = 0; i < 2; ++i) {
      std::string move = step.empty() || isPointer ? "" : fmt::format(" + {} * 64", step);
      std::string scaleMove = step.empty() || isPointer ? "" : fmt::format(" + {} * 2", step);
      tiles[i] = w.let(fmt::format("tl.load({}{})", sides[i].pointer, move));
      scales[i] = hasScale[i] ? w.let(fmt::format("tl.load({}{}) + 126", sides[i].scale, scaleMove))
                              : "None";
    }
    std::string operands = fmt::format("{}, {}, '{}', {}, {}, '{}'", tiles[0], scales[0],
                                       sides[0].format, tiles[1], scales[1], sides[1].format);
    w.line(w.chance(50) ? fmt::format("{0} = tl.dot_scaled({1}, {0})", sums, operands)
                        : fmt::format("{0} += tl.dot_scaled({1})", sums, operands));
    if (isPointer) {
      for (int i = 0; i < 2; ++i) {
        w.line(fmt::format("{} += {}", sides[i].pointer, w.oneOf({"64", "32", "n"})));
        if (hasScale[i]) {
          w.line(fmt::format("{} += {}", sides[i].scale, w.oneOf({"2", "32", "h"})));
        }
      }
    }
  };
  if (isLoop) {
    std::string step = w.name();
    Writer::Block loop(w, fmt::format("for {} in range({}):", step, w.bound()));
    multiply(step);
  } else {
    multiply("");
  }
  int64_t offset = w.reserve(m * n);
  if (offset >= 0) {
    w.storeAt({w.let(fmt::format("{} * 64", sums)), "float32", {m, n}}, offset,
              w.positions({m, n}));
  }
  w.bind(sums, "float32", {m, n});
}

} // namespace nereid::fuzz
