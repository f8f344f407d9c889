// SPDX-License-Identifier: Apache-2.0
// From argument values to program instances: checks, packs the slots of KernelEntry, and walks the
// grid on the pool, x fastest. A launch known to be too small to pay for waking a worker stays on
// the calling thread.
#include "runtime/Kernel.h"

#include "runtime/Coroutines.h"
#include "runtime/Descriptor.h"
#include "runtime/Device.h"
#include "runtime/IntegerRange.h"
#include "runtime/LaunchErrors.h"
#include "runtime/LaunchSharing.h"
#include "runtime/ProgramWalk.h"
#include "runtime/StoreFence.h"
#include "runtime/ThreadPool.h"

#include <atomic>
#include <bit>
#include <climits>
#include <cstdio>
#include <functional>

namespace nereid::runtime {
namespace {

constexpr int64_t gridLimit = INT32_MAX;

/// What one program of a kernel took lately, by its entry address. Collisions and races only make
/// an estimate worse, never a result.
class CostTable {
public:
  /// Nanoseconds × 16 per program; 0 = unknown.
  int64_t find(KernelEntry entry) const {
    const Row &row = rowOf(entry);
    return row.entry.load(std::memory_order_relaxed) == entry
               ? row.cost.load(std::memory_order_relaxed)
               : 0;
  }
  void record(KernelEntry entry, int64_t nanos, int64_t programs) {
    Row &row = rowOf(entry);
    row.cost.store(estimateCost(find(entry), nanos, programs), std::memory_order_relaxed);
    row.entry.store(entry, std::memory_order_relaxed);
  }

private:
  struct Row {
    std::atomic<KernelEntry> entry{nullptr};
    std::atomic<int64_t> cost{0};
  };
  Row rows[256];
  Row &rowOf(KernelEntry entry) {
    return rows[(std::bit_cast<uintptr_t>(entry) >> 4) * 0x9E3779B97F4A7C15ull >> 56];
  }
  const Row &rowOf(KernelEntry entry) const { return const_cast<CostTable *>(this)->rowOf(entry); }
};

CostTable costs;

Streak streak;

struct Launch {
  KernelEntry entry;
  const uint64_t *slots;
  int32_t count[3];
  bool takesRanges;
  LaunchFailure failure;
  DeferredList deferred;

