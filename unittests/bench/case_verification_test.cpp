// SPDX-License-Identifier: Apache-2.0
// Cases of a folder against their references: compiled, interpreted, one by name, kept as files.
#include "lib/bench/verification/CaseVerification.h"

#include "lib/targets/Targets.h"
#include "unittests/bench/Cases.h"

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
