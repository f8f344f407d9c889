// SPDX-License-Identifier: Apache-2.0
#include "runtime/ProgramMemory.h"

#include <mutex>
#include <sys/mman.h>
#include <utility>
#include <vector>

namespace nereid::runtime {
namespace {

constexpr uint64_t keptBytesLimit = 64 << 20;

struct Mapping {
  uint8_t *address;
  uint64_t bytes;
};

struct Kept {
  std::mutex lock;
  std::vector<Mapping> mappings;
  uint64_t bytes = 0;
};

Kept &kept() {
  // Never destroyed: threads may still launch while the process ends.
  static Kept *instance = new Kept;
  return *instance;
}

uint8_t *takeKept(uint64_t bytes) {
  Kept &all = kept();
  // Without waiting: in the child of a fork the lock may be held by nobody who is there.
  std::unique_lock<std::mutex> guard(all.lock, std::try_to_lock);
  if (!guard) {
    return nullptr;
  }
  for (size_t i = all.mappings.size(); i-- > 0;) {
    if (all.mappings[i].bytes == bytes) {
      uint8_t *address = all.mappings[i].address;
      all.mappings[i] = all.mappings.back();
      all.mappings.pop_back();
      all.bytes -= bytes;
      return address;
    }
  }
  return nullptr;
}

bool keep(uint8_t *address, uint64_t bytes) {
  Kept &all = kept();
  std::unique_lock<std::mutex> guard(all.lock, std::try_to_lock);
  if (!guard || all.bytes + bytes > keptBytesLimit) {
    return false;
  }
  all.mappings.push_back({address, bytes});
  all.bytes += bytes;
  return true;
}

} // namespace

uint64_t ProgramMemory::bytesFor(uint64_t scratchBytes) {
  return stackBytes + ((scratchBytes + 4095) & ~uint64_t{4095});
}

ProgramMemory::ProgramMemory(uint64_t scratchBytes) {
  if (scratchBytes > uint64_t{1} << 40) {
    return;
  }
  bytes = guardBytes + bytesFor(scratchBytes);
  mapping = takeKept(bytes);
  if (mapping) {
    return;
  }
  void *memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) {
    return;
  }
  if (::mprotect(memory, guardBytes, PROT_NONE) != 0) {
    ::munmap(memory, bytes);
    return;
  }
  mapping = static_cast<uint8_t *>(memory);
}

ProgramMemory::~ProgramMemory() {
  if (mapping && !keep(mapping, bytes)) {
    ::munmap(mapping, bytes);
  }
}

ProgramMemory::ProgramMemory(ProgramMemory &&other) noexcept
    : mapping(std::exchange(other.mapping, nullptr)), bytes(other.bytes) {}

ProgramMemory &ProgramMemory::operator=(ProgramMemory &&other) noexcept {
  std::swap(mapping, other.mapping);
  std::swap(bytes, other.bytes);
  return *this;
}

} // namespace nereid::runtime
