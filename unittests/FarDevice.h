// SPDX-License-Identifier: Apache-2.0
// A device for tests, "far:0": this processor, but with memory that only the device may touch, so
// that a host access is a fault, and with streams that do nothing before they are waited for. Its
// modules are objects for the CPU.
#pragma once

#include "runtime/Device.h"
#include "runtime/Kernel.h"
#include "runtime/ThreadPool.h"
#include "runtime/core/Clock.h"

#include <cstring>
#include <functional>
#include <map>
#include <mutex>
#include <new>
#include <optional>
#include <sys/mman.h>
#include <utility>
#include <vector>

namespace nereid::runtime::test {

class FarDevice final : public Device {
public:
  /// kDLExtDev of DLPack, which nothing else uses.
  static constexpr int32_t dlpackType = 12;

  /// Registers the kind "far" with the devices 0 and 1.
  static FarDevice &get(int32_t id = 0) {
    registerDevices("far", dlpackType, &make);
    return static_cast<FarDevice &>(*std::get<Device *>(findDevice(dlpackType, id)));
  }

  std::string architecture() const override { return "away" + std::to_string(id()); }
  std::shared_ptr<void> allocate(uint64_t bytes) override {
    if (failsAllocations) {
      return nullptr;
    }
    std::lock_guard guard(lock);
    void *memory = ::mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
      return nullptr;
    }
    allocations[memory] = bytes;
    return std::shared_ptr<void>(memory, [this](void *address) {
      std::lock_guard guard(lock);
      ::munmap(address, allocations[address]);
      allocations.erase(address);
    });
  }
  std::variant<std::shared_ptr<Module>, LaunchError> load(std::span<const uint8_t> code) override {
    auto loaded = loadObject(code);
    if (LaunchError *error = std::get_if<LaunchError>(&loaded)) {
      return std::move(*error);
    }
    return std::make_shared<FarModule>(*this, std::get<0>(std::move(loaded)));
  }
  std::variant<std::unique_ptr<Stream>, LaunchError> makeStream() override {
    return std::make_unique<FarStream>(*this);
  }

  size_t allocationCount() {
    std::lock_guard guard(lock);
    return allocations.size();
  }
  bool failsAllocations = false;
  bool hasGraphs = false; ///< of streams that are made from now on
  int replays = 0;
  /// The next queued operation fails with this, after so many that do not.
  std::optional<LaunchError> nextError;
  int callsBeforeError = 0;
  /// The device is lost by it: that operation and all behind it fail, and so does waiting.
  bool losesDevice = false, isLost = false;
  bool throwsNext = false; ///< the next queued operation throws std::bad_alloc
  /// Called once, in front of the next wait: what another thread would do just then.
  std::function<void()> beforeWait;
  int launches = 0, copies = 0;       ///< done
  uint64_t bytesIn = 0, bytesOut = 0; ///< that copies were asked for
  int pending = 0;                    ///< operations that are queued in any of its streams

private:
  class FarModule final : public Module {
  public:
    FarModule(Device &device, std::shared_ptr<Module> code)
        : Module(device), code(std::move(code)) {}
    void *symbol(std::string_view name) const override { return code->symbol(name); }

  private:
    std::shared_ptr<Module> code;
  };

  class FarStream;
  class FarEvent final : public Event {
  public:
    FarEvent(Device &device, FarStream &stream) : Event(device), stream(&stream) {}
    LaunchError synchronize() override {
      reach(stream, *nanos);
      return {};
    }
    std::variant<double, LaunchError> nanosSince(Event &start) override {
      for (Event *event : {&start, static_cast<Event *>(this)}) {
        (void)event->synchronize();
      }
      return static_cast<double>(*nanos - *static_cast<FarEvent &>(start).nanos);
    }
    /// A stream that is gone has come to all its points.
    static void reach(FarStream *stream, const int64_t &nanos) {
      if (nanos < 0) {
        stream->run();
      }
    }
    std::shared_ptr<int64_t> nanos = std::make_shared<int64_t>(-1);
    FarStream *stream;
  };

  class FarGraph final : public Graph {
  public:
    explicit FarGraph(FarDevice &device) : Graph(device), far(device) {}
    std::vector<std::function<LaunchError()>> calls;

  private:
    LaunchError queue(Stream &stream) override {
      ++far.replays;
      LaunchError error;
      for (const auto &call : calls) {
        error = error ? error : static_cast<FarStream &>(stream).later(call);
      }
      return error;
    }
    FarDevice &far;
  };

