// SPDX-License-Identifier: Apache-2.0
// Memory of a device for the time of some work, given again and again: a device that frees memory
// waits for all that is queued on it, and one that allocates takes longer than a kernel does.
#pragma once

#include <cstdint>
#include <memory>

namespace nereid::runtime {

class Device;

/// May be called from several threads at once.
class ScratchMemory {
public:
  explicit ScratchMemory(Device &device);
  /// Keeps at most so many bytes that nobody holds.
  ScratchMemory(Device &device, uint64_t mostIdleBytes);

  /// Uninitialised, as Device::allocate() gives it; null when there is none. With the last copy of
  /// the pointer it goes to whoever takes next, whose work must come behind that of its holder. The
  /// pointer may outlive this object, and then frees the memory.
  std::shared_ptr<void> take(uint64_t bytes);
  /// Frees what nobody holds.
  void clear();
  uint64_t idleBytes() const;

private:
  struct Blocks;
  std::shared_ptr<Blocks> blocks;
};

} // namespace nereid::runtime
