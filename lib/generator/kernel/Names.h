// SPDX-License-Identifier: Apache-2.0
// Names in one kernel: each is taken once, none is a word of the language.
#pragma once

#include <set>
#include <string>

namespace nereid::generator::kernel {

class Names {
public:
  Names();
  /// An identifier made of `hint`, whatever stands in that, with a number behind it when it is
  /// taken: "x", "x_1", …
  std::string fresh(const std::string &hint);

private:
  std::set<std::string> taken;
};

} // namespace nereid::generator::kernel
