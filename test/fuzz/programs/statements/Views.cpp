// SPDX-License-Identifier: Apache-2.0
// Quotients and remainders of ranges as addresses, as group norms, channel biases and chains of
// views (reshape, permute, slice) have them: in front of a loop, or inside it.
#include "test/fuzz/programs/statements/Statements.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace nereid::fuzz {
namespace {

/// Numbers from 0 to below `limit`.
struct Index {
  std::string text;
  int64_t limit;
};

struct Divisor {
  std::string text;
  int64_t value;
  bool isConstant;
};

Divisor divisor(Writer &w) {
  const Program &program = w.soFar();
  switch (w.pick(5)) {
  case 0:
    return {"h", program.h, false};
  case 1:
    return {"n", program.n, false};
  default:
    int64_t value = w.oneOf(std::vector<int64_t>{1, 2, 3, 4, 5, 7, 8, 16, 20, 32});
    return {std::to_string(value), value, true};
  }
}

bool isPowerOfTwo(int64_t value) { return (value & (value - 1)) == 0; }

int64_t logarithm(int64_t value) {
  int64_t bits = 0;
  while (value > 1) {
    value /= 2;
    ++bits;
  }
  return bits;
}

class Chain {
public:
  Chain(Writer &w, bool isInLoop) : w(w), isInLoop(isInLoop) {}

  std::vector<Index> parts(Index rest) {
    std::vector<Index> list;
    int64_t levels = w.between(1, 3);
    if (levels > 1) {
      w.drawn(Class::ViewChain);
    }
    for (int64_t i = 0; i < levels; ++i) {
      Divisor by = divisor(w);
      if (w.chance(75)) {
        list.push_back(remainder(rest, by));
      }
      rest = quotient(rest, by);
    }
    list.push_back(rest);
    return list;
  }

private:
  Index named(const std::string &text, int64_t limit) {
    return {w.chance(80) ? w.let(text) : "(" + text + ")", limit};
  }
  void drawn(Class hoisted) { w.drawn(isInLoop ? Class::QuotientInLoop : hoisted); }

  Index quotient(const Index &of, const Divisor &by) {
    int64_t limit = (of.limit + by.value - 1) / by.value;
    if (by.isConstant && isPowerOfTwo(by.value) && w.chance(50)) {
      drawn(Class::HoistedShift);
      return named(fmt::format("{} >> {}", of.text, logarithm(by.value)), limit);
    }
    drawn(by.isConstant ? Class::HoistedQuotientConstant : Class::HoistedQuotient);
    return named(fmt::format("{} // {}", of.text, by.text), limit);
  }

  Index remainder(const Index &of, const Divisor &by) {
    drawn(Class::HoistedRemainder);
    int64_t limit = std::min(of.limit, by.value);
    if (by.isConstant && isPowerOfTwo(by.value) && w.chance(30)) {
      return named(fmt::format("{} & {}", of.text, by.value - 1), limit);
    }
    return named(fmt::format("{} % {}", of.text, by.text), limit);
  }

  Writer &w;
  bool isInLoop;
};

/// The parts, each with a stride that keeps the sum inside of a buffer.
std::string address(Writer &w, const std::vector<Index> &parts) {
  std::vector<std::string> terms;
  for (const Index &part : parts) {
    int64_t largest = std::max<int64_t>(1, 3000 / part.limit);
    int64_t m = w.soFar().m;
    if (w.chance(25) && m <= largest) {
      terms.push_back(part.text + " * m");
    } else if (w.chance(25)) {
      terms.push_back(part.text);
    } else {
      terms.push_back(
          fmt::format("{} * {}", part.text, w.between(1, std::min<int64_t>(40, largest))));
    }
  }
  w.shuffle(terms);
  return fmt::format("{}", fmt::join(terms, " + "));
}

} // namespace

void viewing(Writer &w) {
  int64_t size = int64_t{16} << w.pick(4), start = w.pick(3) * 8;
  int64_t columns = w.chance(25) ? int64_t{4} << w.pick(3) : 0;
  std::string range = fmt::format("tl.arange(0, {})", size);
  if (w.programs() > 1) {
    range = fmt::format("pid * {} + {}", size, range);
  }
  if (start > 0) {
    range += fmt::format(" + {}", start);
  }
  Index x{w.let(range), size * w.programs() + start};
  bool real = w.chance(50), isLoop = w.chance(85), isInLoop = isLoop && w.chance(20);
  std::string from = w.oneOf(real ? w.realBuffers : w.wholeBuffers);
  std::string type = real ? "float32" : w.oneOf({"int32", "int64"});
  Shape shape = columns > 0 ? Shape{size, columns} : Shape{size};
  std::string total = w.name();
  std::vector<Index> parts;
  auto makeParts = [&] {
    parts = Chain(w, isInLoop).parts(x);
    if (columns > 0) {
      for (Index &part : parts) {
        part.text = part.text + "[:, None]";
      }
      parts.push_back({rangeAlong(1, 2, columns), columns});
    }
  };
  auto loaded = [&](const std::string &more) {
    std::string mask;
    if (w.chance(50)) {
      const Index &part = w.chance(50) ? w.oneOf(parts) : x;
      std::string text = columns > 0 && part.text == x.text ? x.text + "[:, None]" : part.text;
      mask = fmt::format(", mask={} < {}{}", text,
                         w.oneOf({"n", "m", "h * 3", "n * m", "3", "20", "64"}),
                         w.chance(70) ? ", other=0" : ", other=1");
    }
    return fmt::format("tl.load({} + {}{}{}).to(tl.{})", from, address(w, parts), more, mask, type);
  };
  if (!isInLoop) {
    makeParts();
  }
  if (isLoop) {
    w.line(fmt::format("{} = tl.full(({},{}), 0, tl.{})", total, size,
                       columns > 0 ? " " + std::to_string(columns) : std::string(), type));
    std::string k = w.name();
    Writer::Block loop(w, fmt::format("for {} in range({}):", k, w.bound()));
    if (isInLoop) {
      makeParts();
    }
    for (int64_t i = w.between(1, 2); i > 0; --i) {
      w.line(fmt::format("{} += {}", total,
                         loaded(w.oneOf({" + ", ""}).empty()
                                    ? std::string()
                                    : " + " + k + w.oneOf({"", " * n", " * 16", " * 3"}))));
    }
  } else {
    w.line(fmt::format("{} = {}", total, loaded("")));
  }
  Value made = w.bind(total, type, shape);
  if (columns == 0 && w.chance(40)) {
    // Every lane has a place of its own: the range transposed as size / c by c.
    int64_t c = int64_t{2} << w.pick(3), offset = w.reserve(size);
    if (offset >= 0) {
      w.drawn(Class::ViewStored);
      std::string lanes = fmt::format("tl.arange(0, {})", size);
      w.storeAt(made, offset,
                w.let(fmt::format("{0} % {1} * {2} + {0} // {1}", lanes, c, size / c)));
    }
  }
}

} // namespace nereid::fuzz
