// SPDX-License-Identifier: Apache-2.0
// Programs of the tests of this folder, as text.
#pragma once

#include "lib/generator/program/Program.h"

#include <gtest/gtest.h>

namespace nereid::generator {

inline Program program(const std::string &text) {
  auto read = readProgram("test", text);
  EXPECT_TRUE(bool(read)) << (read ? "" : render(read.error())) << text;
  return read ? std::move(*read) : Program{};
}

/// The lines from the first stage on.
inline std::string stages(const Program &program) {
  const std::string text = print(program);
  return text.substr(std::min(text.find("stage("), text.size()));
}

} // namespace nereid::generator
