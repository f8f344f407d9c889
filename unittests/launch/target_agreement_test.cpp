// SPDX-License-Identifier: Apache-2.0
// The companion run of a check: what compiled code may leave, and what it may not. A wrong compiler
// is played by an interpreted result that was changed.
#include "lib/launch/TargetAgreement.h"
#include "lib/support/AtomicFile.h"
#include "lib/targets/Targets.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include <unistd.h>

namespace nereid::launch {
namespace {

class TargetAgreement : public testing::Test {
protected:
  TargetAgreement() {
    registerTargets();
    EXPECT_TRUE(bool(writeFileAtomically(path, "import triton\nimport triton.language as tl\n\n"
                                               "@triton.jit\n"
                                               "def double(x, n_ptr, out, counts, scratch):\n"
                                               "    i = tl.arange(0, 8)\n"
                                               "    tl.store(out + i, tl.load(x + i) * 2)\n"
                                               "    tl.store(counts + i, tl.load(n_ptr + i) + i)\n"
                                               "    tl.store(scratch + i, i)\n")));
    doubling.kernel = path;
    doubling.signature = "*fp32, *i64, *fp32, *i64, *i32";
    doubling.arguments = {"x=arange(8)", "n_ptr=full(8,value=9007199254740992)", "out=empty(9)",
                          "counts=empty(8)", "scratch=empty(8)"};
  }
  ~TargetAgreement() override { std::filesystem::remove(path); }

  /// What the interpreter leaves.
  KernelArguments interpreted() {
    auto prepared = prepareCase(doubling, {.interpret = true}, diags);
    EXPECT_TRUE(prepared && prepared->launch(diags)) << diags.render();
    return prepared->arguments;
  }
  /// The messages, one a line.
  std::string found(const KernelArguments &left) {
    auto all = disagreements(doubling, {.useCache = false}, left, diags);
    EXPECT_TRUE(bool(all)) << (all ? "" : all.error().message) << diags.render();
    std::string text;
    for (const Diagnostic &one : *all) {
      EXPECT_EQ(one.code, "E0812");
      EXPECT_FALSE(one.help.empty());
      text += one.message + "\n";
    }
    return text;
  }

  const std::string path = (std::filesystem::temp_directory_path() /
                            ("nereid-agreement-" + std::to_string(getpid()) + ".py"))
                               .string();
  KernelCase doubling;
  Diagnostics diags;
};

TEST_F(TargetAgreement, OfARightCompiler) { EXPECT_EQ(found(interpreted()), ""); }

/// The largest element is 14: 64 units of the last place are 1.07e-4 there.
TEST_F(TargetAgreement, FloatsMayDifferInTheirLastPlaces) {
  KernelArguments left = interpreted();
  left.tensors.at("out").set(1, 2 + 1e-4);
  EXPECT_EQ(found(left), "");
  left.tensors.at("out").set(1, 2 + 2e-4);
  EXPECT_NE(found(left).find("'out' on cpu is not what the interpreter computes: element 1 expects "
                             "2.0002"),
            std::string::npos)
      << found(left);
  left.tensors.at("out").set(1, std::nan(""));
  EXPECT_NE(found(left).find("element 1 expects nan"), std::string::npos) << found(left);
}

TEST_F(TargetAgreement, TheCasesToleranceWins) {
  KernelArguments left = interpreted();
  left.tensors.at("out").set(1, 2.5);
  doubling.tolerance = definition::Tolerance{0, 0.5, ""};
  EXPECT_EQ(found(left), "");
  doubling.tolerance = definition::Tolerance{0, 0.4, ""};
  EXPECT_NE(found(left), "");
}

/// Doubles do not tell these apart.
TEST_F(TargetAgreement, IntegersAreExact) {
  KernelArguments left = interpreted();
  left.tensors.at("counts").as<int64_t>()[1] -= 1;
  EXPECT_EQ(found(left), "'counts' on cpu is not what the interpreter computes: element 1 expects "
                         "9007199254740992, but got 9007199254740993\n");
}

TEST_F(TargetAgreement, WhatNobodyWritesIsComparedAndWorkspacesAreNot) {
  KernelArguments left = interpreted();
  left.tensors.at("scratch").set(3, 77);
  EXPECT_NE(found(left), "");
  doubling.workspaces = {"scratch"};
  EXPECT_EQ(found(left), "");
  left.tensors.at("out").set(8, 1);
  EXPECT_NE(found(left).find("element 8 expects 1"), std::string::npos) << found(left);
}

TEST_F(TargetAgreement, ATargetThatIsUnknownIsAnError) {
  auto all = disagreements(doubling, {.target = "cpu:pdp11"}, interpreted(), diags);
  EXPECT_FALSE(bool(all));
}

} // namespace
} // namespace nereid::launch
