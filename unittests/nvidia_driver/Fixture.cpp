// SPDX-License-Identifier: Apache-2.0
#include "unittests/nvidia_driver/Fixture.h"

#include <cstdlib>

namespace nereid::nvidia::test {

bool usesGpu() {
  const char *chosen = std::getenv("NEREID_TEST_GPU");
  return chosen && std::string_view(chosen) == "1";
}

void WithFakeDriver::SetUp() {
  if (usesGpu()) {
    GTEST_SKIP() << "plants faults in the fake driver, which NEREID_TEST_GPU=1 replaces";
  }
  objectsBefore = fake().liveObjects();
  auto loaded = loadDriver(fakeLibrary);
  ASSERT_FALSE(errorIn(loaded)) << messageOf(errorIn(loaded));
  driver = std::get<0>(std::move(loaded));
  auto device = NvidiaDevice::make(*driver, 1);
  ASSERT_FALSE(errorIn(device)) << messageOf(errorIn(device));
  made = std::get<0>(std::move(device));
  fake().log.clear();
  fake().launches.clear();
}

void WithFakeDriver::TearDown() {
  if (usesGpu()) {
    return;
  }
  fake().revive(1);
  EXPECT_TRUE(fake().failures.empty()) << "a planted fault was not met";
  made = nullptr;
  EXPECT_EQ(fake().liveObjects(), objectsBefore);
  EXPECT_EQ(fake().primaryContext(1), nullptr) << "a primary context that is not released";
  EXPECT_EQ(fake().current(), nullptr) << "a context that stays current";
  EXPECT_EQ(fake().violations, std::vector<std::string>{});
  fake().violations.clear();
  fake().failures.clear();
}

} // namespace nereid::nvidia::test
