// SPDX-License-Identifier: Apache-2.0
// Parameters that share memory: results in place of arguments, interleaved rows and elements of one
// buffer, and parts of it beside each other. Program order alone decides what each reads: no two
// programs of the grid touch the same bytes.
#include "test/fuzz/programs/statements/Statements.h"

#include <fmt/format.h>

namespace nereid::fuzz {
namespace {

/// Parameters of P (float32) or Q (int32).
struct Shared {
  std::string buffer, type;
  bool isReal() const { return type == "float32"; }
  std::string fit(const std::string &expression) const {
    return isReal() ? bounded(expression, type) : fmt::format("({}).to(tl.{})", expression, type);
  }
};

Shared anyBuffer(Writer &w) { return w.chance(60) ? Shared{"P", "float32"} : Shared{"Q", "int32"}; }

std::string result(Writer &w, const Shared &shared, const std::string &x, const std::string &y) {
  return shared.fit(
      fmt::format(fmt::runtime(w.oneOf({"{0} + 1", "{0} - {1}", "{0} * 2 + {1}",
                                        "tl.maximum({0}, {1})", "tl.where({0} > {1}, {1}, {0})",
                                        "{0} - tl.sum({1}, 0)", "{0} + tl.max({0}, 0)"})),
                  x, y));
}

std::string maskFor(Writer &w, const std::string &lanes) {
  return w.chance(50) ? fmt::format(", mask={} < {}", lanes, w.oneOf({"n * 8", "m * 4", "40"}))
                      : "";
}

} // namespace

/// Rows whose result stands where one of their arguments stood, under another name or under its
/// own.
void writingInPlace(Writer &w) {
  Shared shared = anyBuffer(w);
  if (!w.claim(shared.buffer)) {
    return;
  }
  w.drawn(Class::InPlace);
  std::string to = w.chance(60) ? w.name() : shared.buffer;
  if (to != shared.buffer) {
    w.addView({to, shared.buffer, 0});
  }
  int64_t size = int64_t{32} << w.pick(4), rows = w.between(1, 4);
  std::string lanes = w.let(fmt::format("tl.arange(0, {})", size)), mask = maskFor(w, lanes);
  std::string stride = w.chance(50)
                           ? std::to_string(size + w.oneOf(std::vector<int64_t>{0, 0, 3, 16}))
                           : fmt::format("({} + n)", size);
  auto row = [&](const std::string &number) {
    std::string at = w.let(fmt::format("{} * {} + {}", number, stride, lanes));
    std::string x = w.let(fmt::format("tl.load({} + {}{})", shared.buffer, at,
                                      mask.empty() ? "" : mask + ", other=0"));
    if (w.chance(30)) {
      w.line(fmt::format("tl.store({} + {}, {}{})", to, at, shared.fit(x + " * 3"), mask));
      x = w.let(fmt::format("tl.load({} + {}{})", w.chance(50) ? to : shared.buffer, at,
                            mask.empty() ? "" : mask + ", other=0"));
    }
    std::string y =
        w.chance(50) ? x
                     : w.let(fmt::format("tl.load({} + {})", shared.isReal() ? "X" : "A", lanes));
    w.line(fmt::format("tl.store({} + {}, {}{})", to, at, result(w, shared, x, y), mask));
  };
  if (rows == 1) {
    return row(w.pid());
  }
  std::string k = w.name();
  Writer::Block loop(w, fmt::format("for {} in range({}, {}, {}):", k, w.pid(), rows * w.programs(),
                                    w.programs()));
  row(k);
}

/// As queries, keys and values in one buffer: rows in turns, or elements in turns.
void interleaving(Writer &w) {
  Shared shared = anyBuffer(w);
  if (!w.claim(shared.buffer)) {
    return;
  }
  int64_t parts = w.between(2, 3), size = int64_t{16} << w.pick(3), rows = w.between(1, 5);
  bool byElement = w.chance(30), isNeighbouring = !byElement && w.chance(30);
  w.drawn(isNeighbouring ? Class::Neighbouring : Class::Interleaved);
  int64_t element = byElement ? parts : 1;
  int64_t stride = isNeighbouring ? size : size * parts;
  int64_t apart = byElement ? 1 : isNeighbouring ? size * rows * w.programs() : size;
  std::vector<std::string> names;
  for (int64_t i = 0; i < parts; ++i) {
    names.push_back(w.name());
    w.addView({names.back(), shared.buffer, i * apart});
  }
  w.shuffle(names);
  std::string lanes = w.let(fmt::format("tl.arange(0, {})", size)), k = w.name();
  std::string mask = maskFor(w, lanes), other = mask.empty() ? "" : mask + ", other=0";
  bool isTile = w.chance(30) && rows >= 4;
  auto address = [&](const std::string &name, const std::string &row) {
    return fmt::format("{} + {} * {} + {} * {}", name, row, stride, lanes, element);
  };
  auto body = [&](const std::string &row) {
    std::string x = w.let(fmt::format("tl.load({}{})", address(names[0], row), other));
    std::string y =
        parts == 3 ? w.let(fmt::format("tl.load({}{})", address(names[1], row), other)) : x;
    w.line(fmt::format("tl.store({}, {}{})", address(names.back(), row), result(w, shared, x, y),
                       mask));
  };
  if (isTile) {
    // Four rows at a time.
    std::string two =
        fmt::format("({} * {} + tl.arange(0, 4))[:, None] * {} + tl.arange(0, {})[None, :] * {}",
                    w.pid(), rows, stride, size, element);
    std::string x = w.let(fmt::format("tl.load({} + {})", names[0], two));
    std::string sum = w.let(fmt::format("tl.sum({}, 1)", x));
    w.line(fmt::format("tl.store({} + {}, {})", names.back(), two,
                       shared.fit(fmt::format("{} + {}[:, None]", x, sum))));
    return;
  }
  if (rows == 1) {
    return body(w.pid());
  }
  Writer::Block loop(w, fmt::format("for {} in range({}, {}, {}):", k, w.pid(), rows * w.programs(),
                                    w.programs()));
  body(k);
}

/// A result that begins inside of an argument. What each element is depends on the order of reads
/// and writes, which targets may change: `nereid check` reports it.
void overlapping(Writer &w) {
  Shared shared = anyBuffer(w);
  if (!w.claim(shared.buffer)) {
    return;
  }
  w.drawn(Class::Overlapping);
  w.shareInPart();
  int64_t size = int64_t{16} << w.pick(4);
  std::string to = w.name();
  w.addView({to, shared.buffer, w.oneOf(std::vector<int64_t>{1, 3, 16, size / 2, size, 64})});
  if (shared.isReal() && w.chance(30)) {
    std::string sums = w.let("tl.zeros((16, 16), tl.float32)"), k = w.name();
    {
      Writer::Block loop(w, fmt::format("for {} in range({}):", k, w.bound()));
      std::string a = w.let(fmt::format("tl.load(P + {} + {} * 16)", w.positions({16, 16}), k));
      std::string b = w.let(fmt::format("tl.load(X + {} + {} * 256)", w.positions({16, 16}), k));
      w.line(fmt::format("{} += tl.dot({}, {}, input_precision='ieee')", sums, a, b));
    }
    w.line(fmt::format("tl.store({} + {}, {})", to, w.positions({16, 16}), sums));
    return;
  }
  std::string lanes = w.let(fmt::format("tl.arange(0, {})", size)), mask = maskFor(w, lanes);
  auto row = [&](const std::string &number) {
    std::string at = w.let(fmt::format("{} * {} + {}", number, size, lanes));
    std::string x = w.let(fmt::format("tl.load({} + {})", shared.buffer, at));
    w.line(fmt::format("tl.store({} + {}, {}{})", to, at, result(w, shared, x, x), mask));
  };
  if (w.chance(40)) {
    return row(w.pid());
  }
  std::string k = w.name();
  Writer::Block loop(w, fmt::format("for {} in range({}, {}, {}):", k, w.pid(),
                                    w.between(1, 4) * w.programs(), w.programs()));
  row(k);
}

/// The same with a barrier between what reads and what writes, and rows of each program's own: what
/// each element is follows from the order of the source.
void overlappingInOrder(Writer &w) {
  Shared shared = anyBuffer(w);
  if (!w.claim(shared.buffer)) {
    return;
  }
  w.drawn(Class::OverlappingOrdered);
  int64_t size = int64_t{16} << w.pick(4);
  std::string to = w.name();
  w.addView({to, shared.buffer, w.oneOf(std::vector<int64_t>{1, 3, 16, size / 2, size})});
  std::string lanes = w.let(fmt::format("tl.arange(0, {})", size)), mask = maskFor(w, lanes);
  auto row = [&](const std::string &number) {
    std::string at = w.let(fmt::format("{} * {} + {}", number, 2 * size, lanes));
    bool isStoredFirst = w.chance(40);
    std::string from = isStoredFirst ? to : shared.buffer,
                into = isStoredFirst ? shared.buffer : to;
    std::string x = w.let(fmt::format("tl.load({} + {})", from, at));
    w.line("tl.debug_barrier()");
    w.line(fmt::format("tl.store({} + {}, {}{})", into, at, result(w, shared, x, x), mask));
    w.line("tl.debug_barrier()");
    std::string y = w.let(fmt::format("tl.load({} + {})", from, at));
    w.line(fmt::format("tl.store({} + {}, {}{})", from, at, result(w, shared, y, x), mask));
  };
  if (w.chance(40)) {
    return row(w.pid());
  }
  std::string k = w.name();
  Writer::Block loop(w, fmt::format("for {} in range({}, {}, {}):", k, w.pid(),
                                    w.between(1, 3) * w.programs(), w.programs()));
  row(k);
}

} // namespace nereid::fuzz
