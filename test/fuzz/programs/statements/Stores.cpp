// SPDX-License-Identifier: Apache-2.0
// Statements about memory that is written: read back, written several times, added to atomically.
#include "test/fuzz/programs/statements/Statements.h"

#include <fmt/format.h>

namespace nereid::fuzz {

/// Writes a tile to memory and reads it back shifted.
void readingBack(Writer &w) {
  Value a = w.any();
  int64_t count = countOf(a.shape);
  int64_t offset = a.type == "int1" || count > 1024 ? -1 : w.reserve(count + 1);
  if (offset < 0) {
    return;
  }
  w.drawn(Class::ReadBack);
  w.line(fmt::format("tl.store({} + {}, ({}).to(tl.int64))", w.out(offset), w.positions(a.shape),
                     a.name));
  if (w.chance(30)) {
    w.line("tl.debug_barrier()");
  }
  w.bind(fmt::format("tl.load({} + ({} + 1) % {})", w.out(offset), w.positions(a.shape), count),
         "int64", a.shape, true);
}

/// Two or three stores to the same elements, or to neighbours in turns, maybe in a loop.
void storingSeveralTimes(Writer &w) {
  Value a = w.any();
  int64_t count = countOf(a.shape);
  int64_t offset = a.type == "int1" || count > 1024 ? -1 : w.reserve(count * 2 + 8);
  if (offset < 0) {
    return;
  }
  w.drawn(Class::SeveralStores);
  Value b = w.like(a.shape, isReal(a.type));
  std::string at = w.positions(a.shape);
  auto stores = [&](const std::string &shift) {
    w.storeAt(a, offset, fmt::format("({}) * 2{}", at, shift));
    w.storeAt(b, offset, fmt::format("({}) * 2 + {}{}", at, w.pick(2), shift));
    if (w.chance(40)) {
      Value c = w.like(a.shape, isReal(a.type));
      w.line(fmt::format("tl.store({} + {}{}, {}.to(tl.int64), mask=({}) % 3 == 1)", w.out(offset),
                         at, shift, c.name, at));
    }
  };
  if (w.chance(50)) {
    return stores("");
  }
  w.drawn(Class::StoresInLoop);
  std::string k = w.name();
  Writer::Block loop(w, fmt::format("for {} in range({}):", k, w.bound()));
  stores(w.chance(50) ? " + " + k : "");
}

/// Sums in memory, of whole numbers, whose order does not show.
void addingAtomically(Writer &w) {
  w.drawn(Class::Atomics);
  bool real = w.chance(50);
  int64_t size = int64_t{16} << w.pick(4);
  Value value = w.like({size}, real);
  std::string clean =
      real ? bounded(value.name, "float32") : fmt::format("({} & 63).to(tl.int32)", value.name);
  std::string at = w.oneOf({"tl.arange(0, {0})", "tl.arange(0, {0}) // 4", "tl.arange(0, {0}) % 8",
                            "tl.arange(0, {0}) * 2 + n", "tl.arange(0, {0}) // h"});
  at = fmt::format(fmt::runtime(at), size);
  std::string mask =
      w.chance(50) ? fmt::format(", mask=tl.arange(0, {}) < n * 3", size) : std::string();
  std::string text =
      fmt::format("tl.atomic_add({} + {}, {}{})", real ? "REALS" : "SUMS", at, clean, mask);
  if (w.chance(40)) {
    return w.atEnd(text);
  }
  if (w.chance(40)) {
    Writer::Block loop(w, fmt::format("for {} in range({}):", w.name(), w.bound()));
    w.line(text);
    return;
  }
  w.line(text);
}

/// Each program goes on from what the one before it has left.
void waiting(Writer &w) {
  if (w.programs() == 1 || !w.claim("Q")) {
    return addingAtomically(w);
  }
  w.drawn(Class::Waiting);
  int64_t size = int64_t{16} << w.pick(3);
  std::string lanes = w.let(fmt::format("tl.arange(0, {})", size));
  std::string sums = w.let(fmt::format("tl.load(A + {})", lanes));
  {
    Writer::Block later(w, "if pid > 0:");
    {
      Writer::Block poll(w, w.oneOf({"while tl.atomic_add(FLAGS + pid, 0) == 0:",
                                     "while tl.atomic_cas(FLAGS + pid, 1, 1) != 1:"}));
      w.line("pass");
    }
    w.line(fmt::format("{} += tl.load(Q + {} * (pid - 1) + {} * 2)", sums, 2 * size, lanes));
  }
  w.line(fmt::format("tl.store(Q + {} * pid + {} * 2, {})", 2 * size, lanes, sums));
  w.line("tl.debug_barrier()");
  w.line("tl.atomic_xchg(FLAGS + pid + 1, 1)");
  w.bind(sums, "int32", {size});
}

} // namespace nereid::fuzz
