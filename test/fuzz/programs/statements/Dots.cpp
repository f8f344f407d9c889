// SPDX-License-Identifier: Apache-2.0
// Products of matrices: alone, and in loops with everything that may stand around them. Numbers are
// whole and sums stay below 2^24, so that float32 holds them exactly in any order.
#include "test/fuzz/programs/statements/DotOperands.h"
#include "test/fuzz/programs/statements/Statements.h"

#include <fmt/format.h>

namespace nereid::fuzz {
namespace {

/// What is done with the sums behind the loop, in memory or as a value.
void finishProduct(Writer &w, const std::string &sums, const std::string &type, int64_t m,
                   int64_t n) {
  Value made{sums, type, {m, n}};
  if (w.chance(50)) {
    w.drawn(Class::DotEpilogue);
    // A bias of rows or of columns, a factor, a maximum.
    std::string text = sums;
    if (w.chance(60)) {
      text = fmt::format("{} + tl.load(X + tl.arange(0, {}))[None, :].to(tl.{})", text, n, type);
    }
    if (w.chance(30)) {
      text = fmt::format("({}) + tl.load(A + {} + tl.arange(0, {}))[:, None].to(tl.{})", text,
                         w.pick(50), m, type);
    }
    if (w.chance(50)) {
      text = fmt::format("tl.maximum({}, 0)", text);
    }
    if (w.chance(30)) {
      text = fmt::format("tl.where(tl.arange(0, {})[:, None] < n, {}, 3)", m, text);
    }
    made.name = w.let(fmt::format("({}).to(tl.{})", text, type));
  }
  std::string to = type == "int32" ? "W" : w.oneOf({"Y", "Y", "Z"});
  if (w.chance(55) && w.claim(to)) {
    std::string at = fmt::format("{} * {} + {}", w.pid(), m * n,
                                 w.positions({m, n}, w.chance(25) ? Shape{1, m} : Shape()));
    if (to == "Z") {
      made = {w.let(bounded(made.name, "float16")), "float16", made.shape};
    }
    std::string mask =
        fmt::format(", mask=(tl.arange(0, {})[:, None] < {}) & "
                    "(tl.arange(0, {})[None, :] < {})",
                    m, w.oneOf({"n", "m * 2", "9"}), n, w.oneOf({"m", "n * 3", "17"}));
    w.line(fmt::format("tl.store({} + {}, {}{})", to, at, made.name, w.chance(50) ? mask : ""));
    if (w.chance(70)) {
      return;
    }
  }
  if (w.chance(60)) {
    int64_t offset = w.reserve(m * n);
    if (offset >= 0) {
      w.storeAt(made, offset, w.positions({m, n}, w.chance(30) ? Shape{1, m} : Shape()));
    }
    if (w.chance(70)) {
      return;
    }
  }
  w.bind(made.name, made.type, {m, n});
}

std::string anyType(Writer &w) {
  return w.oneOf({"float32", "float32", "float16", "bfloat16", "int8", "float8e4nv", "float8e5"});
}

} // namespace

void multiplying(Writer &w) {
  w.drawn(Class::Dot);
  static const std::vector<int64_t> sizes = {16, 32};
  int64_t m = w.oneOf(sizes), k = w.oneOf(sizes), n = w.oneOf(sizes);
  auto loaded = [&](const Shape &shape) {
    return w.bind(fmt::format("tl.load(X + {} + {})", w.pick(100), w.positions(shape)), "float32",
                  shape, true);
  };
  Value a = loaded({m, k}), b = loaded({k, n});
  if (w.chance(60)) {
    w.bind(fmt::format("tl.dot({}, {})", a.name, b.name), "float32", {m, n});
    return;
  }
  // The left factor is also what another product takes, or has made, or is known to nobody else.
  std::string turned = fmt::format("tl.trans({})", a.name);
  Value c = loaded({m, n});
  switch (w.pick(3)) {
  case 0:
    w.bind(fmt::format("tl.dot({}, {})", a.name, b.name), "float32", {m, n});
    break;
  case 1: {
    std::string small = w.let(fmt::format("tl.load(F + {})", w.positions({k, m})));
    std::string other = w.let(fmt::format("tl.load(E + {})", w.positions({n, k})));
    turned = w.let(fmt::format("tl.dot({}, {})", other, small)); // [n, m], below 1024
    w.bind(
        fmt::format("tl.dot(tl.trans({}), {})", turned, w.let(fmt::format("tl.trans({})", c.name))),
        "float32", {m, m});
    return;
  }
  default:
    break;
  }
  w.bind(fmt::format("tl.dot({}, {})", turned, c.name), "float32", {k, n});
}

void multiplyingInLoop(Writer &w) {
  w.drawn(Class::DotLoop);
  static const std::vector<int64_t> sizes = {16, 16, 32, 64};
  int64_t m = 0, n = 0, k = 0;
  do {
    m = w.oneOf(sizes), n = w.oneOf(sizes), k = w.oneOf(sizes);
  } while (m * n * k > 32 * 32 * 32);
  std::string type = anyType(w), sumType = type == "int8" ? "int32" : "float32";
  std::string other = type == "float8e4nv" && w.chance(30) ? "float8e5" : type;
  bool isStepped = w.chance(30);
  bool standAlone = w.chance(35);
  int64_t last = isStepped ? 63 : 5;
  DotOperand a(w, m, k, true, type, last, standAlone), b(w, k, n, false, other, last, standAlone);
  std::string precision = type == "float32" ? ", input_precision='ieee'" : "";
  std::string sums =
      w.let(w.chance(80) ? fmt::format("tl.zeros(({}, {}), tl.{})", m, n, sumType)
                         : fmt::format("tl.load({} + {} + {})", sumType == "int32" ? "A" : "X",
                                       w.pick(30), w.positions({m, n})));
  a.begin();
  b.begin();
  std::string chained, extra;
  bool isChained = w.chance(12) && isReal(sumType) && n <= 32;
  if (isChained) {
    w.drawn(Class::DotChained);
    chained = w.let(fmt::format("tl.zeros(({}, {}), tl.float32)", m, k));
  }
  if (w.chance(12)) {
    extra = w.let(fmt::format("tl.zeros(({},), tl.{})", m, sumType));
  }
  std::string step = w.name();
  {
    std::string header = isStepped
                             ? fmt::format("for {} in range(0, {}, {}):", step,
                                           w.oneOf({"n * 4", "64", "m"}), w.oneOf({"16", "32"}))
                             : fmt::format("for {} in range({}):", step, w.bound());
    Writer::Block loop(w, header);
    std::string left = a.load(step), right = b.load(step);
    std::string product = fmt::format("tl.dot({}, {}{}", left, right, precision);
    std::string added = fmt::format("tl.dot({}, {}, {}{})", left, right, sums, precision);
    if (!extra.empty() && w.chance(50)) {
      // The sums of before, once those of now are there.
      w.drawn(Class::DotAccumulatorRead);
      std::string now = w.let(added);
      w.line(fmt::format("{} += tl.max({}, 1)", extra, sums));
      w.line(fmt::format("{} = {}", sums, now));
    } else {
      if (w.chance(10)) {
        // Somebody looks at the sums in between.
        w.drawn(Class::DotAccumulatorRead);
        w.line(w.chance(50) ? fmt::format("{0} = {0} + {1}", sums, step)
                            : fmt::format("{0} = tl.minimum({0}, 100000)", sums));
      }
      w.line(w.chance(50) ? fmt::format("{} += {})", sums, product)
                          : fmt::format("{} = {}", sums, added));
    }
    if (isChained) {
      // As attention: sums of this product times another operand.
      std::string part =
          w.let(bounded(product + ")", type.starts_with("float8") ? "float16" : type));
      std::string back = fmt::format("tl.trans({}).to(tl.{})", right,
                                     type.starts_with("float8") ? "float16" : type);
      w.line(fmt::format(
          "{0} = {1}", chained,
          bounded(fmt::format("tl.dot({}, {}, {}{})", part, back, chained, precision), "float32")));
    }
    if (!extra.empty()) {
      w.line(fmt::format("{} += tl.sum({}.to(tl.{}), 1)", extra, left, sumType));
    }
    a.advance();
    b.advance();
  }
  finishProduct(w, sums, sumType, m, n);
  if (isChained) {
    w.bind(chained, "float32", {m, k});
  }
  if (!extra.empty()) {
    w.bind(extra, sumType, {m});
  }
}

} // namespace nereid::fuzz
