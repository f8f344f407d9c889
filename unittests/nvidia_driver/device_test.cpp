// SPDX-License-Identifier: Apache-2.0
// An NVIDIA device: its number, facts, memory and context.
#include "unittests/nvidia_driver/Fixture.h"

#include "lib/targets/nvidia/driver/NvidiaStream.h"
#include "runtime/tensor/Tensor.h"

#include <thread>

namespace nereid::nvidia::test {
namespace {

using Devices = WithFakeDriver;

TEST_F(Devices, AreDescribed) {
  const DeviceFacts &facts = device().facts();
  EXPECT_EQ(device().name(), "nvidia:1");
  EXPECT_EQ(device().dlpackType(), 2);
  EXPECT_EQ(facts.name, "NVIDIA Fake");
  EXPECT_EQ(facts.capability, 90);
  EXPECT_EQ(facts.multiprocessors, 132);
  EXPECT_EQ(facts.memoryBytes, uint64_t{64} << 20);
  EXPECT_EQ(facts.threadsPerBlock, 1024);
  EXPECT_EQ(facts.sharedBytesPerBlock, 232448);
  EXPECT_EQ(facts.gridLimits, (std::array<int64_t, 3>{2147483647, 65535, 65535}));
}

/// Of the newest architecture that code is made for and the device runs.
TEST_F(Devices, NameTheArchitectureOfTheirCode) {
  const int before = fake().capability;
  const std::pair<int, const char *> known[] = {{75, "sm_75"},  {80, "sm_80"}, {86, "sm_86"},
                                                {87, "sm_86"},  {89, "sm_89"}, {90, "sm_90a"},
                                                {100, "sm_90"}, {120, "sm_90"}};
  for (const auto &[capability, architecture] : known) {
    fake().capability = capability;
    auto device = NvidiaDevice::make(*driver, 1);
    ASSERT_FALSE(errorIn(device));
    EXPECT_EQ(std::get<0>(device)->architecture(), architecture) << capability;
  }
  fake().capability = before;
}

/// Only a kernel that waits itself, on a device with the instruction, by a driver that captures it.
TEST_F(Devices, BeginAGridBeforeTheOneBeforeItHasEnded) {
  const auto isEarly = [](int version, int capability, bool waits) {
    fake().version = version;
    fake().capability = capability;
    auto loaded = loadDriver(fakeLibrary);
    auto device = NvidiaDevice::make(*std::get<0>(loaded), 1);
    fake().version = 13000;
    fake().capability = 90;
    auto code = std::get<0>(std::get<0>(device)->load(bytesOf(kernelsPtx)));
    runtime::Kernel kernel = kernelOf(std::move(code), "narrow", {});
    kernel.info.threads = 32;
    kernel.info.waits = waits;
    const auto stream = std::get<0>(std::get<0>(device)->makeStream());
    EXPECT_FALSE(stream->launch(kernel, {1, 1, 1}, nullptr, runtime::ProgramOrder::Ascending));
    EXPECT_FALSE(stream->synchronize());
    return fake().launches.back().isEarly;
  };
  EXPECT_TRUE(isEarly(13000, 90, true));
  EXPECT_TRUE(isEarly(12030, 90, true));
  EXPECT_FALSE(isEarly(12020, 90, true));
  EXPECT_FALSE(isEarly(13000, 89, true));
  EXPECT_FALSE(isEarly(13000, 90, false));
}

TEST_F(Devices, OfANumberThatThereIsNotAreRefused) {
  for (const int32_t number : {4, 2147483647, -1}) {
    const LaunchError error = errorIn(NvidiaDevice::make(*driver, number));
    EXPECT_EQ(error.code, "E0415");
    EXPECT_EQ(error.message, "expects a device from 'nvidia:0' to 'nvidia:3', of which the driver "
                             "has 4, but got 'nvidia:" +
                                 std::to_string(number) + "'");
  }
}

TEST_F(Devices, WhoseContextCannotBeMadeAreRefused) {
  fake().fail("cuDevicePrimaryCtxRetain", cuda::OutOfMemory);
  LaunchError error = errorIn(NvidiaDevice::make(*driver, 2));
  EXPECT_EQ(messageOf(error), "E0506: 'nvidia:2' refuses a context for this process: "
                              "CUDA_ERROR_OUT_OF_MEMORY (out of memory)");
  fake().fail("cuDevicePrimaryCtxRetain",
              cuda::DeviceUnavailable); // in exclusive use, for instance
  error = errorIn(NvidiaDevice::make(*driver, 2));
  EXPECT_EQ(error.code, "E0421") << error.message;
  for (const char *call : {"cuDeviceGetName", "cuDeviceTotalMem", "cuDeviceGetAttribute",
                           "cuDeviceGetCount", "cuDeviceGet"}) {
    fake().fail(call, cuda::InvalidValue);
    error = errorIn(NvidiaDevice::make(*driver, 2));
    EXPECT_EQ(error.code, "E0422") << call;
    EXPECT_NE(error.message.find("CUDA_ERROR_INVALID_VALUE (invalid argument)"), std::string::npos);
  }
}

TEST_F(Devices, GiveMemoryBackOnce) {
  std::shared_ptr<void> memory = device().allocate(1000), pinned = device().allocateHost(1000);
  ASSERT_TRUE(memory && pinned);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(memory.get()) % 64, 0u);
  std::memset(pinned.get(), 1, 1000); // the host's
  const size_t before = fake().liveObjects();
  std::thread([memory = std::move(memory), pinned = std::move(pinned)] {}).join();
  EXPECT_EQ(fake().liveObjects(), before - 2);
}

TEST_F(Devices, SayThatMemoryCannotBeHad) {
  const std::shared_ptr<void> kept = device().allocate(16 << 20);
  EXPECT_FALSE(device().allocate(49 << 20));
  EXPECT_EQ(
      messageOf(device().noMemory(49 << 20)),
      "E0506: no memory for 51380224 bytes on 'nvidia:1': of its 67108864 bytes, 50331648 are "
      "free");
  fake().fail("cuMemHostAlloc", cuda::OutOfMemory);
  EXPECT_FALSE(device().allocateHost(1));
  EXPECT_TRUE(device().allocate(48 << 20));
}

TEST_F(Devices, ShareAPrimaryContextThatSomebodyElseHasMade) {
  const cuda::Context primary = fake().primaryContext(1);
  auto other = std::get<0>(NvidiaDevice::make(*driver, 1)); // as another library would retain it
  EXPECT_EQ(device().context().get(), primary);
  EXPECT_EQ(other->context().get(), primary);
  other = nullptr;
  EXPECT_EQ(fake().primaryContext(1), primary) << "released for all";
  EXPECT_TRUE(device().allocate(64));
}

TEST_F(Devices, LeaveTheContextOfTheCallingThread) {
  const cuda::Context foreign = fake().makeContext(3);
  const auto earlier = makeStream();
  fake().setCurrent(foreign);
  {
    // What is made now is of the device's context as what was made before, and not of the foreign
    // one.
    const auto unnamed = std::get<0>(device().wrapStream(nullptr));
    const auto first = std::get<0>(earlier->record()), second = std::get<0>(unnamed->record());
    EXPECT_FALSE(errorIn(second->nanosSince(*first)));
    const std::shared_ptr<void> memory = device().allocate(64), pinned = device().allocateHost(64);
    const auto stream = makeStream();
    const auto module = load();
    const runtime::Kernel kernel = kernelOf(module, "narrow", {});
    EXPECT_FALSE(stream->launch(kernel, {1, 1, 1}, nullptr, runtime::ProgramOrder::Ascending));
    EXPECT_FALSE(stream->copyIn(memory.get(), pinned.get(), 64));
    const auto event = std::get<0>(stream->record());
    EXPECT_FALSE(stream->waitFor(*event));
    EXPECT_FALSE(event->synchronize());
    EXPECT_FALSE(stream->synchronize());
    EXPECT_EQ(stream->launch(kernel, {1, 70000, 1}, nullptr, {}).code, "E0405");
    EXPECT_EQ(fake().current(), foreign);
  }
  EXPECT_EQ(fake().current(), foreign);
  EXPECT_EQ(fake().count("cuCtxPushCurrent"), fake().count("cuCtxPopCurrent"));
  fake().setCurrent(nullptr);
}

TEST_F(Devices, PushNothingWhereTheirContextIsCurrent) {
  fake().setCurrent(device().context().get());
  (void)device().allocate(64);
  EXPECT_EQ(fake().count("cuCtxPushCurrent"), 0u);
  EXPECT_EQ(fake().current(), device().context().get());
  fake().setCurrent(nullptr);
}

TEST_F(Devices, TakeStreamsOfTheirContextAlone) {
  const cuda::Stream own = fake().makeStream(device().context().get());
  const cuda::Stream other = fake().makeStream(fake().makeContext(1));
  {
    const auto wrapped = std::get<0>(device().wrapStream(own));
    const auto unnamed = std::get<0>(device().wrapStream(nullptr));
    const std::shared_ptr<void> memory = device().allocate(4);
    for (runtime::Stream *stream : {wrapped.get(), unnamed.get()}) {
      int given = 7, got = 0;
      EXPECT_FALSE(stream->copyIn(memory.get(), &given, 4));
      EXPECT_FALSE(stream->copyOut(&got, memory.get(), 4));
      EXPECT_FALSE(stream->synchronize());
      EXPECT_EQ(got, 7);
    }
    const LaunchError error = errorIn(device().wrapStream(other));
    EXPECT_EQ(messageOf(error), "E0416: 'nvidia:1' expects a stream of its primary context, but "
                                "got one of another device or context");
  }
  fake().destroyStream(own); // they stay their makers'
  fake().destroyStream(other);
}

TEST_F(Devices, DestroyingAWrappedStreamDoesNotWait) {
  const cuda::Stream own = fake().makeStream(device().context().get());
  (void)std::get<0>(device().wrapStream(own));
  EXPECT_EQ(fake().count("cuStreamSynchronize"), 0u);
  EXPECT_EQ(fake().count("cuStreamDestroy"), 0u);
  fake().destroyStream(own);
}

TEST_F(Devices, WhereAStreamCannotBeMadeSaySo) {
  fake().fail("cuStreamCreate", cuda::OutOfMemory);
  EXPECT_EQ(messageOf(errorIn(device().makeStream())),
            "E0506: 'nvidia:1' refuses a stream: CUDA_ERROR_OUT_OF_MEMORY (out of memory)");
  fake().fail("cuCtxPushCurrent", cuda::InvalidValue);
  EXPECT_EQ(errorIn(device().makeStream()).code, "E0422");
}

} // namespace
} // namespace nereid::nvidia::test
