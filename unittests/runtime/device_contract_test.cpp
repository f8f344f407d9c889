// SPDX-License-Identifier: Apache-2.0
// What devices promise, of the CPU and of one whose streams do nothing before they are waited for.
#include "unittests/DeviceContract.h"

#include "unittests/FarDevice.h"

namespace nereid::runtime::test {

static const Device &far = FarDevice::get(); // makes it known

INSTANTIATE_TEST_SUITE_P(Host, DeviceContract, testing::Values("cpu:0"));
INSTANTIATE_TEST_SUITE_P(Far, DeviceContract, testing::Values("far:0"));

TEST(ForeignStreams, AreRefusedByDevicesThatHaveNone) {
  auto wrapped = cpuDevice().wrapStream(nullptr);
  ASSERT_TRUE(std::holds_alternative<LaunchError>(wrapped));
  EXPECT_EQ(std::get<LaunchError>(wrapped).code, "E0417");
  EXPECT_NE(std::get<LaunchError>(wrapped).message.find("'cpu:0'"), std::string::npos);
}

/// A failure is told once, and what was queued in front of a call that fails is done.
TEST(Failures, AreToldOnceAndTheirCallsQueueNothing) {
  FarDevice &device = FarDevice::get();
  const std::shared_ptr<void> memory = device.allocate(4);
  auto made = device.makeStream();
  Stream &stream = *std::get<std::unique_ptr<Stream>>(made);
  int one = 1, two = 2, got = 0;
  EXPECT_FALSE(stream.copyIn(memory.get(), &one, 4));
  device.nextError = LaunchError{"E0407", "the cable is out"};
  EXPECT_EQ(stream.copyIn(memory.get(), &two, 4).message, "the cable is out");
  EXPECT_FALSE(stream.copyOut(&got, memory.get(), 4));
  EXPECT_FALSE(stream.synchronize());
  EXPECT_EQ(got, 1);
}

} // namespace nereid::runtime::test
