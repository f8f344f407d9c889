// SPDX-License-Identifier: Apache-2.0
// Statements that combine the elements of a tile: reductions, scans, sorts, histograms.
#include "test/fuzz/programs/statements/Statements.h"

#include <fmt/format.h>

namespace nereid::fuzz {
namespace {

size_t anyAxis(Writer &w, const Value &a) {
  return static_cast<size_t>(w.pick(static_cast<int64_t>(a.shape.size())));
}

} // namespace

void reducing(Writer &w) {
  Value a = w.any();
  if (a.shape.empty() || a.type == "int1") {
    return;
  }
  w.drawn(Class::Reduction);
  size_t axis = anyAxis(w, a);
  Shape shape = a.shape;
  shape.erase(shape.begin() + static_cast<ptrdiff_t>(axis));
  std::vector<std::string> functions = {"sum", "max", "min"};
  if (a.type == "int32" || a.type == "int64") {
    functions.push_back("xor_sum");
  }
  if (w.chance(20)) {
    w.bind(fmt::format("tl.{}({}, axis={})", w.oneOf({"argmax", "argmin"}), a.name, axis), "int32",
           shape);
    return;
  }
  // A sum of many numbers is not exact in bfloat16, and of very many not in float16, and then its
  // order shows.
  const std::string function = w.oneOf(functions);
  bool isRounded = function == "sum" && isReal(a.type) && a.type != "float64";
  w.bind(fmt::format("tl.{}({}{}, axis={})", function, a.name, isRounded ? ".to(tl.float32)" : "",
                     axis),
         a.type, shape);
}

void scanning(Writer &w) {
  Value a = w.any();
  if (a.shape.empty() || a.type == "int1" || countOf(a.shape) > 256) {
    return;
  }
  w.drawn(Class::Scan);
  size_t axis = anyAxis(w, a);
  if (w.chance(25) && axis + 1 == a.shape.size() && a.shape[axis] > 1) {
    w.bind(fmt::format("tl.sort({}, {})", a.name, axis), a.type, a.shape, true);
    return;
  }
  std::string of = isReal(a.type) ? fmt::format("{}.to(tl.float32)", a.name) : a.name;
  w.bind(fmt::format("tl.cumsum({}, axis={}, reverse={})", of, axis, w.oneOf({"True", "False"})),
         a.type, a.shape);
}

void counting(Writer &w) {
  Value a = w.any();
  if (a.shape.size() != 1 || isReal(a.type) || a.type == "int1") {
    return;
  }
  w.drawn(Class::Histogram);
  std::string mask =
      w.chance(40) ? fmt::format(", mask=tl.arange(0, {}) < n", a.shape[0]) : std::string();
  w.bind(fmt::format("tl.histogram(({} & 31).to(tl.int32) - 4, 16{})", a.name, mask), "int32",
         {16});
}

void combining(Writer &w) {
  Value a = w.any();
  if (a.shape.empty() || (a.type != "int32" && a.type != "int64") || countOf(a.shape) > 512) {
    return;
  }
  w.drawn(Class::Combination);
  Value b = w.bind(fmt::format("{} & 7", w.like(a.shape, false).name), a.type, a.shape);
  size_t axis = anyAxis(w, a);
  Value first{w.name(), a.type, a.shape}, second{w.name(), a.type, a.shape};
  if (w.chance(60)) {
    w.line(fmt::format("{}, {} = tl.associative_scan(({}, {}), {}, compose, reverse={})",
                       first.name, second.name, a.name, b.name, axis, w.oneOf({"True", "False"})));
  } else {
    first.shape.erase(first.shape.begin() + static_cast<ptrdiff_t>(axis));
    second.shape = first.shape;
    w.line(fmt::format("{}, {} = tl.reduce(({}, {}), {}, {})", first.name, second.name, a.name,
                       b.name, axis, w.oneOf({"both", "smaller"})));
  }
  w.keep(first);
  w.keep(second);
}

} // namespace nereid::fuzz
