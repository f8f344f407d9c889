// SPDX-License-Identifier: Apache-2.0
#include "runtime/ScratchMemory.h"

#include "runtime/Device.h"

#include <limits>
#include <map>
#include <mutex>
#include <utility>

namespace nereid::runtime {

struct ScratchMemory::Blocks {
  Device *device = nullptr;
  uint64_t mostIdleBytes = 0, idleBytes = 0;
  std::mutex lock;
  std::multimap<uint64_t, std::shared_ptr<void>> idle; ///< by size

  /// The smallest that fits, unless it is more than twice as large; its size.
  std::pair<std::shared_ptr<void>, uint64_t> find(uint64_t bytes) {
    std::lock_guard guard(lock);
    const auto found = idle.lower_bound(bytes);
    if (found == idle.end() || found->first / 2 > bytes) {
      return {};
    }
    idleBytes -= found->first;
    std::pair block(std::move(found->second), found->first);
    idle.erase(found);
    return block;
  }
  void bringBack(std::shared_ptr<void> block, uint64_t size) {
    std::lock_guard guard(lock);
    if (size <= mostIdleBytes - idleBytes) {
      idleBytes += size;
      idle.emplace(size, std::move(block));
    }
  }
  void clear() {
    std::multimap<uint64_t, std::shared_ptr<void>> freed;
    std::lock_guard guard(lock);
    freed.swap(idle);
    idleBytes = 0;
  }
};

ScratchMemory::ScratchMemory(Device &device)
    : ScratchMemory(device, std::numeric_limits<uint64_t>::max()) {}

ScratchMemory::ScratchMemory(Device &device, uint64_t mostIdleBytes)
    : blocks(std::make_shared<Blocks>()) {
  blocks->device = &device;
  blocks->mostIdleBytes = mostIdleBytes;
}

std::shared_ptr<void> ScratchMemory::take(uint64_t bytes) {
  constexpr uint64_t unit = 4096;
  const uint64_t rounded = (bytes + unit - 1) / unit * unit;
  auto [block, size] = blocks->find(rounded);
  if (!block) {
    size = rounded;
    block = blocks->device->allocate(size);
  }
  if (!block) {
    clear();
    block = blocks->device->allocate(size);
  }
  if (!block) {
    return nullptr;
  }
  void *address = block.get();
  // Weak: what comes back when all else is gone is freed.
  return {address, [home = std::weak_ptr(blocks), block = std::move(block), size](void *) mutable {
            if (const auto kept = home.lock()) {
              kept->bringBack(std::move(block), size);
            }
          }};
}

void ScratchMemory::clear() { blocks->clear(); }

uint64_t ScratchMemory::idleBytes() const {
  std::lock_guard guard(blocks->lock);
  return blocks->idleBytes;
}

} // namespace nereid::runtime
