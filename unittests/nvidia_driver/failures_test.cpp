// SPDX-License-Identifier: Apache-2.0
// What streams, events and modules say when the driver refuses, and that nothing is lost then.
#include "unittests/nvidia_driver/Fixture.h"

#include "lib/targets/nvidia/driver/Errors.h"
#include "lib/targets/nvidia/driver/NvidiaStream.h"

#include <cstdlib>

namespace nereid::nvidia::test {
namespace {

using Failures = WithFakeDriver;
constexpr auto ascending = runtime::ProgramOrder::Ascending;

TEST_F(Failures, OfCopiesSayTheirSizeAndQueueNothing) {
  const std::shared_ptr<void> memory = device().allocate(64);
  const auto stream = makeStream();
  int64_t value = 1, got = 0;
  EXPECT_FALSE(stream->copyIn(memory.get(), &value, 8));
  value = 2;
  fake().fail("cuMemcpyHtoDAsync", cuda::InvalidValue);
  EXPECT_EQ(messageOf(stream->copyIn(memory.get(), &value, 8)),
            "E0422: 'nvidia:1' refuses a copy of 8 bytes from the host: CUDA_ERROR_INVALID_VALUE "
            "(invalid argument)");
  fake().fail("cuMemcpyDtoHAsync", cuda::InvalidValue);
  EXPECT_EQ(messageOf(stream->copyOut(&got, memory.get(), 8)),
            "E0422: 'nvidia:1' refuses a copy of 8 bytes to the host: CUDA_ERROR_INVALID_VALUE "
            "(invalid argument)");
  EXPECT_FALSE(stream->copyOut(&got, memory.get(), 8));
  EXPECT_FALSE(stream->synchronize());
  EXPECT_EQ(got, 1);
}

TEST_F(Failures, OfLaunchesSayWhatTheyWereGiven) {
  runtime::Kernel kernel = kernelOf(load(), "narrow", {});
  kernel.info.threads = 32;
  kernel.info.scratchBytes = 512;
  const auto stream = makeStream();
  fake().fail("cuLaunchKernelEx", cuda::LaunchOutOfResources);
  EXPECT_EQ(
      messageOf(stream->launch(kernel, {1, 1, 1}, nullptr, ascending)),
      "E0422: 'nvidia:1' refuses a launch of kernel 'narrow' with 32 threads and 512 bytes of "
      "dynamic shared memory: CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES (too many resources "
      "requested for launch)");
  EXPECT_FALSE(stream->launch(kernel, {1, 1, 1}, nullptr, ascending));
  EXPECT_FALSE(stream->synchronize());
  ASSERT_EQ(fake().launches.size(), 1u);
  EXPECT_EQ(fake().launches[0].threads, 32u);
  EXPECT_EQ(fake().launches[0].sharedBytes, 512u);
}

TEST_F(Failures, OfAKernelLoseTheDeviceToTheProcess) {
  const auto module = load();
  const runtime::Kernel kernel = kernelOf(module, "fault", {});
  const auto stream = makeStream(), other = makeStream();
  const std::shared_ptr<void> memory = device().allocate(64);
  const auto event = std::get<0>(other->record());
  EXPECT_FALSE(stream->launch(kernel, {1, 1, 1}, nullptr, ascending));
  EXPECT_EQ(messageOf(stream->synchronize()),
            "E0421: 'nvidia:1' is lost to this process: CUDA_ERROR_ILLEGAL_ADDRESS (an illegal "
            "memory access was encountered), told by a wait for a stream; the kernel that its "
            "stream was given last is 'fault'; no context of this process works on it any more, "
            "start again");
  int64_t value = 0;
  EXPECT_EQ(stream->synchronize().code, "E0421"); // and every call from then on
  EXPECT_EQ(other->synchronize().code, "E0421");
  EXPECT_EQ(other->launch(kernel, {1, 1, 1}, nullptr, ascending).code, "E0421");
  EXPECT_EQ(other->copyIn(memory.get(), &value, 8).code, "E0421");
  EXPECT_EQ(other->copyOut(&value, memory.get(), 8).code, "E0421");
  EXPECT_EQ(errorIn(other->record()).code, "E0421");
  EXPECT_EQ(other->waitFor(*event).code, "E0421");
  EXPECT_EQ(event->synchronize().code, "E0421");
  EXPECT_EQ(errorIn(device().makeStream()).code, "E0421");
  EXPECT_EQ(errorIn(device().load(bytesOf(kernelsPtx))).code, "E0421");
  EXPECT_EQ(errorIn(device().wrapStream(nullptr)).code, "E0421");
  EXPECT_FALSE(device().allocate(8));
  EXPECT_FALSE(device().allocateHost(8));
  EXPECT_EQ(device().noMemory(8).code, "E0421"); // which is why
  EXPECT_FALSE(module->symbol("narrow"));
  fake().revive(1); // so that what is held here goes as it should
}

/// While one lives, launches wait.
struct Blocking {
  Blocking() { blockingLaunches() = true; }
  ~Blocking() { blockingLaunches() = false; }
};

TEST_F(Failures, OfBlockingLaunchesAreTheirOwn) {
  const auto module = load();
  const auto stream = makeStream();
  const runtime::Kernel good = kernelOf(module, "narrow", {});
  EXPECT_FALSE(stream->launch(good, {1, 1, 1}, nullptr, ascending));
  EXPECT_TRUE(fake().launches.empty()); // until it is waited for
  const Blocking blocking;
  EXPECT_FALSE(stream->launch(good, {1, 1, 1}, nullptr, ascending));
  EXPECT_EQ(fake().launches.size(), 2u);
  const uint64_t numbers[] = {1};
  EXPECT_EQ(messageOf(stream->launch(kernelOf(module, "assert_not_one", {{.name = "number"}}),
                                     {1, 1, 1}, numbers, ascending)),
            "E0407: device assertion failed in kernel 'assert_not_one', program (0, 7, 0): ons");
  const LaunchError fault =
      stream->launch(kernelOf(module, "fault", {}), {1, 1, 1}, nullptr, ascending);
  EXPECT_EQ(fault.code, "E0421");
  EXPECT_NE(fault.message.find("given last is 'fault'"), std::string::npos) << fault.message;
  fake().revive(1);
}

/// Each in a process of its own, as it is asked for once.
TEST(BlockingLaunches, AreWhatTheKnobSays) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  for (const auto &[value, isSet] : {std::pair("1", 1), std::pair("0", 0), std::pair("", 0)}) {
    EXPECT_EXIT(
        {
          ::setenv("NEREID_BLOCKING", value, 1);
          std::exit(blockingLaunches() ? 1 : 0);
        },
        testing::ExitedWithCode(isSet), "")
        << value;
  }
}

TEST_F(Failures, OfBlockingLaunchesDoNotEndACapture) {
  const auto module = load();
  const auto stream = makeStream();
  const runtime::Kernel kernel = kernelOf(module, "narrow", {});
  const Blocking blocking;
  const auto graph = capture(*stream, [&](runtime::Stream &into) {
    return into.launch(kernel, {1, 1, 1}, nullptr, ascending);
  });
  ASSERT_FALSE(errorIn(graph)) << messageOf(errorIn(graph));
  EXPECT_TRUE(fake().launches.empty());
  EXPECT_FALSE(std::get<0>(graph)->replay(*stream));
  EXPECT_FALSE(stream->synchronize());
  EXPECT_EQ(fake().launches.size(), 1u);
}

TEST_F(Failures, OfALostDeviceLetEverythingGo) {
  auto module = load();
  auto stream = makeStream();
  EXPECT_FALSE(stream->launch(kernelOf(module, "fault", {}), {1, 1, 1}, nullptr, ascending));
  auto event = std::get<0>(stream->record());
  EXPECT_EQ(event->synchronize().code, "E0421");
  event = nullptr;
  stream = nullptr;
  module = nullptr;
}

TEST_F(Failures, OfEventsAreTold) {
  const auto stream = makeStream();
  fake().fail("cuEventCreate", cuda::OutOfMemory);
  EXPECT_EQ(messageOf(errorIn(stream->record())),
            "E0506: 'nvidia:1' refuses an event: CUDA_ERROR_OUT_OF_MEMORY (out of memory)");
  fake().fail("cuEventRecord", cuda::InvalidValue);
  EXPECT_EQ(errorIn(stream->record()).code, "E0422");
  const auto start = std::get<0>(stream->record()), end = std::get<0>(stream->record());
  fake().fail("cuEventElapsedTime", cuda::InvalidValue);
  EXPECT_EQ(errorIn(end->nanosSince(*start)).code, "E0422");
  fake().fail("cuEventSynchronize", cuda::InvalidValue);
  EXPECT_EQ(errorIn(end->nanosSince(*start)).code, "E0422");
  fake().fail("cuStreamWaitEvent", cuda::InvalidValue);
  EXPECT_EQ(stream->waitFor(*start).code, "E0422");
  EXPECT_FALSE(errorIn(end->nanosSince(*start)));
}

TEST_F(Failures, OfTimesBetweenDevices) {
  auto other = std::get<0>(NvidiaDevice::make(*driver, 2));
  {
    auto here = makeStream(), there = std::get<0>(other->makeStream());
    const auto start = std::get<0>(there->record()), end = std::get<0>(here->record());
    EXPECT_EQ(messageOf(errorIn(end->nanosSince(*start))),
              "E0416: the time between events expects both of 'nvidia:1', but got one of "
              "'nvidia:2'");
    EXPECT_FALSE(here->waitFor(*start)); // for which devices may differ
    EXPECT_FALSE(here->synchronize());
  }
}

TEST_F(Failures, OfGraphsAreTold) {
  const auto stream = makeStream();
  const auto nothing = [](runtime::Stream &) { return LaunchError{}; };
  for (const char *call : {"cuStreamBeginCapture", "cuGraphInstantiate"}) {
    fake().fail(call, cuda::InvalidValue);
    EXPECT_EQ(errorIn(capture(*stream, nothing)).code, "E0422") << call;
  }
  const auto graph = std::get<0>(capture(*stream, nothing));
  fake().fail("cuGraphLaunch", cuda::InvalidValue);
  EXPECT_EQ(messageOf(graph->replay(*stream)), "E0422: 'nvidia:1' refuses to replay a graph: "
                                               "CUDA_ERROR_INVALID_VALUE (invalid argument)");
  auto other = std::get<0>(NvidiaDevice::make(*driver, 2));
  const auto there = std::get<0>(other->makeStream());
  EXPECT_EQ(messageOf(graph->replay(*there)),
            "E0416: a graph of 'nvidia:1' expects a stream of it, but got one of 'nvidia:2'");
}

TEST_F(Failures, ThatEndAContextAreKnown) {
  for (const int result : {46, 214, 220, 226, 700, 702, 709, 710, 714, 715, 716, 717, 718, 719}) {
    EXPECT_TRUE(endsContext(static_cast<cuda::Result>(result))) << result;
  }
  for (const int result : {0, 1, 2, 100, 200, 201, 209, 218, 222, 400, 500, 600, 701, 900}) {
    EXPECT_FALSE(endsContext(static_cast<cuda::Result>(result))) << result;
  }
}

} // namespace
} // namespace nereid::nvidia::test
