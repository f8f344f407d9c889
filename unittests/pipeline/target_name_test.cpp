// SPDX-License-Identifier: Apache-2.0
// What a target's name means on another machine.
#include "unittests/pipeline/EchoTarget.h"

#include "lib/pipeline/Target.h"

#include <gtest/gtest.h>

namespace nereid::pipeline::test {
namespace {

Result<std::unique_ptr<Target>> makeNone(std::string_view, const Machine *) {
  return makeError("E0303", "this vendor makes no targets");
}

Result<std::string> nameFor(std::string_view architecture,
                            const std::vector<std::string> &features) {
  if (features.empty()) {
    return makeError("E0303", "the machine is too old");
  }
  return "traveller:" + std::string(architecture) + "+" + features.front();
}

TEST(TargetNameOn, AVendorAloneIsTheTargetForThatMachine) {
  registerTarget("traveller", {makeNone, nameFor});
  auto name = targetNameOn("traveller", "abacus", {"beads", "rods"});
  ASSERT_TRUE(name);
  EXPECT_EQ(*name, "traveller:abacus+beads");
  EXPECT_EQ(*targetNameOn("traveller:any", "abacus", {}), "traveller:any");
  auto old = targetNameOn("traveller", "abacus", {});
  ASSERT_FALSE(old);
  EXPECT_EQ(old.error().message, "the machine is too old");
}

TEST(TargetNameOn, RefusesVendorsThatAreUnknownOrStayHere) {
  registerEchoTarget();
  auto here = targetNameOn("echo", "abacus", {"beads"});
  ASSERT_FALSE(here);
  EXPECT_EQ(here.error().code, "E0303");
  EXPECT_NE(here.error().message.find("no code for other machines"), std::string::npos);
  auto unknown = targetNameOn("nobody:x", "abacus", {"beads"});
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, "E0303");
  EXPECT_NE(unknown.error().message.find("'nobody:x'"), std::string::npos);
}

} // namespace
} // namespace nereid::pipeline::test
