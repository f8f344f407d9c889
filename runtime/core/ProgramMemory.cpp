// SPDX-License-Identifier: Apache-2.0
#include "runtime/core/ProgramMemory.h"

#include <atomic>
#include <sys/mman.h>

namespace nereid::runtime {
namespace {

constexpr uint64_t page = 4096;
constexpr uint64_t keptStacksLimit = 64 << 20;

uint64_t roundUp(uint64_t bytes) { return (bytes + page - 1) / page * page; }

void unmap(const ProgramMemory &memory) { munmap(memory.mapping, memory.bytes); }

ProgramMemory map(uint64_t bytes, bool hasStack) {
  const uint64_t front = hasStack ? ProgramMemory::guardBytes + ProgramMemory::stackBytes : 0;
  const uint64_t whole = front + roundUp(bytes > 0 ? bytes : 1);
  // Most of the many stacks is never touched; scratch memory that is not there is an error here.
  void *mapping = mmap(nullptr, whole, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | (hasStack ? MAP_NORESERVE : 0), -1, 0);
  if (mapping == MAP_FAILED) {
    return {};
  }
  if (hasStack && mprotect(mapping, ProgramMemory::guardBytes, PROT_NONE) != 0) {
    munmap(mapping, whole);
    return {};
  }
  return {static_cast<uint8_t *>(mapping), whole, hasStack};
}

/// Where each thread looks first, so that it finds what it gave back last.
constinit thread_local unsigned cursor = 0;

/// Without locks: each slot has one piece or none, whose size stands in the piece.
template <bool hasStack> class KeptPieces {
public:
  /// The nearest one; an empty one when there is none.
  ProgramMemory take() {
    for (unsigned i = 0; i < slotCount; ++i) {
      const unsigned at = (start() + i) % slotCount;
      if (!slots[at].load(std::memory_order_relaxed)) {
        continue;
      }
      if (uint8_t *mapping = slots[at].exchange(nullptr, std::memory_order_acquire)) {
        cursor = at + slotCount;
        return {mapping, size(mapping), hasStack};
      }
    }
    return {};
  }

  /// False when there is no room.
  bool give(const ProgramMemory &memory) {
    size(memory.mapping) = memory.bytes;
    for (unsigned i = 0; i < slotCount; ++i) {
      const unsigned at = (start() - i) % slotCount;
      uint8_t *empty = nullptr;
      if (slots[at].compare_exchange_strong(empty, memory.mapping, std::memory_order_release,
                                            std::memory_order_relaxed)) {
        cursor = at + slotCount;
        return true;
      }
    }
    return false;
  }

private:
  /// As many as threads that launch at a time, and as stacks that are kept.
  static constexpr unsigned slotCount = 1024;

  /// Where a stack begins, which has been touched anyway, or at the beginning of the scratch
  /// memory.
  static uint64_t &size(uint8_t *mapping) {
    uint8_t *scratch = ProgramMemory{mapping, 0, hasStack}.scratch();
    return *reinterpret_cast<uint64_t *>(hasStack ? scratch - sizeof(uint64_t) : scratch);
  }

  /// Chosen by where the thread's own variables are, and never 0.
  static unsigned start() {
    if (cursor == 0) {
      const uint64_t hash = reinterpret_cast<uintptr_t>(&cursor) / 64 * 0x9E3779B97F4A7C15u;
      cursor = slotCount + static_cast<unsigned>(hash >> 54);
    }
    return cursor;
  }

  std::atomic<uint8_t *> slots[slotCount] = {};
};

constinit KeptPieces<false> keptScratch;
constinit KeptPieces<true> keptStacks;
constinit std::atomic<uint64_t> keptStackBytes{0};

ProgramMemory takeKept(bool hasStack) {
  if (!hasStack) {
    return keptScratch.take();
  }
  const ProgramMemory memory = keptStacks.take();
  keptStackBytes.fetch_sub(memory.bytes, std::memory_order_relaxed);
  return memory;
}

bool keepStack(const ProgramMemory &memory) {
  const uint64_t before = keptStackBytes.fetch_add(memory.bytes, std::memory_order_relaxed);
  if (before + memory.bytes <= keptStacksLimit && keptStacks.give(memory)) {
    return true;
  }
  keptStackBytes.fetch_sub(memory.bytes, std::memory_order_relaxed);
  return false;
}

ProgramMemory take(uint64_t bytes, bool hasStack) {
  if (bytes > mostProgramBytes) {
    return {};
  }
  if (const ProgramMemory memory = takeKept(hasStack)) {
    if (memory.scratchBytes() >= bytes) {
      return memory;
    }
    unmap(memory); // too small for today's kernels: replaced
  }
  return map(bytes, hasStack);
}

} // namespace

ProgramMemory takeScratch(uint64_t bytes) { return take(bytes, false); }
ProgramMemory takeStack(uint64_t bytes) { return take(bytes, true); }

uint64_t bytesWithStack(uint64_t bytes) { return ProgramMemory::stackBytes + roundUp(bytes); }

void giveBack(const ProgramMemory &memory) {
  if (memory && !(memory.hasStack ? keepStack(memory) : keptScratch.give(memory))) {
    unmap(memory);
  }
}

void releaseProgramMemory() {
  for (bool hasStack : {false, true}) {
    while (const ProgramMemory memory = takeKept(hasStack)) {
      unmap(memory);
    }
  }
}

} // namespace nereid::runtime
