// SPDX-License-Identifier: Apache-2.0
// What a target's name means on another machine.
#include "unittests/pipeline/EchoTarget.h"

#include "lib/pipeline/Target.h"
#include "unittests/FarDevice.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <set>

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

TEST(TargetNameOn, RefusesDevicesOfThisMachine) {
  registerTarget("traveller", {makeNone, nameFor});
  auto device = targetNameOn("traveller:0", "abacus", {"beads"});
  ASSERT_FALSE(device);
  EXPECT_EQ(device.error().code, "E0303");
  EXPECT_NE(device.error().message.find("a device of this machine"), std::string::npos);
}

Result<std::unique_ptr<Target>> makeFar(std::string_view architecture, const Machine *) {
  return makeError("E0303", "asked for '" + std::string(architecture) + "'");
}

TEST(FindTarget, ADeviceNamesTheTargetThatSuitsIt) {
  (void)runtime::test::FarDevice::get();
  registerTarget("far", {.make = makeFar, .anyArchitecture = "away7"});
  EXPECT_EQ(findTarget("far:1").error().message, "asked for 'away1'");
  EXPECT_EQ(findTarget("far:away1").error().message, "asked for 'away1'");
  EXPECT_EQ(findTarget("far").error().message, "asked for ''");
  const Diagnostic missing = findTarget("far:2").error();
  EXPECT_EQ(missing.code, "E0415");
  EXPECT_EQ(missing.message, "expects 'far:0' or 'far:1', but got 'far:2'");
  EXPECT_FALSE(missing.help.empty());
  EXPECT_EQ(findTarget("nobody:0").error().code, "E0303");
  EXPECT_TRUE(namesDevice("far:1"));
  for (const char *other : {"far", "far:", "far:-1", "far:1a", "far:0,1"}) {
    EXPECT_FALSE(namesDevice(other)) << other;
  }
  EXPECT_EQ(targetAnywhere("far"), "far:away7");
  EXPECT_EQ(targetAnywhere("far:1"), "far:1");
  EXPECT_EQ(targetAnywhere("nobody"), "nobody");
}

/// A descriptor that changes no code makes no target of its own.
TEST(FindTarget, EqualNamesAreOneTarget) {
  registerEchoTarget();
  TemporaryFolder folder;
  std::ifstream file(NEREID_SOURCE_DIR "/chips/generic-aarch64.json");
  std::string text(std::istreambuf_iterator<char>(file), {});
  const size_t name = text.find("\"name\": \"");
  ASSERT_NE(name, std::string::npos);
  std::set<Target *> found = {*findTarget("echo")};
  for (const char *other : {"One ", "Another "}) {
    std::string changed = text;
    auto target = findTarget("echo", folder.write("chip.json", changed.insert(name + 9, other)));
    ASSERT_TRUE(target) << target.error().message;
    found.insert(*target);
  }
  EXPECT_EQ(found.size(), 1u);
  EXPECT_EQ(*findTarget("echo:loud"), *findTarget("echo:loud"));
  EXPECT_NE(*findTarget("echo:loud"), *findTarget("echo"));
}

Result<std::unique_ptr<Target>> makeAsking(std::string_view, const Machine *) {
  registerTarget("asked", {makeNone});
  return makeError("E0303", "there are " + std::to_string(targetVendors().size()) +
                                " vendors and " + (findTarget("echo") ? "an echo" : "no echo"));
}

TEST(FindTarget, AFactoryMayAskForOthers) {
  registerEchoTarget();
  registerTarget("asking", {makeAsking});
  const std::string count = std::to_string(targetVendors().size() + 1);
  EXPECT_EQ(findTarget("asking").error().message, "there are " + count + " vendors and an echo");
}

} // namespace
} // namespace nereid::pipeline::test
