// SPDX-License-Identifier: Apache-2.0
// What runtime/Device.h and runtime/Stream.h promise, asked of a device by its name. A program of
// tests includes this once and instantiates it for its devices:
//   NEREID_DEVICE_CONTRACT(Far, testing::Values("far:0"));
#pragma once

#include "runtime/Device.h"

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <string>
#include <thread>
#include <vector>

namespace nereid::runtime::test {

class DeviceContract : public testing::TestWithParam<const char *> {
protected:
  static constexpr uint64_t bytes = 1 << 20;

  Device &device = *std::get<Device *>(findDevice(GetParam()));
  const std::shared_ptr<void> memory = device.allocate(bytes);
  std::vector<uint8_t> got = std::vector<uint8_t>(bytes);

  std::unique_ptr<Stream> makeStream() {
    return std::get<std::unique_ptr<Stream>>(device.makeStream());
  }
  std::unique_ptr<Event> record(Stream &stream) {
    return std::get<std::unique_ptr<Event>>(stream.record());
  }
  /// Writes 1, 2, … `last` one after the other; takes a while.
  void queueWrites(Stream &stream, uint8_t last) {
    for (uint8_t i = 1; i <= last; ++i) {
      values.emplace_back(bytes, i);
      EXPECT_FALSE(stream.copyIn(memory.get(), values.back().data(), bytes));
    }
  }
  void expectGot(uint8_t value) {
    EXPECT_EQ(got, std::vector<uint8_t>(bytes, value)) << "begins with " << int{got[0]};
  }

private:
  std::vector<std::vector<uint8_t>> values; ///< moved, never copied, when it grows
};

TEST_P(DeviceContract, MemoryIsAligned) {
  for (const uint64_t size : {uint64_t{1}, uint64_t{63}, uint64_t{4097}}) {
    const std::shared_ptr<void> here = device.allocateHost(size), there = device.allocate(size);
    ASSERT_TRUE(here && there);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(here.get()) % 64, 0u);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(there.get()) % 64, 0u);
  }
}

TEST_P(DeviceContract, HostMemoryOfTheDeviceIsTheHosts) {
  const std::shared_ptr<void> from = device.allocateHost(bytes), to = device.allocateHost(bytes);
  ASSERT_TRUE(from && to);
  std::memset(from.get(), 5, bytes);
  const std::unique_ptr<Stream> stream = makeStream();
  EXPECT_FALSE(stream->copyIn(memory.get(), from.get(), bytes));
  EXPECT_FALSE(stream->copyOut(to.get(), memory.get(), bytes));
  EXPECT_FALSE(stream->synchronize());
  EXPECT_EQ(std::memcmp(from.get(), to.get(), bytes), 0);
}

TEST_P(DeviceContract, WorkOfOneStreamIsInTheOrderOfTheCalls) {
  const std::unique_ptr<Stream> stream = makeStream();
  std::vector<uint8_t> between(bytes);
  queueWrites(*stream, 3);
  EXPECT_FALSE(stream->copyOut(between.data(), memory.get(), bytes));
  queueWrites(*stream, 9);
  EXPECT_FALSE(stream->copyOut(got.data(), memory.get(), bytes));
  EXPECT_FALSE(stream->synchronize());
  EXPECT_EQ(between, std::vector<uint8_t>(bytes, 3));
  expectGot(9);
}

TEST_P(DeviceContract, AStreamWaitsForAnEventOfAnother) {
  const std::unique_ptr<Stream> writer = makeStream(), reader = makeStream();
  queueWrites(*writer, 100);
  EXPECT_FALSE(reader->waitFor(*record(*writer))); // the event goes at once
  EXPECT_FALSE(reader->copyOut(got.data(), memory.get(), bytes));
  EXPECT_FALSE(reader->synchronize());
  expectGot(100);
}

TEST_P(DeviceContract, AnEventIsWaitedFor) {
  const std::unique_ptr<Stream> stream = makeStream();
  queueWrites(*stream, 50);
  EXPECT_FALSE(stream->copyOut(got.data(), memory.get(), bytes));
  const std::unique_ptr<Event> event = record(*stream);
  LaunchError error;
  std::thread([&] { error = event->synchronize(); }).join(); // any thread may ask
  EXPECT_FALSE(error);
  expectGot(50);
}

