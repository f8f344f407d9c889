// SPDX-License-Identifier: Apache-2.0
// Literals of every size beside every type.
#include "test/fuzz/programs/statements/Statements.h"

#include <fmt/format.h>

namespace nereid::fuzz {
namespace {

/// A literal of the size, which the type holds.
std::string literalOf(Writer &w, const std::string &size, const std::string &type) {
  bool isUnsigned = type.starts_with("uint");
  int64_t bits = bitsOf(type);
  if (size == "of 8 bits") {
    return isUnsigned && w.chance(30) ? w.oneOf({"200", "255", "128"})
                                      : w.oneOf({"0", "1", "2", "3", "7", "15", "100", "127"});
  }
  if (size == "of 16 bits") {
    return isUnsigned ? w.oneOf({"256", "40000", "65535"})
                      : w.oneOf({"128", "256", "1000", "32767"});
  }
  if (size == "of 32 bits") {
    return isUnsigned ? w.oneOf({"65536", "3000000000", "4294967295"})
                      : w.oneOf({"32768", "65536", "2147483647"});
  }
  if (size == "of 64 bits") {
    return isUnsigned ? w.oneOf({"4294967296", "9223372036854775808", "18446744073709551615"})
                      : w.oneOf({"2147483648", "4294967296", "9223372036854775807"});
  }
  if (size == "negative") {
    return bits < 16   ? w.oneOf({"-1", "-128", "-3"})
           : bits < 32 ? w.oneOf({"-1", "-129", "-32768"})
           : bits < 64 ? w.oneOf({"-1", "-32769", "-2147483648"})
                       : w.oneOf({"-1", "-2147483649", "-3"});
  }
  return w.oneOf({"0.5", "1.5", "-2.0", "0.25", "3.0", "64.0"});
}

} // namespace

void writingLiterals(Writer &w) {
  for (int64_t i = w.between(1, 3); i > 0; --i) {
    const std::string &size = w.oneOf(literalSizes()), &type = w.oneOf(literalTypes());
    if (!fits(size, type)) {
      continue;
    }
    std::string literal = literalOf(w, size, type);
    w.drawn(numberOfLiteral(size, type));
    Value a = w.any();
    while (a.type == "int1" || countOf(a.shape) > 512) {
      a = w.load();
    }
    std::string own = a.type == type ? a.name
                      : isReal(type)
                          ? w.let(bounded(a.name, type))
                          : w.let(fmt::format("{}.to(tl.int64).to(tl.{})", a.name, type));
    bool real = isReal(type) || size == "real";
    static const std::vector<std::string> reals = {"{0} + {1}", "{1} - {0}", "{0} * {1}",
                                                   "tl.maximum({0}, {1})",
                                                   "tl.where({0} > {1}, {0}, {1})"};
    static const std::vector<std::string> wholes = {"{0} + {1}",
                                                    "{1} - {0}",
                                                    "{0} * {1}",
                                                    "{0} & {1}",
                                                    "{0} | {1}",
                                                    "{1} ^ {0}",
                                                    "tl.maximum({0}, {1})",
                                                    "tl.where({0} > {1}, {0}, {1})",
                                                    "({0} << 4) >> 4",
                                                    "({0} << 3) >> 2",
                                                    "({0} + {1}) >> 1",
                                                    "~{0} & {1}"};
    if (w.chance(20)) {
      w.bind(fmt::format("{} {} {}", own, w.oneOf({"<", "<=", "==", "!=", ">", ">="}), literal),
             "int1", a.shape);
      continue;
    }
    if (!real && literal[0] != '-' && literal != "0" && w.chance(20)) {
      w.bind(fmt::format("{} {} {}", own, w.oneOf({"//", "%"}), literal), type, a.shape);
      continue;
    }
    std::string text = fmt::format(fmt::runtime(w.oneOf(real ? reals : wholes)), own, literal);
    w.bind(text, real ? (isReal(type) ? type : "float32") : w.chance(60) ? type : "int64", a.shape);
  }
}

} // namespace nereid::fuzz
