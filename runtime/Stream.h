// SPDX-License-Identifier: Apache-2.0
// Work of a device in order: launches and copies are queued and run one after the other. The CPU's
// stream has done its work when a call returns; of any other, `synchronize` tells.
#pragma once

#include "runtime/LaunchError.h"

#include <array>
#include <cstdint>
#include <memory>
#include <variant>

namespace nereid::runtime {

class Device;
struct Kernel;

using Grid = std::array<int64_t, 3>;

/// In which order a thread takes programs. Descending, one by one, is for tests: a kernel whose
/// programs depend on each other shows it. Programs that may wait for others are always ascending,
/// and a device that cannot choose takes it as a wish.
enum class ProgramOrder : uint8_t { Ascending, Descending };

/// A point in a stream, and the time at which the work in front of it was done.
class Event {
public:
  explicit Event(Device &device) : owner(&device) {}
  virtual ~Event() = default;
  Event(const Event &) = delete;
  Event &operator=(const Event &) = delete;

  Device &device() const { return *owner; }
  /// Waits until the stream has come to this point.
  virtual LaunchError synchronize() = 0;
  /// Nanoseconds from `start` to this event, after waiting for both; both are of one device.
  virtual std::variant<double, LaunchError> nanosSince(Event &start) = 0;

private:
  Device *owner;
};

/// Calls come from one thread at a time. An error of earlier work may be told by any later call.
class Stream {
public:
  explicit Stream(Device &device) : owner(&device) {}
  virtual ~Stream() = default;
  Stream(const Stream &) = delete;
  Stream &operator=(const Stream &) = delete;

  Device &device() const { return *owner; }
  /// Queues the grid's programs. The kernel is of a module of this device, the grid was checked and
  /// has programs; slots are as KernelEntry has them, with addresses of this device, and are read
  /// before the call returns.
  virtual LaunchError launch(const Kernel &kernel, Grid grid, const uint64_t *slots,
                             ProgramOrder order) = 0;
  /// From host memory to this device's; the host's bytes must stay as they are until synchronize().
  virtual LaunchError copyIn(void *to, const void *from, uint64_t bytes) = 0;
  /// From this device's memory to the host's, which has the bytes after synchronize().
  virtual LaunchError copyOut(void *to, const void *from, uint64_t bytes) = 0;
  virtual std::variant<std::unique_ptr<Event>, LaunchError> record() = 0;
  /// Waits until all that was queued is done.
  virtual LaunchError synchronize() = 0;

private:
  Device *owner;
};

} // namespace nereid::runtime
