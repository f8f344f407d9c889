// SPDX-License-Identifier: Apache-2.0
// Element-wise statements: arithmetic, comparisons, choices, conversions.
#include "test/fuzz/programs/statements/Statements.h"

#include <fmt/format.h>

namespace nereid::fuzz {

void loading(Writer &w) { w.load(); }

void elementwise(Writer &w) {
  w.drawn(Class::Elementwise);
  Value a = w.any();
  bool real = isReal(a.type);
  if (a.type == "int1") {
    Value b = w.like(a.shape, false);
    w.bind(fmt::format("{} {} ({} > 2)", a.name, w.oneOf({"&", "|", "^"}), b.name), "int1",
           a.shape);
    return;
  }
  Value b = w.like(a.shape, real);
  if (w.chance(15)) {
    w.bind(fmt::format("{} {} {}", a.name, w.oneOf({"<", "<=", "==", "!=", ">", ">="}), b.name),
           "int1", a.shape);
    return;
  }
  std::string type = w.chance(50) ? a.type : b.type;
  if (real) {
    static const std::vector<std::string> forms = {
        "{} + {}",      "{} - {}",        "{} * {}", "tl.maximum({}, {})", "tl.minimum({}, {})",
        "-{} + {} * 0", "tl.abs({}) - {}"};
    w.bind(fmt::format(fmt::runtime(w.oneOf(forms)), a.name, b.name), type, a.shape);
    return;
  }
  // Division wants operands of one signedness.
  static const std::vector<std::string> forms = {"{} + {}",
                                                 "{} - {}",
                                                 "{} * {}",
                                                 "{} & {}",
                                                 "{} | {}",
                                                 "{} ^ {}",
                                                 "{0} // (({1} & 7).to(tl.{2}) + 1)",
                                                 "{0} % (({1} & 15).to(tl.{2}) + 1)",
                                                 "{} << ({} & 7)",
                                                 "{} >> ({} & 7)",
                                                 "tl.maximum({}, {})",
                                                 "tl.minimum({}, {})",
                                                 "~{} + {}",
                                                 "tl.abs({}) ^ {}"};
  w.bind(fmt::format(fmt::runtime(w.oneOf(forms)), a.name, b.name, a.type), type, a.shape);
}

void choosing(Writer &w) {
  Value a = w.any();
  if (a.type == "int1") {
    return;
  }
  Value b = w.like(a.shape, isReal(a.type)), c = w.like(a.shape, w.chance(50));
  w.bind(fmt::format("tl.where({} > {}, {}, {})", c.name, w.pick(5), a.name, b.name), a.type,
         a.shape);
}

void converting(Writer &w) {
  Value a = w.any();
  if (a.type == "int1") {
    w.bind(a.name, "int32", a.shape, true);
  } else if (isReal(a.type)) {
    w.bind(w.chance(50) ? fmt::format("tl.abs({})", a.name) : a.name,
           w.chance(50) ? w.oneOf(w.realTypes) : "int32", a.shape, true);
  } else if (w.chance(50)) {
    w.bind(fmt::format("{} & 63", a.name), w.oneOf(w.realTypes), a.shape, true);
  } else {
    w.bind(a.name, w.oneOf(w.wholeTypes), a.shape, true);
  }
}

} // namespace nereid::fuzz
