// SPDX-License-Identifier: Apache-2.0
// Memory that is read and written in place through addresses that look alike: a tile that may hold
// an address twice, and offsets that equal atomics return. What is stored to one address is one
// number, as it depends on the address and on what stood there.
#include "test/fuzz/programs/statements/Statements.h"

#include <fmt/format.h>

namespace nereid::fuzz {
namespace {

constexpr int64_t mostShift = 8;

/// Numbers in OUT that a statement updates, `size` and a few more.
struct Updated {
  int64_t size, offset;
  std::string lanes;
};

void fill(Writer &w, const Updated &memory) {
  for (int64_t shift : {int64_t{0}, mostShift}) {
    w.line(fmt::format("tl.store({} + {} + {}, {} * 3)", w.out(memory.offset), shift, memory.lanes,
                       memory.lanes));
  }
  w.line("tl.debug_barrier()");
}

std::string update(Writer &w) {
  return w.oneOf({"{0} + 1", "{0} * 2 + n", "{0} - {1}", "tl.maximum({0}, {1} * 2) + 1"});
}

void updateRepeated(Writer &w, const Updated &memory) {
  w.drawn(Class::RepeatedAddresses);
  std::string index = w.oneOf({"{0} // 2", "({0} + 1) // 2", "{0} % 8", "{0} % n", "{0} // h",
                               "{0} * 0", "tl.load(A + {0}) & 7", "{1} - 1 - {0}", "{0}"});
  std::string at = w.let(fmt::format(fmt::runtime(index), memory.lanes, memory.size));
  std::string pointers = fmt::format("{} + {}", w.out(memory.offset), at);
  std::string mask = w.chance(30) ? fmt::format(", mask={} < n", at) : "";
  if (w.chance(30)) { // the later one wins where both are made
    w.line(fmt::format("tl.store({}, {} + 1000{})", pointers, at, mask));
    w.line(fmt::format("tl.store({}, {}, mask={} % 2 == 1)", pointers, at, memory.lanes));
    return;
  }
  std::string x =
      w.let(fmt::format("tl.load({}{})", pointers, mask.empty() ? "" : mask + ", other=0"));
  w.line(fmt::format("tl.store({}, {}{})", pointers, fmt::format(fmt::runtime(update(w)), x, at),
                     mask));
}

/// Of a grid with one program: others would take numbers in between.
void updateAtCounter(Writer &w, const Updated &memory) {
  w.drawn(Class::AtomicOffsets);
  int64_t counter = w.pick(4);
  std::string add = fmt::format("tl.atomic_add(Q + {}, 1) & {}", counter, mostShift - 1);
  std::string from = w.let(add), to = w.let(add);
  std::string x =
      w.let(fmt::format("tl.load({} + {} + {})", w.out(memory.offset), from, memory.lanes));
  w.line(fmt::format("tl.store({} + {} + {}, {})", w.out(memory.offset), to, memory.lanes,
                     fmt::format(fmt::runtime(update(w)), x, memory.lanes)));
}

} // namespace

void updating(Writer &w) {
  Updated memory{int64_t{16} << w.pick(5), 0, ""};
  memory.offset = w.reserve(memory.size + mostShift);
  if (memory.offset < 0) {
    return;
  }
  memory.lanes = w.let(fmt::format("tl.arange(0, {})", memory.size));
  fill(w, memory);
  const bool counts = w.programs() == 1 && w.chance(30);
  auto once = [&] { counts ? updateAtCounter(w, memory) : updateRepeated(w, memory); };
  if (w.chance(30)) {
    Writer::Block loop(w, fmt::format("for {} in range({}):", w.name(), w.bound()));
    once();
  } else {
    once();
  }
  w.line("tl.debug_barrier()");
  w.bind(fmt::format("tl.load({} + {})", w.out(memory.offset), memory.lanes), "int64",
         {memory.size});
}

} // namespace nereid::fuzz