TEST_P(DeviceContract, AStreamThatIsDestroyedHasDoneItsWork) {
  std::unique_ptr<Stream> stream = makeStream();
  queueWrites(*stream, 50);
  EXPECT_FALSE(stream->copyOut(got.data(), memory.get(), bytes));
  stream = nullptr;
  expectGot(50);
}

TEST_P(DeviceContract, AnEventOutlivesItsStream) {
  std::unique_ptr<Stream> stream = makeStream();
  const std::unique_ptr<Event> start = record(*stream);
  queueWrites(*stream, 20);
  const std::unique_ptr<Event> end = record(*stream);
  stream = nullptr;
  EXPECT_FALSE(start->synchronize());
  EXPECT_GT(std::get<double>(end->nanosSince(*start)), 0);
  const std::unique_ptr<Stream> other = makeStream();
  EXPECT_FALSE(other->waitFor(*end));
  EXPECT_FALSE(other->synchronize());
}

/// Copies from one pinned host memory to the other and back by way of the device, as a graph; null
/// where the device has none, which says so and queues as before.
class DeviceGraphs : public DeviceContract {
protected:
  const std::shared_ptr<void> from = device.allocateHost(bytes), to = device.allocateHost(bytes);
  const std::unique_ptr<Stream> stream = makeStream();

  std::unique_ptr<Graph> capture() {
    std::memset(from.get(), 1, bytes);
    std::memset(to.get(), 0, bytes);
    if (const LaunchError refused = stream->beginCapture()) {
      EXPECT_EQ(refused.code, "E0423");
      EXPECT_FALSE(stream->isCapturing());
      EXPECT_FALSE(stream->copyIn(memory.get(), from.get(), bytes));
      EXPECT_FALSE(stream->synchronize());
      return nullptr;
    }
    EXPECT_TRUE(stream->isCapturing());
    EXPECT_FALSE(stream->copyIn(memory.get(), from.get(), bytes));
    EXPECT_FALSE(stream->copyOut(to.get(), memory.get(), bytes));
    refuseInCapture();
    auto ended = stream->endCapture();
    EXPECT_FALSE(std::holds_alternative<LaunchError>(ended));
    EXPECT_FALSE(stream->isCapturing());
    return std::get<std::unique_ptr<Graph>>(std::move(ended));
  }
  /// Whether `to` holds this value.
  bool has(uint8_t value) {
    std::memcpy(got.data(), to.get(), bytes);
    return got == std::vector<uint8_t>(bytes, value);
  }
  virtual void refuseInCapture() {}
};

TEST_P(DeviceGraphs, RunWhatWasCapturedEachTimeTheyAreReplayed) {
  const std::unique_ptr<Graph> graph = capture();
  if (!graph) {
    return;
  }
  EXPECT_EQ(&graph->device(), &device);
  EXPECT_FALSE(stream->synchronize());
  EXPECT_TRUE(has(0)) << "nothing has run";
  const std::unique_ptr<Stream> other = makeStream();
  for (const uint8_t value : {2, 3}) {
    std::memset(from.get(), value, bytes);
    EXPECT_FALSE(graph->replay(value == 2 ? *stream : *other));
    EXPECT_FALSE((value == 2 ? *stream : *other).synchronize());
    EXPECT_TRUE(has(value));
  }
}

/// In the order of the calls, between what stands in front and behind.
TEST_P(DeviceGraphs, AreWorkOfTheirStream) {
  const std::unique_ptr<Graph> graph = capture();
  if (!graph) {
    return;
  }
  queueWrites(*stream, 20);
  EXPECT_FALSE(graph->replay(*stream));
  EXPECT_FALSE(stream->copyOut(got.data(), memory.get(), bytes));
  queueWrites(*stream, 9);
  EXPECT_FALSE(stream->synchronize());
  expectGot(1);
  EXPECT_TRUE(has(1));
}

class DeviceCaptures : public DeviceGraphs {
  void refuseInCapture() override {
    const std::unique_ptr<Event> event = record(*makeStream());
    EXPECT_EQ(stream->beginCapture().code, "E0424");
    EXPECT_EQ(stream->synchronize().code, "E0424");
    EXPECT_EQ(stream->waitFor(*event).code, "E0424");
    const auto recorded = stream->record();
    ASSERT_TRUE(std::holds_alternative<LaunchError>(recorded));
    EXPECT_EQ(std::get<LaunchError>(recorded).code, "E0424");
  }
};