  void runRange(int64_t begin, int64_t end, int worker, uint8_t *scratch) {
    LaunchFrame frame{&failure, {}, nullptr, &deferred, worker};
    LaunchFrame *const outer = currentLaunchFrame;
    currentLaunchFrame = &frame;
    // A failed assertion comes back here; the rest of the range is skipped.
    if (_setjmp(frame.exit) == 0) {
      walkPrograms(begin, end, takesRanges, count, entry, slots, scratch, failure.hasFailed);
    }
    currentLaunchFrame = outer;
    finishStreamingStores();
  }
};

std::string text(int64_t value) { return std::to_string(value); }

LaunchError checkGrid(const Grid &grid) {
  for (int axis = 0; axis < 3; ++axis) {
    if (grid[axis] < 0 || grid[axis] > gridLimit) {
      return {"E0405", "grid size " + text(axis) + " expects a value from 0 to " + text(gridLimit) +
                           ", but got " + text(grid[axis])};
    }
  }
  if (grid[0] != 0 && grid[1] != 0 && grid[2] != 0 && grid[0] > INT64_MAX / grid[1] / grid[2]) {
    return {"E0405", "grid " + text(grid[0]) + " x " + text(grid[1]) + " x " + text(grid[2]) +
                         " has more programs than can be counted"};
  }
  return {};
}

std::string parameter(const Kernel &kernel, const ArgumentInfo &info) {
  return "parameter '" + info.name + "' of kernel '" + kernel.info.name + "' ";
}

const char *kindName(const ArgumentValue &value) {
  return std::holds_alternative<const Tensor *>(value) ? "a tensor"
         : std::holds_alternative<int64_t>(value)      ? "an integer"
                                                       : "a floating-point number";
}

/// Bool tensors and 8-bit floats are bytes, which .npy files and older DLPack can only call uint8.
bool isSameElement(DType parameter, DType given) {
  return parameter == given ||
         ((parameter == DType::Bool || isFloat8(parameter)) && given == DType::U8);
}

/// Null for the CPU's kernels, whose launches are too short to ask for more.
Device *otherDevice(const Kernel &kernel) {
  Device *device = kernel.code ? &kernel.code->device() : nullptr;
  return device && !device->isHost() ? device : nullptr;
}

Device &deviceOf(const Kernel &kernel) {
  Device *device = otherDevice(kernel);
  return device ? *device : cpuDevice();
}

bool isOnDeviceOf(const Kernel &kernel, const Tensor &tensor) {
  const Device *device = otherDevice(kernel);
  return device ? &tensor.device() == device : tensor.isOnHost();
}

[[gnu::noinline]] LaunchError refuseDevice(const Kernel &kernel, const ArgumentInfo &info,
                                           const Tensor &tensor) {
  return {"E0416", parameter(kernel, info) + "expects a tensor on '" + deviceOf(kernel).name() +
                       "', as the kernel is, but got one on '" + tensor.device().name() + "'"};
}

LaunchError packPointer(const Kernel &kernel, const ArgumentInfo &info, const ArgumentValue &value,
                        uint64_t &slot) {
  const Tensor *const *given = std::get_if<const Tensor *>(&value);
  if (!given) {
    return {"E0409", parameter(kernel, info) + "expects a tensor of '" +
                         std::string(torchName(info.dtype)) + "', but got " + kindName(value)};
  }
  if (!*given || !(*given)->isValid()) {
    return {"E0408", parameter(kernel, info) + "expects a tensor with memory, but got one without"};
  }
  const Tensor &tensor = **given;
  if (!isSameElement(info.dtype, tensor.dtype())) {
    return {"E0410", parameter(kernel, info) + "expects elements of type '" +
                         std::string(torchName(info.dtype)) + "', but got '" +
                         std::string(torchName(tensor.dtype())) + "'"};
  }
  if (!isOnDeviceOf(kernel, tensor)) {
    return refuseDevice(kernel, info, tensor);
  }
  const uint64_t address = reinterpret_cast<uintptr_t>(tensor.data());
  const uint64_t divisor = static_cast<uint64_t>(info.divisibility);
  if (info.divisibility > 1 && address % divisor != 0) {
    char hex[24];
    std::snprintf(hex, sizeof hex, "0x%llx", static_cast<unsigned long long>(address));
    return {"E0411", parameter(kernel, info) + "expects an address divisible by " +
                         text(info.divisibility) + " as its signature promises, but got " + hex +
                         ", which leaves " + text(static_cast<int64_t>(address % divisor))};
  }
  slot = address;
  return {};
}

LaunchError packInteger(const Kernel &kernel, const ArgumentInfo &info, const ArgumentValue &value,
                        uint64_t &slot) {
  const int64_t *given = std::get_if<int64_t>(&value);
  if (!given) {
    return {"E0409", parameter(kernel, info) + "expects an integer of type '" +
                         std::string(torchName(info.dtype)) + "', but got " + kindName(value)};
  }
  if (!holdsInteger(info.dtype, *given)) {
    return {"E0406", parameter(kernel, info) + "expects a value of type '" +
                         std::string(torchName(info.dtype)) + "', but got " + text(*given)};
  }
  if (info.divisibility > 1 && *given % info.divisibility != 0) {
    return {"E0411", parameter(kernel, info) + "expects a value divisible by " +
                         text(info.divisibility) + " as its signature promises, but got " +
                         text(*given)};
  }
  slot = static_cast<uint64_t>(*given);
  return {};
}

LaunchError packFloat(const Kernel &kernel, const ArgumentInfo &info, const ArgumentValue &value,
                      uint64_t &slot) {
  double given;
  if (const double *exact = std::get_if<double>(&value)) {
    given = *exact;
  } else if (const int64_t *integer = std::get_if<int64_t>(&value)) {
    given = static_cast<double>(*integer);
  } else {
    return {"E0409", parameter(kernel, info) + "expects a number of type '" +
                         std::string(torchName(info.dtype)) + "', but got a tensor"};
  }
  if (info.dtype == DType::F64) {
    slot = std::bit_cast<uint64_t>(given);
    return {};
  }
  // A 16-bit parameter has that type's precision, though it travels as float32.
  const float single = info.dtype == DType::F16    ? fromHalf(toHalf(given))
                       : info.dtype == DType::BF16 ? fromBFloat16(toBFloat16(given))
                                                   : static_cast<float>(given);
  slot = std::bit_cast<uint32_t>(single);
  return {};
}

LaunchError packDescriptor(const Kernel &kernel, const ArgumentInfo &info,
                           const ArgumentValue &value, uint64_t *slots) {
  if (LaunchError error = packPointer(kernel, info, value, slots[0])) {
    return error;
  }
  std::vector<int64_t> parts(info.slots() - 1);
  const std::string who = "parameter '" + info.name + "' of kernel '" + kernel.info.name + "'";
  LaunchError error =
      describeTensor(who, info.rank, *std::get<const Tensor *>(value), parts.data());
  for (size_t i = 0; i < parts.size(); ++i) {
    slots[i + 1] = static_cast<uint64_t>(parts[i]);
  }
  return error;
}

LaunchError packOne(const Kernel &kernel, const ArgumentInfo &info, const ArgumentValue &value,
                    uint64_t *slots) {
  switch (info.kind) {
  case ArgumentKind::Pointer:
    return packPointer(kernel, info, value, *slots);
  case ArgumentKind::Integer:
    return packInteger(kernel, info, value, *slots);
  case ArgumentKind::Float:
    return packFloat(kernel, info, value, *slots);
  case ArgumentKind::Descriptor:
    return packDescriptor(kernel, info, value, slots);
  }
  return {};
}

LaunchError pack(const Kernel &kernel, std::span<const ArgumentValue> arguments, uint64_t *slots) {
  for (size_t i = 0; i < arguments.size(); ++i) {
    const ArgumentInfo &info = kernel.info.arguments[i];
    if (LaunchError error = packOne(kernel, info, arguments[i], slots)) {
      return error;
    }
    slots += info.slots();
  }
  return {};
}

} // namespace

LaunchError outOfScratch(const Kernel &kernel) {
  return {"E0505", "kernel '" + kernel.info.name + "' needs " +
                       std::to_string(kernel.info.scratchBytes) +
                       " bytes of scratch memory for each thread, but the system gives none"};
}

LaunchError assertionError(const Kernel &kernel, const LaunchFailure &failure) {
  if (!failure.hasFailed.load(std::memory_order_acquire)) {
    return {};
  }
  return {"E0407", "device assertion failed in kernel '" + kernel.info.name + "', program (" +
                       text(failure.id[0]) + ", " + text(failure.id[1]) + ", " +
                       text(failure.id[2]) + "): " + failure.message};
}

/// On the stream, or without one on the pool.
static LaunchError launchSlots(const Kernel &kernel, Grid grid, const uint64_t *slots,
                               ThreadPool *given, Stream *stream, ProgramOrder order) {
  if (LaunchError error = checkGrid(grid)) {
    return error;
  }
  if (!kernel.entry) {
    return {"E0408", "kernel '" + kernel.info.name + "' has no code"};
  }
  const int64_t programs = grid[0] * grid[1] * grid[2];
  if (programs == 0) {
    return {};
  }
  if (stream) {
    return stream->launch(kernel, grid, slots, order);
  }
  ThreadPool &pool = *given;
  if (kernel.info.canWait) {
    return launchCoroutines(kernel, grid, slots, pool);
  }
  Launch launch{
      kernel.entry,
      slots,
      {static_cast<int32_t>(grid[0]), static_cast<int32_t>(grid[1]), static_cast<int32_t>(grid[2])},
      kernel.info.takesRanges,
      {},
      {}};
  launch.deferred.programs = programs;
  std::atomic<bool> lacksScratch{false};
  const auto body = [&](int64_t begin, int64_t end, int worker) {
    uint8_t *scratch = pool.scratch(worker, kernel.info.scratchBytes);
    if (!scratch) {
      lacksScratch.store(true, std::memory_order_relaxed);
      return;
    }
    launch.runRange(begin, end, worker, scratch);
  };
  if (programs == 1) {
    // Cannot be shared, so its cost need not be known and the clock is left alone.
    pool.parallelFor(1, 1, std::cref(body));
  } else if (order == ProgramOrder::Descending) {
    pool.parallelFor(programs, 1, [&](int64_t begin, int64_t end, int worker) {
      for (int64_t i = begin; i < end; ++i) {
        body(programs - 1 - i, programs - i, worker);
      }
    });
  } else {
    const int64_t cost = costs.find(kernel.entry);
    const bool hasWorkers = pool.threadCount() > 1;
    const LaunchSharing plan =
        shareLaunch(cost, programs, [&] { return hasWorkers && pool.hasAwakeWorker(); }, streak);
    const int64_t grain = hasWorkers && plan.isShared ? plan.grain : programs;
    const auto sharing = plan.inParts ? ThreadPool::Sharing::Parts : ThreadPool::Sharing::Next;
    // Of the calling thread alone: a sample is enough, and nothing is shared.
    int64_t nanos = 0, timedPrograms = 0;
    const auto timed = [&](int64_t begin, int64_t end, int worker) {
      if (worker != 0) {
        body(begin, end, worker);
        return;
      }
      const int64_t start = nowNanos();
      body(begin, end, worker);
      nanos += nowNanos() - start;
      timedPrograms += end - begin;
    };
    pool.parallelFor(programs, grain, std::cref(timed), sharing);
    if (timedPrograms > 0) {
      costs.record(kernel.entry, nanos, timedPrograms);
    }
  }
  launch.deferred.finish();
  if (lacksScratch.load(std::memory_order_relaxed)) {
    return outOfScratch(kernel);
  }
  return assertionError(kernel, launch.failure);
}

LaunchError launchPacked(const Kernel &kernel, Grid grid, const uint64_t *slots, ThreadPool &pool,
                         ProgramOrder order) {
  return launchSlots(kernel, grid, slots, &pool, nullptr, order);
}

/// The same with arguments that are not checked yet.
[[gnu::always_inline]] static inline LaunchError
packAndLaunch(const Kernel &kernel, Grid grid, std::span<const ArgumentValue> arguments,
              ThreadPool *pool, Stream *stream, ProgramOrder order) {
  const size_t expected = kernel.info.arguments.size();
  if (arguments.size() != expected) {
    return {"E0401", "kernel '" + kernel.info.name + "' expects " + std::to_string(expected) +
                         " run-time arguments, but got " + std::to_string(arguments.size())};
  }
  size_t slotCount = 0;
  for (const ArgumentInfo &info : kernel.info.arguments) {
    slotCount += info.slots();
  }
  uint64_t few[32];
  std::vector<uint64_t> many(slotCount > 32 ? slotCount : 0);
  uint64_t *slots = slotCount > 32 ? many.data() : few;
  if (LaunchError error = pack(kernel, arguments, slots)) {
    return error;
  }
  return launchSlots(kernel, grid, slots, pool, stream, order);
}

LaunchError launch(const Kernel &kernel, Grid grid, std::span<const ArgumentValue> arguments,
                   ThreadPool &pool, ProgramOrder order) {
  if (Device *device = otherDevice(kernel)) {
    Stream &stream = device->defaultStream();
    LaunchError error = packAndLaunch(kernel, grid, arguments, nullptr, &stream, order);
    return error ? error : stream.synchronize();
  }
  return packAndLaunch(kernel, grid, arguments, &pool, nullptr, order);
}

LaunchError launch(const Kernel &kernel, Grid grid, std::span<const ArgumentValue> arguments,
                   Stream &stream, ProgramOrder order) {
  if (const Device &device = deviceOf(kernel); &device != &stream.device()) {
    return {"E0416", "kernel '" + kernel.info.name + "' expects a stream of '" + device.name() +
                         "', but got one of '" + stream.device().name() + "'"};
  }
  return packAndLaunch(kernel, grid, arguments, nullptr, &stream, order);
}

} // namespace nereid::runtime
