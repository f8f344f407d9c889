// SPDX-License-Identifier: Apache-2.0
// Which function of a file is the kernel that is meant.
#include "lib/language/ChooseKernel.h"

#include "lib/language/syntax/Parser.h"

#include <gtest/gtest.h>

using namespace nereid;
using namespace nereid::language;

namespace {

std::string chosen(const std::string &text, const std::string &wanted) {
  Diagnostics diags;
  auto module = parseModule("k.py", text, diags);
  EXPECT_TRUE(module) << diags.render();
  auto kernel = chooseKernel(*module, wanted, diags);
  return kernel ? (*kernel)->name : kernel.error().code + ": " + kernel.error().message;
}

constexpr const char *one = "import triton\n@triton.jit\ndef first(x):\n    pass\n";
constexpr const char *two = "import triton\n@triton.jit\ndef first(x):\n    pass\n"
                            "@triton.jit\ndef second(x):\n    pass\ndef plain():\n    pass\n";

} // namespace

TEST(ChooseKernel, TheOnlyOneNeedsNoName) {
  EXPECT_EQ(chosen(one, ""), "first");
  EXPECT_EQ(chosen(two, "second"), "second");
}

TEST(ChooseKernel, EveryWayNotToChooseIsOneCode) {
  EXPECT_EQ(chosen(two, ""), "E0014: 'k.py' expects one kernel, but has 2");
  EXPECT_EQ(chosen("x = 1\n", ""), "E0014: 'k.py' expects one kernel, but has 0");
  EXPECT_EQ(chosen(two, "plain"), "E0014: 'k.py' has no kernel 'plain'");
  EXPECT_EQ(chooseKernelName("k.py", {"first"}, "frist").error().notes.front(),
            "nearest name: 'first'");
}

TEST(ChooseKernel, AFunctionOfTheKernelsNameBehindItIsNamed) {
  const std::string hidden = std::string(one) + "def first(x):\n    first[(1,)](x)\n";
  Diagnostics diags;
  auto module = parseModule("k.py", hidden, diags);
  ASSERT_TRUE(module) << diags.render();
  for (const char *wanted : {"", "first"}) {
    auto kernel = chooseKernel(*module, wanted, diags);
    ASSERT_FALSE(bool(kernel));
    EXPECT_EQ(kernel.error().code, "E0014");
    EXPECT_EQ(kernel.error().notes.front(),
              "this function without @triton.jit comes later and replaces the kernel of its name, "
              "as it does in Python");
    EXPECT_EQ(kernel.error().range.line, 5);
    EXPECT_EQ(kernel.error().help, "give the kernel and what replaces it names of their own");
  }
}
