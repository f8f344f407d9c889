// SPDX-License-Identifier: Apache-2.0
// Signed beside unsigned integers, of every two widths.
#include "test/fuzz/programs/statements/Statements.h"

#include <fmt/format.h>

namespace nereid::fuzz {

void mixingSigns(Writer &w) {
  const std::string &one = w.oneOf(signedTypes()), &other = w.oneOf(unsignedTypes());
  w.drawn(numberOfSigns(one, other));
  Value a = w.any();
  while (a.type == "int1" || isReal(a.type) || countOf(a.shape) > 512) {
    a = w.load();
  }
  Value b = w.like(a.shape, false);
  std::string left = w.let(fmt::format("{}.to(tl.{})", a.name, one));
  std::string right = w.let(fmt::format("{}.to(tl.{})", b.name, other));
  bool isUnsignedLast = w.chance(50);
  if (!isUnsignedLast) {
    std::swap(left, right);
  }
  static const std::vector<std::string> forms = {"{0} + {1}",
                                                 "{0} - {1}",
                                                 "{0} * {1}",
                                                 "{0} & {1}",
                                                 "{0} | {1}",
                                                 "{0} ^ {1}",
                                                 "tl.maximum({0}, {1})",
                                                 "tl.minimum({0}, {1})",
                                                 "{0} >> ({1} & 7)",
                                                 "{0} << ({1} & 7)",
                                                 "tl.where({0} > 3, {0}, {1})"};
  if (w.chance(30)) {
    w.bind(fmt::format("{} {} {}", left, w.oneOf({"<", "<=", "==", "!=", ">", ">="}), right),
           "int1", a.shape);
    return;
  }
  w.bind(fmt::format(fmt::runtime(w.oneOf(forms)), left, right),
         w.oneOf({"int64", "int32", "uint32", "int8", "uint64"}), a.shape);
}

} // namespace nereid::fuzz
