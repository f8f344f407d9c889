// SPDX-License-Identifier: Apache-2.0
// The CPU as a device: its memory is the host's, nothing is queued, and copies are plain. Launches
// that name no stream do not come through here, see runtime/Launch.cpp.
#include "runtime/Device.h"
#include "runtime/Kernel.h"
#include "runtime/ThreadPool.h"
#include "runtime/core/Clock.h"
#include "runtime/cpu/HostGraph.h"

#include <cstdlib>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>

namespace nereid::runtime {
namespace {

constexpr uint64_t hugePageBytes = 2 << 20;
constexpr uint64_t hugePagesFromBytes = 4 << 20;

/// More than the machine has would be given by an overcommitting system and end the process when
/// it is touched.
bool exceedsMachine(uint64_t bytes) {
  const long pages = ::sysconf(_SC_PHYS_PAGES), pageBytes = ::sysconf(_SC_PAGESIZE);
  return pages > 0 && pageBytes > 0 &&
         bytes / static_cast<uint64_t>(pageBytes) > static_cast<uint64_t>(pages);
}

std::shared_ptr<void> mapHugePages(uint64_t bytes) {
  const uint64_t rounded = (bytes + hugePageBytes - 1) & ~(hugePageBytes - 1);
  const uint64_t reserved = rounded + hugePageBytes;
  void *memory =
      ::mmap(nullptr, reserved, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    return nullptr;
  }
  uint8_t *start = static_cast<uint8_t *>(memory);
  const uint64_t misalignment = reinterpret_cast<uintptr_t>(start) & (hugePageBytes - 1);
  const uint64_t before = misalignment ? hugePageBytes - misalignment : 0;
  if (before) {
    ::munmap(start, before);
  }
  if (hugePageBytes - before) {
    ::munmap(start + before + rounded, hugePageBytes - before);
  }
  start += before;
  ::madvise(start, rounded, MADV_HUGEPAGE);
  return std::shared_ptr<void>(start, [rounded](void *address) { ::munmap(address, rounded); });
}

class CpuEvent final : public Event {
public:
  explicit CpuEvent(Device &device) : Event(device), nanos(nowNanos()) {}
  LaunchError synchronize() override { return {}; }
  std::variant<double, LaunchError> nanosSince(Event &start) override {
    return static_cast<double>(nanos - static_cast<CpuEvent &>(start).nanos);
  }

private:
  int64_t nanos;
};

/// Has no state but that of a capture, so that any thread may use any of them otherwise.
class CpuStream final : public Stream {
public:
  using Stream::Stream;
  LaunchError launch(const Kernel &kernel, Grid grid, const uint64_t *slots,
                     ProgramOrder order) override {
    if (captured) {
      captured->add([kernel, grid, order,
                     own = std::vector(slots, slots + kernel.info.slots())](ThreadPool &pool) {
        return launchPacked(kernel, grid, own.data(), pool, order);
      });
      return {};
    }
    return launchPacked(kernel, grid, slots, defaultPool(), order);
  }
  LaunchError copyIn(void *to, const void *from, uint64_t bytes) override {
    return copy(to, from, bytes);
  }
  LaunchError copyOut(void *to, const void *from, uint64_t bytes) override {
    return copy(to, from, bytes);
  }
  std::variant<std::unique_ptr<Event>, LaunchError> record() override {
    if (LaunchError refused = refuseInCapture("an event")) {
      return refused;
    }
    return std::make_unique<CpuEvent>(device());
  }
  LaunchError synchronize() override { return refuseInCapture("a wait of the host"); }

private:
  LaunchError copy(void *to, const void *from, uint64_t bytes) {
    const auto move = [to, from, bytes](ThreadPool &) {
      std::memmove(to, from, bytes);
      return LaunchError{};
    };
    if (captured) {
      captured->add(move);
      return {};
    }
    return move(defaultPool());
  }
  LaunchError queueWait(Event &) override { return {}; }
  LaunchError startCapture() override {
    captured = std::make_unique<HostGraph>(device());
    return {};
  }
  std::variant<std::unique_ptr<Graph>, LaunchError> finishCapture() override {
    return std::move(captured);
  }

  std::unique_ptr<HostGraph> captured; ///< null unless there is a capture
};

class CpuDevice final : public Device {
public:
  CpuDevice() : Device("cpu", hostDlpackType, 0) {}

  /// Aligned to 2 MiB, with huge pages advised, from 4 MiB on.
  std::shared_ptr<void> allocate(uint64_t bytes) override {
    if (bytes >= hugePagesFromBytes) {
      return exceedsMachine(bytes) ? nullptr : mapHugePages(bytes);
    }
    void *memory = std::aligned_alloc(64, (bytes + 63) & ~uint64_t{63});
    return memory ? std::shared_ptr<void>(memory, &std::free) : nullptr;
  }
  std::variant<std::shared_ptr<Module>, LaunchError> load(std::span<const uint8_t> code) override {
    return loadObject(code);
  }
  std::variant<std::unique_ptr<Stream>, LaunchError> makeStream() override {
    return std::make_unique<CpuStream>(*this);
  }
};

} // namespace

Device &cpuDevice() {
  static CpuDevice &device = *new CpuDevice;
  return device;
}

} // namespace nereid::runtime
