// SPDX-License-Identifier: Apache-2.0
#include "lib/targets/nvidia/driver/NvidiaStream.h"

#include "lib/targets/nvidia/driver/Errors.h"
#include "lib/targets/nvidia/driver/Failure.h"
#include "lib/targets/nvidia/driver/NvidiaEvent.h"
#include "lib/targets/nvidia/driver/NvidiaGraph.h"
#include "lib/targets/nvidia/driver/NvidiaModule.h"
#include "runtime/Kernel.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace nereid::nvidia {
namespace {

std::string text(int64_t number) { return std::to_string(number); }

/// The driver wants the address of each parameter's value: of its slot, whose low bytes it takes.
class Parameters {
public:
  Parameters(const runtime::KernelInfo &info, const uint64_t *slots) {
    const size_t count = info.slots();
    if (count > std::size(few)) {
      many.resize(count);
      addresses = many.data();
    }
    for (size_t i = 0; i < count; ++i) {
      addresses[i] = const_cast<uint64_t *>(slots + i); // the driver only reads
    }
  }
  Parameters(const Parameters &) = delete;
  Parameters &operator=(const Parameters &) = delete;
  void **get() { return addresses; }

private:
  void *few[32];
  std::vector<void *> many;
  void **addresses = few;
};

} // namespace

NvidiaStream::~NvidiaStream() {
  if (isCapturing()) {
    (void)endCapture();
  }
  if (owner == Owner::Us) {
    (void)synchronize();
    (void)nvidia.context().run([&] { return nvidia.driver().streamDestroy(stream); });
  }
}

LaunchError NvidiaStream::error(cuda::Result result, std::string_view asked) const {
  return errorOf(nvidia.driver(), result, asked, nvidia.name(),
                 queued.last ? std::string_view(*queued.last) : std::string_view());
}

LaunchError NvidiaStream::refuse(const runtime::Kernel &kernel, const KernelFunction &function,
                                 runtime::Grid grid) const {
  const DeviceFacts &facts = nvidia.facts();
  const std::string who = "kernel '" + kernel.info.name + "'", where = "'" + nvidia.name() + "'";
  for (size_t axis = 0; axis < grid.size(); ++axis) {
    const uint64_t limit = facts.gridLimits[axis] / (axis == 0 ? kernel.info.blocks : 1);
    if (grid[axis] > limit) {
      const std::string help =
          axis == 0 ? "let each program do more"
                    : "lay the programs along axis 0, which takes " +
                          text(facts.gridLimits[0] / static_cast<int64_t>(kernel.info.blocks));
      return {"E0405", "grid size " + text(axis) + " of " + who + " expects at most " +
                           text(limit) + " on " + where + ", but got " + text(grid[axis]) + ": " +
                           help};
    }
  }
  if (kernel.info.threads > static_cast<uint32_t>(function.maxThreads)) {
    return {"E0508", who + " expects " + text(kernel.info.threads) +
                         " threads for a program, but " + where + " has registers for " +
                         text(function.maxThreads) + ": use fewer warps"};
  }
  const uint64_t whole = kernel.info.scratchBytes + function.staticSharedBytes;
  return {"E0501", who + " expects " + text(whole) + " bytes of shared memory for a program (" +
                       text(kernel.info.scratchBytes) + " dynamic, " +
                       text(function.staticSharedBytes) + " static), but " + where + " has " +
                       text(facts.sharedBytesPerBlock) +
                       ": use smaller block sizes or fewer pipeline stages"};
}

LaunchError NvidiaStream::launch(const runtime::Kernel &kernel, runtime::Grid grid,
                                 const uint64_t *slots, runtime::ProgramOrder) {
  const auto &function = *std::bit_cast<const KernelFunction *>(kernel.entry);
  const auto &limits = nvidia.facts().gridLimits;
  const runtime::KernelInfo &info = kernel.info;
  if (grid[0] > limits[0] / info.blocks || grid[1] > limits[1] || grid[2] > limits[2] ||
      info.threads > static_cast<uint32_t>(function.maxThreads) ||
      info.scratchBytes > static_cast<uint64_t>(function.maxDynamicSharedBytes)) {
    return refuse(kernel, function, grid);
  }
  const unsigned threads = info.threads ? info.threads : static_cast<unsigned>(function.maxThreads);
  Parameters parameters(info, slots);
  const cuda::LaunchConfig config = launchConfig(grid, info.blocks, threads, info.scratchBytes,
                                                 stream, info.waits && nvidia.takesEarlyGrids());
  const cuda::Result result = nvidia.context().run([&] {
    return nvidia.driver().launchKernelEx(&config, function.handle, parameters.get(), nullptr);
  });
  if (result == cuda::Success) {
    queued.last = function.name;
    if (function.failure) {
      expectAssertions({kernel.code, &function});
    }
    if (isCapturing()) {
      queued.modules.push_back(kernel.code);
    }
    return blockingLaunches().load(std::memory_order_relaxed) && !isBeingCaptured() ? synchronize()
                                                                                    : LaunchError{};
  }
  return error(result, "a launch of kernel '" + info.name + "' with " + text(threads) +
                           " threads and " + text(info.scratchBytes) +
                           " bytes of dynamic shared memory");
}

