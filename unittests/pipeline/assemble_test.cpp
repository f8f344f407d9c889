// SPDX-License-Identifier: Apache-2.0
// A target without launchers says so when a library is asked of it, one without occupancy when
// kernels are profiled for it.
#include "unittests/pipeline/EchoTarget.h"

#include "lib/pipeline/Target.h"

#include <gtest/gtest.h>

namespace nereid::pipeline::test {
namespace {

TEST(Assemble, RefusedByTargetsWithoutLaunchers) {
  registerEchoTarget();
  auto target = findTarget("echo");
  ASSERT_TRUE(target);
  std::vector<uint8_t> object;
  Diagnostics diags;
  EXPECT_FALSE((*target)->assemble("define void @f() { ret void }", object, diags));
  ASSERT_EQ(diags.all().size(), 1u);
  EXPECT_EQ(diags.all()[0].code, "E0310");
  EXPECT_NE(diags.all()[0].message.find("does not compile ahead of time"), std::string::npos);
  EXPECT_TRUE(object.empty());
}

TEST(Occupation, RefusedByTargetsThatRunOneProgramAtATime) {
  registerEchoTarget();
  auto target = findTarget("echo");
  ASSERT_TRUE(target);
  EXPECT_EQ((*target)->account({}).error().code, "E0310");
  EXPECT_EQ((*target)->occupation({}, {}).error().code, "E0310");
  EXPECT_TRUE((*target)->machineCode({})->empty());
  EXPECT_TRUE((*target)->deviceRuntime().empty());
}

TEST(Occupation, IsLimitedByAllThatHaveRoomForNoMore) {
  Occupation one{.limits = {{"a", 3}, {"b", 2}, {"c", 2}}, .programs = 2};
  EXPECT_EQ(one.limitedBy(), "b and c");
}

} // namespace
} // namespace nereid::pipeline::test