TEST_P(DeviceCaptures, GoOnWhenACallIsRefused) {
  const std::unique_ptr<Graph> graph = capture();
  if (!graph) {
    return;
  }
  EXPECT_FALSE(graph->replay(*stream));
  EXPECT_FALSE(stream->synchronize());
  EXPECT_TRUE(has(1));
  EXPECT_FALSE(stream->beginCapture());
  EXPECT_EQ(graph->replay(*stream).code, "E0424");
  EXPECT_FALSE(std::holds_alternative<LaunchError>(stream->endCapture()));
}

TEST_P(DeviceGraphs, NeedABeginAndAStreamThatLives) {
  const auto ended = stream->endCapture();
  ASSERT_TRUE(std::holds_alternative<LaunchError>(ended));
  EXPECT_EQ(std::get<LaunchError>(ended).code, "E0424");
  std::unique_ptr<Stream> going = makeStream();
  if (!going->beginCapture()) {
    EXPECT_FALSE(going->copyIn(memory.get(), from.get(), bytes));
  }
  going = nullptr; // and with it the capture
  EXPECT_FALSE(makeStream()->synchronize());
}

TEST_P(DeviceContract, EventsOfAnotherKindOfDeviceAreRefused) {
  class Strange final : public Device {
  public:
    Strange() : Device("strange", 99, 3) {}
    std::shared_ptr<void> allocate(uint64_t) override { return nullptr; }
    std::variant<std::shared_ptr<Module>, LaunchError> load(std::span<const uint8_t>) override {
      return LaunchError{"E0390", ""};
    }
    std::variant<std::unique_ptr<Stream>, LaunchError> makeStream() override {
      return LaunchError{"E0506", ""};
    }
  } strange;
  class StrangeEvent final : public Event {
  public:
    using Event::Event;
    LaunchError synchronize() override { return {}; }
    std::variant<double, LaunchError> nanosSince(Event &) override { return 0.0; }
  } event(strange);
  const LaunchError error = makeStream()->waitFor(event);
  EXPECT_EQ(error.code, "E0416");
  EXPECT_EQ(error.message, "a stream of '" + device.name() + "' expects an event of a device of " +
                               "kind '" + device.kind() + "', but got one of 'strange:3'");
}

/// Also when a later part of it was refused: what it named may go afterwards.
TEST_P(DeviceContract, WorkThatNamesNoStreamIsDoneWhenTheCallReturns) {
  for (const char *code : {"", "E0407"}) {
    got.assign(bytes, 0);
    const LaunchError error = device.runAndWait([&](Stream &stream) {
      queueWrites(stream, 30);
      EXPECT_FALSE(stream.copyOut(got.data(), memory.get(), bytes));
      return LaunchError{code, "refused"};
    });
    EXPECT_EQ(error.code, code);
    expectGot(30);
  }
}

TEST_P(DeviceContract, WorkThatNamesNoStreamHasOneToItself) {
  std::vector<std::thread> threads;
  std::vector<LaunchError> told(8);
  for (size_t i = 0; i < told.size(); ++i) {
    threads.emplace_back([&, i] {
      for (int k = 0; k < 20 && told[i].message.empty(); ++k) {
        told[i] = device.runAndWait([&](Stream &) {
          return i % 2 ? LaunchError{"E0407", std::to_string(i)} : LaunchError{};
        });
      }
    });
  }
  for (std::thread &thread : threads) {
    thread.join();
  }
  for (size_t i = 0; i < told.size(); ++i) {
    EXPECT_EQ(told[i].message, i % 2 ? std::to_string(i) : "");
  }
}

} // namespace nereid::runtime::test

/// For the devices of these names.
#define NEREID_DEVICE_CONTRACT(name, ...)                                                          \
  INSTANTIATE_TEST_SUITE_P(name, DeviceContract, __VA_ARGS__);                                     \
  INSTANTIATE_TEST_SUITE_P(name, DeviceGraphs, __VA_ARGS__);                                       \
  INSTANTIATE_TEST_SUITE_P(name, DeviceCaptures, __VA_ARGS__)
