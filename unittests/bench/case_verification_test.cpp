// SPDX-License-Identifier: Apache-2.0
// Cases of a folder against their references: compiled, interpreted, one by name, kept as files.
#include "lib/bench/verification/CaseVerification.h"

#include "lib/targets/Targets.h"
#include "unittests/bench/Cases.h"

#include <fmt/format.h>

namespace nereid::bench {
namespace {

class CaseVerificationTest : public CaseFolder {
protected:
  CaseVerificationTest() {
    registerTargets();
    options.execution.useCache = false;
    options.seed = 3;
  }
  CaseVerification verify(const std::vector<launch::KernelCase> &cases) {
    Diagnostics diags;
    auto verified = verifyCases(folder, cases, options, diags);
    EXPECT_TRUE(bool(verified)) << diags.render();
    return verified ? *verified : CaseVerification();
  }

  CaseVerificationOptions options;
};

TEST_F(CaseVerificationTest, ARightKernelIsTriedOnEveryKindOfData) {
  const CaseVerification verified = verify({doubling("right")});
  EXPECT_TRUE(verified.passed());
  ASSERT_GT(verified.rows.size(), 10u);
  EXPECT_EQ(verified.rows.front().data, "its own");
  EXPECT_EQ(verified.rows.front().kernel, "double.py:right");
}

TEST_F(CaseVerificationTest, InterpretedItIsTriedOnItsOwnData) {
  options.execution.interpret = true;
  const CaseVerification verified = verify({doubling("right"), doubling("wrong")});
  ASSERT_EQ(verified.rows.size(), 2u);
  EXPECT_EQ(verified.rows[0].failure, "");
  EXPECT_NE(verified.rows[1].failure.find("but got"), std::string::npos);
  EXPECT_FALSE(verified.passed());
}

TEST_F(CaseVerificationTest, AWrongKernelFailsOnItsOwnDataAndIsKept) {
  options.keepIn = folder + "/kept";
  options.command = {"nereid", "verify"};
  const CaseVerification verified = verify({doubling("right"), doubling("wrong")});
  EXPECT_FALSE(verified.passed());
  EXPECT_EQ(verified.kept, "wrong case (its own)");
  auto text = readTextFile(options.keepIn + "/case.txt");
  ASSERT_TRUE(bool(text));
  EXPECT_NE(text->find("nereid verify --case 'wrong case' --seed 3"), std::string::npos) << *text;
  EXPECT_TRUE(std::filesystem::exists(options.keepIn + "/x.npy"));
}

TEST_F(CaseVerificationTest, OneCaseByNameAndNoneOfThatName) {
  options.onlyCase = "right case";
  for (const CaseRow &row : verify({doubling("right"), doubling("wrong")}).rows) {
    EXPECT_EQ(row.caseName, "right case");
  }
  options.onlyCase = "rihgt case";
  Diagnostics diags;
  auto verified = verifyCases(folder, {doubling("right")}, options, diags);
  ASSERT_FALSE(bool(verified));
  EXPECT_EQ(verified.error().code, "E0016");
}

/// A column of one element is as constant as it is sorted, and its softmax is 1.
TEST_F(CaseVerificationTest, KindsOfDataGoToRowsThatShowThem) {
  launch::KernelCase column = doubling("right"), rows = doubling("right");
  column.name = "column";
  column.arguments = {"x=randn(33,1)", "out=empty(33,1)", "n=33"};
  rows.name = "rows";
  rows.arguments = {"x=randn(8,64)", "out=empty(8,64)", "n=512"};
  const CaseVerification verified = verify({column, rows});
  EXPECT_TRUE(verified.passed());
  for (const CaseRow &row : verified.rows) {
    EXPECT_TRUE(row.data == "its own" || row.caseName == "rows") << row.data;
  }
}

/// Right on memory that holds neither numbers nor the pattern of a launch.
TEST_F(CaseVerificationTest, WhatIsReadBeforeItIsWrittenIsFound) {
  ASSERT_TRUE(bool(writeFileAtomically(
      folder + "/reads.py", "import triton\nimport triton.language as tl\n\n@triton.jit\n"
                            "def reads(x, out, n, BLOCK: tl.constexpr):\n"
                            "    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)\n"
                            "    before = tl.load(out + i, i < n)\n"
                            "    value = tl.load(x + i, i < n) * 2\n"
                            "    isThere = (before > 0) & (before < 1e-30)\n"
                            "    tl.store(out + i, tl.where(isThere, before, value), i < n)\n")));
  // Of few elements, of more, and of the only case there is; a smaller one of another type says
  // nothing of it.
  for (const char *n : {"100", "5000", "70000"}) {
    launch::KernelCase one = doubling("right"), other = doubling("right");
    for (launch::KernelCase *each : {&one, &other}) {
      each->kernel = folder + "/reads.py:reads";
    }
    one.arguments = {fmt::format("x=randn({})", n), fmt::format("out=empty({})", n),
                     fmt::format("n={}", n)};
    other.name = "other";
    other.signature = "*fp16, *fp16, i32, 64";
    const CaseVerification verified = verify({one, other});
    int found = 0;
    for (const CaseRow &row : verified.rows) {
      const bool isFound = row.failure.find("[E0802]") != std::string::npos;
      found += row.data == "its own" && isFound;
    }
    EXPECT_EQ(found, 2) << n;
  }
}

/// Additions of floats may vary, so the launches are not held against each other; each of them is
/// held against the reference. The first one's pattern where nothing was written is a NaN.
TEST_F(CaseVerificationTest, OfResultsThatMayVaryBothLaunchesAreJudged) {
  ASSERT_TRUE(bool(writeFileAtomically(
      folder + "/adds.py", "import triton\nimport triton.language as tl\n\n@triton.jit\n"
                           "def adds(x, total, out, n, BLOCK: tl.constexpr):\n"
                           "    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)\n"
                           "    tl.atomic_add(total, 0.0)\n"
                           "    before = tl.load(out + i, i < n)\n"
                           "    factor = tl.where(before == before, 2.5, 2.0)\n"
                           "    tl.store(out + i, tl.load(x + i, i < n) * factor, i < n)\n")));
  launch::KernelCase one = doubling("right");
  one.kernel = folder + "/adds.py:adds";
  one.signature = "*fp32, *fp32, *fp32, i32, 64";
  one.arguments = {"x=randn(5000)", "total=zeros(1)", "out=empty(5000)", "n=5000"};
  one.reference = {{"out", "x * 2"}, {"total", "total_before * 1"}};
  const CaseVerification verified = verify({one});
  ASSERT_FALSE(verified.rows.empty());
  EXPECT_NE(verified.rows[0].failure.find("differ)"), std::string::npos)
      << verified.rows[0].failure;
}

TEST_F(CaseVerificationTest, AKernelThatDoesNotCompileEndsIt) {
  launch::KernelCase broken = doubling("right");
  broken.kernel = folder + "/double.py:absent";
  Diagnostics diags;
  auto verified = verifyCases(folder, {broken}, options, diags);
  ASSERT_FALSE(bool(verified));
  EXPECT_EQ(verified.error().code, "E0014");
  EXPECT_TRUE(diags.hasErrors());
}

} // namespace
} // namespace nereid::bench