void NvidiaStream::expectAssertions(const Queued::Asserting &launched) {
  const auto isThis = [&](const Queued::Asserting &other) {
    return other.function == launched.function;
  };
  if (std::none_of(queued.asserting.begin(), queued.asserting.end(), isThis)) {
    queued.asserting.push_back(launched);
  }
}

LaunchError NvidiaStream::noteQueued(const Queued &graph) {
  for (const Queued::Asserting &one : graph.asserting) {
    expectAssertions(one);
  }
  queued.last = graph.last ? graph.last : queued.last;
  return blockingLaunches().load(std::memory_order_relaxed) ? synchronize() : LaunchError{};
}

LaunchError NvidiaStream::startCapture() {
  const auto begin = [&] {
    return nvidia.driver().streamBeginCapture(stream, cuda::CaptureRelaxed);
  };
  if (LaunchError failed = error(nvidia.context().run(begin), "to capture a stream")) {
    return failed;
  }
  beforeCapture = std::exchange(queued, {});
  return {};
}

std::variant<std::unique_ptr<runtime::Graph>, LaunchError> NvidiaStream::finishCapture() {
  return NvidiaGraph::endCapture(*this, std::exchange(queued, std::exchange(beforeCapture, {})));
}

LaunchError NvidiaStream::copyIn(void *to, const void *from, uint64_t bytes) {
  const cuda::Result result = nvidia.context().run([&] {
    return nvidia.driver().memcpyHtoDAsync(reinterpret_cast<cuda::Address>(to), from, bytes,
                                           stream);
  });
  return result == cuda::Success
             ? LaunchError{}
             : error(result, "a copy of " + std::to_string(bytes) + " bytes from the host");
}

LaunchError NvidiaStream::copyOut(void *to, const void *from, uint64_t bytes) {
  const cuda::Result result = nvidia.context().run([&] {
    return nvidia.driver().memcpyDtoHAsync(to, reinterpret_cast<cuda::Address>(from), bytes,
                                           stream);
  });
  return result == cuda::Success
             ? LaunchError{}
             : error(result, "a copy of " + std::to_string(bytes) + " bytes to the host");
}

std::variant<std::unique_ptr<runtime::Event>, LaunchError> NvidiaStream::record() {
  if (LaunchError refused = refuseInCapture("an event")) {
    return refused;
  }
  const Driver &api = nvidia.driver();
  cuda::Event event = nullptr;
  const cuda::Result made =
      nvidia.context().run([&] { return api.eventCreate(&event, cuda::eventDefault); });
  if (made != cuda::Success) {
    return error(made, "an event");
  }
  auto point = std::make_unique<NvidiaEvent>(nvidia, event);
  const cuda::Result recorded =
      nvidia.context().run([&] { return api.eventRecord(event, stream); });
  if (recorded != cuda::Success) {
    return error(recorded, "to record an event");
  }
  return point;
}

LaunchError NvidiaStream::takeFailure(cuda::Address record, const std::string &kernel) {
  uint8_t bytes[failureBytes] = {};
  if (LaunchError failed = copyOut(bytes, reinterpret_cast<void *>(record), sizeof bytes)) {
    return failed;
  }
  if (const LaunchError failed = wait()) {
    return failed;
  }
  int32_t numbers[4]; // whether there is one, and the program
  std::memcpy(numbers, bytes, sizeof numbers);
  if (numbers[0] == 0) {
    return {};
  }
  const auto *text = reinterpret_cast<const char *>(bytes) + failureTextAt;
  const std::string message(text, strnlen(text, failureBytes - failureTextAt));
  std::memset(bytes, 0, sizeof bytes);
  if (LaunchError failed = copyIn(reinterpret_cast<void *>(record), bytes, sizeof bytes)) {
    return failed;
  }
  if (const LaunchError failed = wait()) {
    return failed;
  }
  return runtime::assertionError(kernel, std::span<const int32_t, 3>(numbers + 1, 3), message);
}

std::atomic<bool> &blockingLaunches() {
  static std::atomic<bool> isSet = [] {
    const char *value = std::getenv("NEREID_BLOCKING");
    return value && *value && std::string_view(value) != "0";
  }();
  return isSet;
}

bool NvidiaStream::isBeingCaptured() const {
  int status = 0; // CU_STREAM_CAPTURE_STATUS_NONE
  const auto call = [&] { return nvidia.driver().streamIsCapturing(stream, &status); };
  return nvidia.context().run(call) != cuda::Success || status != 0;
}

LaunchError NvidiaStream::wait() {
  return error(nvidia.context().run([&] { return nvidia.driver().streamSynchronize(stream); }),
               "a wait for a stream");
}

LaunchError NvidiaStream::synchronize() {
  if (LaunchError refused = refuseInCapture("a wait of the host")) {
    return refused; // which would end the capture
  }
  LaunchError first = wait();
  const std::vector<Queued::Asserting> launched = std::exchange(queued.asserting, {});
  for (const Queued::Asserting &one : launched) {
    if (LaunchError failed =
            first ? LaunchError{} : takeFailure(one.function->failure, *one.function->name)) {
      first = std::move(failed);
    }
  }
  return first;
}

LaunchError NvidiaStream::queueWait(runtime::Event &event) {
  const cuda::Event point = static_cast<NvidiaEvent &>(event).handle();
  return error(nvidia.context().run([&] {
    return nvidia.driver().streamWaitEvent(stream, point, cuda::eventWaitDefault);
  }),
               "to let a stream wait for an event");
}

} // namespace nereid::nvidia
