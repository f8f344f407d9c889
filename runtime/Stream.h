// SPDX-License-Identifier: Apache-2.0
// Work of a device in order: launches and copies are queued and run one after the other. What
// every device promises of its streams stands here, and unittests/DeviceContract.h asks for it.
//
// Order: the work of one stream runs in the order of the calls, each when what stands in front of
// it is done. Nothing orders the work of two streams but waitFor(). No stream waits for others by
// itself, also not for work that names no stream (Device::runAndWait).
// Failures: a call that fails has queued nothing of its own; what was queued before it still is. It
// may tell a failure of earlier work instead of one of its own. synchronize() tells the first
// failure since it was called last, once. What was queued behind work that failed may have run or
// not. A device that is lost fails every call from then on.
// The CPU's streams have done their work when a call returns; of any other, synchronize() tells.
#pragma once

#include "runtime/Graph.h"
#include "runtime/LaunchError.h"
#include "runtime/ScratchMemory.h"

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

/// A point in a stream, and the time at which the work in front of it was done. It may outlive its
/// stream, and any thread may ask it.
class Event {
public:
  explicit Event(Device &device) : owner(&device) {}
  virtual ~Event() = default;
  Event(const Event &) = delete;
  Event &operator=(const Event &) = delete;

  Device &device() const { return *owner; }
  /// Waits until the stream has come to this point. A failure of its work is told by the stream.
  virtual LaunchError synchronize() = 0;
  /// Nanoseconds from `start` to this event, after waiting for both; both are of one device.
  virtual std::variant<double, LaunchError> nanosSince(Event &start) = 0;

private:
  Device *owner;
};

/// Calls come from one thread at a time, which need not be the same one.
class Stream {
public:
  explicit Stream(Device &device) : scratchMemory(device), owner(&device) {}
  /// Waits as synchronize() does, and what failed is told to nobody. One that only wraps another
  /// library's stream (Device::wrapStream) neither waits for that nor ends it.
  virtual ~Stream() = default;
  Stream(const Stream &) = delete;
  Stream &operator=(const Stream &) = delete;

  Device &device() const { return *owner; }
  /// Queues the grid's programs. The kernel is of a module of this device, which must stay loaded
  /// until they have run; the grid was checked and has programs; slots are as KernelEntry has them,
  /// with addresses of this device, and are read before the call returns.
  virtual LaunchError launch(const Kernel &kernel, Grid grid, const uint64_t *slots,
                             ProgramOrder order) = 0;
  /// From host memory to this device's; the host's bytes must stay as they are until the copy is
  /// done. The call may wait for it unless the memory is Device::allocateHost's.
  virtual LaunchError copyIn(void *to, const void *from, uint64_t bytes) = 0;
  /// From this device's memory to the host's, which has the bytes when the copy is done.
  virtual LaunchError copyOut(void *to, const void *from, uint64_t bytes) = 0;
  virtual std::variant<std::unique_ptr<Event>, LaunchError> record() = 0;
  /// What is queued from here on begins when the event's stream has come to its point, whether its
  /// work failed or not. The event may go when the call has returned. E0416 unless both devices are
  /// of one kind.
  LaunchError waitFor(Event &event);
  /// Waits until nothing that was queued touches memory any more, also when it fails.
  virtual LaunchError synchronize() = 0;

  /// From here on launches and copies are recorded and not run; a graph reads and writes the host's
  /// memory, which must live as long, when it runs. Events, waits, a replay and another capture are
  /// E0424 meanwhile, and the capture goes on. E0423 from devices that have no graphs.
  LaunchError beginCapture();
  /// What was recorded, of which nothing has run. Afterwards the stream is as before the capture,
  /// also after an error. E0424 without a capture.
  std::variant<std::unique_ptr<Graph>, LaunchError> endCapture();
  bool isCapturing() const { return capturing; }
  /// For work of this stream: the memory may go back as soon as the work is queued, unless it was
  /// captured.
  ScratchMemory &scratch() { return scratchMemory; }

protected:
  /// E0424 while a capture lasts: "a wait of the host".
  LaunchError refuseInCapture(const char *what) const;

private:
  /// Of an event of a device of this kind.
  virtual LaunchError queueWait(Event &event) = 0;
  virtual LaunchError startCapture();
  virtual std::variant<std::unique_ptr<Graph>, LaunchError> finishCapture();

  ScratchMemory scratchMemory;
  Device *owner;
  bool capturing = false;
};

} // namespace nereid::runtime