  class FarStream final : public Stream {
  public:
    explicit FarStream(FarDevice &device) : Stream(device), far(device) {}
    ~FarStream() override { run(); }
    LaunchError launch(const Kernel &kernel, Grid grid, const uint64_t *slots,
                       ProgramOrder order) override {
      return later([&far = far, kernel, grid, order,
                    copy = std::vector(slots, slots + kernel.info.slots())] {
        ++far.launches;
        return launchPacked(kernel, grid, copy.data(), defaultPool(), order);
      });
    }
    LaunchError copyIn(void *to, const void *from, uint64_t bytes) override {
      far.bytesIn += bytes;
      return copy(to, from, bytes);
    }
    LaunchError copyOut(void *to, const void *from, uint64_t bytes) override {
      far.bytesOut += bytes;
      return copy(to, from, bytes);
    }
    std::variant<std::unique_ptr<Event>, LaunchError> record() override {
      auto event = std::make_unique<FarEvent>(far, *this);
      if (LaunchError error = later([nanos = event->nanos] {
            *nanos = nowNanos();
            return LaunchError{};
          })) {
        return error;
      }
      return event;
    }
    LaunchError synchronize() override {
      if (const auto call = far.takeCall()) {
        call();
      }
      run();
      return far.isLost ? *far.nextError : std::exchange(failure, {});
    }
    void run() {
      std::lock_guard guard(far.lock);
      far.enter();
      for (const auto &work : std::exchange(queue, {})) {
        --far.pending;
        LaunchError error = work();
        failure = failure ? failure : error;
      }
      far.leave();
    }

  private:
    LaunchError startCapture() override {
      if (!far.hasGraphs) {
        return {"E0423", "'" + far.name() + "' has no graphs"};
      }
      captured = std::make_unique<FarGraph>(far);
      return {};
    }
    std::variant<std::unique_ptr<Graph>, LaunchError> finishCapture() override {
      return std::unique_ptr<Graph>(std::move(captured));
    }
    LaunchError copy(void *to, const void *from, uint64_t bytes) {
      return later([&far = far, to, from, bytes] {
        ++far.copies;
        std::memcpy(to, from, bytes);
        return LaunchError{};
      });
    }
    friend class FarGraph;
    LaunchError later(std::function<LaunchError()> work) {
      std::lock_guard guard(far.lock);
      if (captured) {
        captured->calls.push_back(std::move(work));
        return {};
      }
      if (std::exchange(far.throwsNext, false)) {
        throw std::bad_alloc();
      }
      if (far.nextError && far.callsBeforeError-- == 0) {
        far.callsBeforeError = 0;
        LaunchError error = *far.nextError;
        far.isLost = far.losesDevice;
        if (!far.isLost) {
          far.nextError.reset();
        }
        return error;
      }
      queue.push_back(std::move(work));
      ++far.pending;
      return {};
    }
    LaunchError queueWait(Event &event) override {
      const auto &other = static_cast<FarEvent &>(event);
      return later([stream = other.stream, nanos = other.nanos] {
        FarEvent::reach(stream, *nanos);
        return LaunchError{};
      });
    }
    FarDevice &far;
    std::vector<std::function<LaunchError()>> queue;
    std::unique_ptr<FarGraph> captured;
    LaunchError failure; ///< the first one, until it is told
  };

  explicit FarDevice(int32_t id) : Device("far", dlpackType, id) {}
  static std::variant<std::unique_ptr<Device>, LaunchError> make(int32_t id) {
    if (id > 1) {
      return LaunchError{"E0415",
                         "expects 'far:0' or 'far:1', but got 'far:" + std::to_string(id) + "'"};
    }
    return std::unique_ptr<Device>(new FarDevice(id));
  }
  std::function<void()> takeCall() {
    std::lock_guard guard(lock);
    return std::exchange(beforeWait, nullptr);
  }
  /// While work is done, its memory can be touched; work may wait for that of another stream.
  void enter() {
    if (depth++ == 0) {
      protect(PROT_READ | PROT_WRITE);
    }
  }
  void leave() {
    if (--depth == 0) {
      protect(PROT_NONE);
    }
  }
  void protect(int access) {
    for (const auto &[address, bytes] : allocations) {
      ::mprotect(address, bytes, access);
    }
  }

  std::recursive_mutex lock;
  std::map<void *, uint64_t> allocations;
  int depth = 0; ///< of streams that work
};

} // namespace nereid::runtime::test
