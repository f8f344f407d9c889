// SPDX-License-Identifier: Apache-2.0
// Kernels prepared for the interpreter and for this machine: one reading of the file, equal
// results.
#include "lib/launch/KernelRunning.h"
#include "lib/launch/PreparedCase.h"
#include "lib/support/AtomicFile.h"
#include "lib/targets/Targets.h"

#include <gtest/gtest.h>

#include <filesystem>

#include <unistd.h>

namespace nereid::launch {
namespace {

class PreparedKernelTest : public testing::Test {
protected:
  PreparedKernelTest() {
    registerTargets();
    write("import triton\nimport triton.language as tl\n\n@triton.jit\n"
          "def add_one(x, out, n, BLOCK: tl.constexpr = 32):\n"
          "    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)\n"
          "    tl.store(out + i, tl.load(x + i, i < n) + 1, i < n)\n");
    adding.kernel = path;
    adding.signature = "*fp32, *fp32, i32";
    adding.grid = "cdiv(n, BLOCK)";
    adding.arguments = {"x=arange(40)", "out=zeros(40)", "n=40"};
  }
  ~PreparedKernelTest() override { std::filesystem::remove(path); }
  void write(const std::string &text) const { ASSERT_TRUE(bool(writeFileAtomically(path, text))); }

  const std::string path = (std::filesystem::temp_directory_path() /
                            ("nereid-prepared-" + std::to_string(getpid()) + ".py"))
                               .string();
  KernelCase adding;
  Diagnostics diags;
};

TEST_F(PreparedKernelTest, RunsInTheInterpreterAndCompiled) {
  for (const bool interpret : {true, false}) {
    auto prepared = prepareCase(adding, {.useCache = false, .interpret = interpret}, diags);
    ASSERT_TRUE(bool(prepared)) << diags.render();
    EXPECT_EQ(prepared->grid, (runtime::Grid{2, 1, 1}));
    EXPECT_EQ(prepared->kernel.signature().params.size(), 4u);
    EXPECT_EQ(prepared->kernel.info().name, "add_one");
    EXPECT_EQ(prepared->kernel.compiled().entry == nullptr, interpret);
    ASSERT_TRUE(prepared->launch(diags)) << diags.render();
    EXPECT_EQ(prepared->arguments.tensors.at("out").at(39), 40);
  }
}

TEST_F(PreparedKernelTest, TheFileIsReadOnce) {
  auto prepared = prepareCase(adding, {.interpret = true}, diags);
  ASSERT_TRUE(bool(prepared)) << diags.render();
  write("no Python at all(");
  EXPECT_TRUE(prepared->launch(diags)) << diags.render();
  EXPECT_EQ(prepared->arguments.tensors.at("out").at(0), 1);
}

TEST_F(PreparedKernelTest, WhatCannotBePreparedSaysWhy) {
  auto codeOf = [&](const KernelCase &one, const Execution &execution) {
    diags = {};
    auto prepared = prepareCase(one, execution, diags);
    return prepared ? "" : prepared.error().code;
  };
  KernelCase other = adding;
  other.kernel = path + ":absent";
  EXPECT_EQ(codeOf(other, {}), "E0014");
  other = adding;
  other.signature = "*fp32";
  EXPECT_EQ(codeOf(other, {}), "E0206");
  EXPECT_EQ(codeOf(adding, {.target = "nothing", .useCache = false}), "E0303");
  EXPECT_EQ(codeOf(adding, {.runner = "/bin/false"}), "E0414");
  EXPECT_TRUE(diags.hasErrors());
  other = adding;
  other.arguments.pop_back();
  EXPECT_EQ(codeOf(other, {.interpret = true}), "E0011");
  EXPECT_FALSE(diags.hasErrors()) << "the kernel itself is well";
}

TEST(KernelRunning, IsOverWhenTheLastOneEnds) {
  EXPECT_FALSE(isKernelRunning());
  {
    const KernelRunning one;
    {
      const KernelRunning two;
    }
    EXPECT_TRUE(isKernelRunning());
  }
  EXPECT_FALSE(isKernelRunning());
}

} // namespace
} // namespace nereid::launch
