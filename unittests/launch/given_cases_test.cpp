// SPDX-License-Identifier: Apache-2.0
// Launches that a command line describes: their names, what a sweep sets, and what is refused.
#include "lib/launch/GivenCases.h"

#include <gtest/gtest.h>

namespace nereid::launch {
namespace {

KernelCase given() {
  KernelCase one;
  one.kernel = "k.py";
  one.arguments = {"n=1", "x=ones(n)"};
  return one;
}

TEST(GivenCases, AreOneLaunchWithItsFormulas) {
  auto cases = givenCases(given(), {{"out=x + y", "low=x <= y"}, ""});
  ASSERT_TRUE(bool(cases)) << cases.error().message;
  ASSERT_EQ(cases->size(), 1u);
  EXPECT_EQ(cases->front().name, "command line");
  EXPECT_EQ(cases->front().reference,
            (std::map<std::string, std::string>{{"out", "x + y"}, {"low", "x <= y"}}));
}

TEST(GivenCases, ASweepsValuesWinOverTheArguments) {
  auto cases = givenCases(given(), {{}, "n=7,-1"});
  ASSERT_TRUE(bool(cases)) << cases.error().message;
  ASSERT_EQ(cases->size(), 2u);
  EXPECT_EQ(cases->front().name, "n=7");
  EXPECT_EQ(cases->back().arguments, (std::vector<std::string>{"n=1", "x=ones(n)", "n=-1"}));
}

TEST(GivenCases, OtherTextsAreRefused) {
  for (const char *sweep :
       {"n", "n=", "=1", "n=1,", "n=,1", "n=1.5", "n=1,1", "n=1 2", "n=99999999999999999999"}) {
    auto cases = givenCases(given(), {{}, sweep});
    ASSERT_FALSE(bool(cases)) << sweep;
    EXPECT_EQ(cases.error().code, "E0013") << sweep;
  }
  EXPECT_EQ(givenCases(given(), {{"x + y"}, ""}).error().code, "E0013");
}

} // namespace
} // namespace nereid::launch
