// SPDX-License-Identifier: Apache-2.0
// What is timed of a kernel: its launch, and no copies to the device that it runs on.
#include "lib/bench/measurement/KernelLaunch.h"

#include "unittests/FarDevice.h"
#include "unittests/runtime/ObjectBuilder.h"

#include <gtest/gtest.h>

namespace nereid::bench {
namespace {

using runtime::test::FarDevice;

/// x[i] = 1000 + i
class KernelLaunch : public testing::Test {
protected:
  void loadOn(runtime::Device &device) {
    kernel.info.name = "kernel";
    kernel.info.arguments = {{"x", runtime::ArgumentKind::Pointer, DType::I32, 1}};
    kernel.code = std::get<0>(device.load(runtime::test::addThousandObject()));
    kernel.entry = reinterpret_cast<runtime::KernelEntry>(kernel.code->symbol("kernel"));
    for (int64_t i = 0; i < 16; ++i) {
      x.set(i, 0);
    }
  }
  TimedLaunch launch(Queueing queueing = Queueing::Hidden) {
    const runtime::ArgumentValue values[] = {&x};
    return launchOf("one", kernel, {16, 1, 1}, values, queueing);
  }

  FarDevice &far = FarDevice::get();
  runtime::Kernel kernel;
  runtime::Tensor x = runtime::Tensor::empty({16}, DType::I32);
};

TEST_F(KernelLaunch, OfADeviceCopiesNothingWhileItIsTimed) {
  loadOn(far);
  const TimedLaunch timed = launch();
  EXPECT_EQ(timed.send(), "");
  const int copies = far.copies, launches = far.launches;
  EXPECT_EQ(timed.run(), "");
  EXPECT_EQ(timed.run(), "");
  timed.runEmpty();
  EXPECT_EQ(far.copies, copies);
  EXPECT_EQ(far.launches, launches + 2);
  EXPECT_EQ(x.at(3), 0);
  EXPECT_EQ(timed.fetch(), "");
  EXPECT_EQ(x.at(3), 1003);
}

TEST_F(KernelLaunch, OfADeviceIsTimedByItsEvents) {
  loadOn(far);
  const TimedLaunch timed = launch();
  EXPECT_EQ(timed.send(), "");
  const int copies = far.copies, launches = far.launches;
  double seconds = -1;
  EXPECT_EQ(timed.timedRuns(5, seconds), "");
  EXPECT_GE(seconds, 0);
  EXPECT_LT(seconds, 10);
  EXPECT_EQ(far.launches, launches + 5);
  EXPECT_EQ(far.copies, copies + 1) << "the stream is busy while the launches are queued";
  far.nextError = runtime::LaunchError{"E0421", "the device is lost"};
  far.callsBeforeError = 3; // the copy, an event and a launch
  EXPECT_EQ(timed.timedRuns(5, seconds), "the device is lost");
  EXPECT_GT(seconds, 0);
}

TEST_F(KernelLaunch, OfADeviceCountsTheWaitForTheHostWhereThatIsAsked) {
  loadOn(far);
  const TimedLaunch timed = launch(Queueing::Counted);
  EXPECT_EQ(timed.send(), "");
  const int copies = far.copies;
  double seconds = -1;
  EXPECT_EQ(timed.timedRuns(5, seconds), "");
  EXPECT_EQ(far.copies, copies) << "nothing keeps the stream busy";
}

TEST_F(KernelLaunch, IsCapturedOnceAndReplayed) {
  loadOn(far);
  const TimedLaunch timed = launch();
  auto refused = captured("graph", timed, Queueing::Hidden);
  ASSERT_FALSE(bool(refused));
  EXPECT_EQ(refused.error().code, "E0423");
  far.hasGraphs = true;
  const int launches = far.launches, replays = far.replays;
  auto graph = captured("graph", timed, Queueing::Hidden);
  far.hasGraphs = false;
  ASSERT_TRUE(bool(graph)) << graph.error().message;
  EXPECT_EQ(far.launches, launches) << "a capture runs nothing";
  EXPECT_EQ(graph->send() + graph->run() + graph->fetch(), "");
  EXPECT_EQ(x.at(5), 1005);
  double seconds = -1;
  EXPECT_EQ(graph->timedRuns(3, seconds), "");
  EXPECT_EQ(far.replays, replays + 4);
  EXPECT_EQ(far.launches, launches + 4);
}

TEST_F(KernelLaunch, OfADeviceWithoutMemorySaysSo) {
  loadOn(far);
  far.failsAllocations = true;
  EXPECT_EQ(launch().run(), "no memory for 64 bytes on 'far:0'");
  far.failsAllocations = false;
}

TEST_F(KernelLaunch, OfTheCpuWorksOnTheTensorsThemselves) {
  loadOn(runtime::cpuDevice());
  const TimedLaunch timed = launch();
  EXPECT_EQ(timed.send() + timed.run() + timed.fetch(), "");
  EXPECT_EQ(x.at(15), 1015);
}

} // namespace
} // namespace nereid::bench
