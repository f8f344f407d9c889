// SPDX-License-Identifier: Apache-2.0
// What devices promise, of the CPU and of one whose streams do nothing before they are waited for.
#include "unittests/DeviceContract.h"

#include "unittests/FarDevice.h"

namespace nereid::runtime::test {

static const Device &far = FarDevice::get(); // makes it known

NEREID_DEVICE_CONTRACT(Host, testing::Values("cpu:0"));
NEREID_DEVICE_CONTRACT(Far, testing::Values("far:0"));

TEST(ForeignStreams, AreRefusedByDevicesThatHaveNone) {
  auto wrapped = cpuDevice().wrapStream(nullptr);
  ASSERT_TRUE(std::holds_alternative<LaunchError>(wrapped));
  EXPECT_EQ(std::get<LaunchError>(wrapped).code, "E0417");
  EXPECT_NE(std::get<LaunchError>(wrapped).message.find("'cpu:0'"), std::string::npos);
}

/// The contract takes both answers; these are the ones that these devices give.
TEST(Graphs, AreThereOnTheCpuAndNotOnTheFarDevice) {
  EXPECT_FALSE(std::get<0>(cpuDevice().makeStream())->beginCapture());
  EXPECT_EQ(std::get<0>(FarDevice::get().makeStream())->beginCapture().code, "E0423");
}

/// What comes behind a call that fails does not run, as in a stream.
TEST(Graphs, OfTheCpuEndAtTheFirstFailure) {
  const auto stream = std::get<0>(cpuDevice().makeStream());
  int from = 1, to = 0;
  Kernel none;
  none.info.name = "none";
  const uint64_t slots[1] = {};
  ASSERT_FALSE(stream->beginCapture());
  EXPECT_FALSE(stream->launch(none, {1, 1, 1}, slots, ProgramOrder::Ascending));
  EXPECT_FALSE(stream->copyIn(&to, &from, sizeof to));
  const auto graph = std::get<0>(stream->endCapture());
  EXPECT_EQ(graph->replay(*stream).code, "E0408");
  EXPECT_EQ(to, 0);
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
