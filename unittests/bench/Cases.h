// SPDX-License-Identifier: Apache-2.0
// A folder with a right and a wrong kernel that double a tensor, and its cases.
#pragma once

#include "lib/launch/KernelCases.h"
#include "lib/support/AtomicFile.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include <unistd.h>

namespace nereid::bench {

class CaseFolder : public testing::Test {
protected:
  CaseFolder() {
    std::filesystem::create_directories(folder);
    std::string text = "import triton\nimport triton.language as tl\n";
    for (const auto &[name, factor] : {std::pair("right", "2"), std::pair("wrong", "2.5")}) {
      text += std::string("\n@triton.jit\ndef ") + name +
              "(x, out, n, BLOCK: tl.constexpr):\n"
              "    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)\n"
              "    tl.store(out + i, tl.load(x + i, i < n) * " +
              factor + ", i < n)\n";
    }
    EXPECT_TRUE(bool(writeFileAtomically(folder + "/double.py", text)));
  }
  ~CaseFolder() override { std::filesystem::remove_all(folder); }

  launch::KernelCase doubling(const std::string &function) const {
    launch::KernelCase one;
    one.name = function + " case";
    one.kernel = folder + "/double.py:" + function;
    one.signature = "*fp32, *fp32, i32, 64";
    one.grid = "cdiv(n, BLOCK)";
    one.arguments = {"x=randn(100)", "out=empty(100)", "n=100"};
    one.reference = {{"out", "x * 2"}};
    return one;
  }

  const std::string folder =
      (std::filesystem::temp_directory_path() / ("nereid-bench-" + std::to_string(getpid())))
          .string();
};

} // namespace nereid::bench
