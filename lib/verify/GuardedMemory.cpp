// SPDX-License-Identifier: Apache-2.0
// One mapping per tensor: guard, usable pages, guard. The signal handler looks the address up in a
// table of atomics, opens the page that was met, and returns to the instruction.
#include "lib/verify/GuardedMemory.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <cstring>
#include <mutex>
#include <utility>
#include <vector>

#include <sys/mman.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <ucontext.h>
#endif

namespace nereid::verify {
namespace {

/// As far as a guard reaches at least: a tensor's own size finds an index that is off by a tensor.
constexpr size_t smallestGuard = size_t{1} << 20, largestGuard = size_t{1} << 30;

enum class Access : uint8_t { None, Read, Write, Unknown };

/// What the handler knows of one mapping. `begin` is 0 while the slot is free.
struct Slot {
  std::atomic<uintptr_t> begin{0}, end{0};
  std::atomic<uintptr_t> met{0}; ///< address of the first access
  std::atomic<Access> access{Access::None};
};

std::array<Slot, 512> slots;
std::mutex slotsMutex;
struct sigaction formerActions[2]; // SIGSEGV, SIGBUS

size_t pageBytes() {
  static const auto bytes = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  return bytes;
}

size_t roundUp(size_t value, size_t unit) { return (value + unit - 1) / unit * unit; }

Access accessOf([[maybe_unused]] const void *context) {
#if defined(__x86_64__)
  const auto &registers = static_cast<const ucontext_t *>(context)->uc_mcontext.gregs;
  return (registers[REG_ERR] & 2) != 0 ? Access::Write : Access::Read;
#else
  return Access::Unknown;
#endif
}

bool openGuard(uintptr_t address, const void *context) {
  for (Slot &slot : slots) {
    const uintptr_t begin = slot.begin.load();
    if (begin == 0 || address < begin || address >= slot.end.load()) {
      continue;
    }
    const size_t page = pageBytes();
    if (::mprotect(reinterpret_cast<void *>(address / page * page), page, PROT_READ | PROT_WRITE) !=
        0) {
      return false;
    }
    uintptr_t nobody = 0;
    if (slot.met.compare_exchange_strong(nobody, address)) {
      slot.access = accessOf(context);
    }
    return true;
  }
  return false;
}

void onFault(int signal, siginfo_t *info, void *context) {
  if (openGuard(reinterpret_cast<uintptr_t>(info->si_addr), context)) {
    return;
  }
  const struct sigaction &former = formerActions[signal == SIGSEGV ? 0 : 1];
  if ((former.sa_flags & SA_SIGINFO) != 0) {
    former.sa_sigaction(signal, info, context);
  } else if (former.sa_handler == SIG_DFL || former.sa_handler == SIG_IGN) {
    ::signal(signal, SIG_DFL); // the instruction faults again, and ends the process
  } else {
    former.sa_handler(signal);
  }
}

int takeSlot(const uint8_t *begin, size_t bytes) {
  std::lock_guard lock(slotsMutex);
  for (size_t i = 0; i < slots.size(); ++i) {
    Slot &slot = slots[i];
    if (slot.begin.load() == 0) {
      slot.met = 0;
      slot.access = Access::None;
      slot.end = reinterpret_cast<uintptr_t>(begin) + bytes;
      slot.begin = reinterpret_cast<uintptr_t>(begin);
      return static_cast<int>(i);
    }
  }
  return -1;
}

/// Mappings whose guards nobody met, for the next tensor of the same size: what the kernel gives a
/// process for the first time it has to clear.
class SpareMappings {
public:
  uint8_t *take(size_t usable) {
    std::lock_guard lock(mutex);
    auto found = std::find_if(spare.begin(), spare.end(),
                              [&](const Mapping &one) { return one.usable == usable; });
    if (found == spare.end()) {
      return nullptr;
    }
    uint8_t *begin = found->begin;
    spare.erase(found);
    return begin;
  }

  void give(uint8_t *begin, size_t mapped, size_t usable) {
    if (usable > mostBytes / mostMappings) {
      ::munmap(begin, mapped);
      return;
    }
    std::lock_guard lock(mutex);
    if (spare.size() == mostMappings) {
      ::munmap(spare.front().begin, spare.front().mapped);
      spare.erase(spare.begin());
    }
    spare.push_back({begin, mapped, usable});
  }

private:
  struct Mapping {
    uint8_t *begin;
    size_t mapped, usable;
  };
  static constexpr size_t mostMappings = 16, mostBytes = size_t{32} << 20;

  std::mutex mutex;
  std::vector<Mapping> spare;
};

SpareMappings &spareMappings() {
  static SpareMappings mappings;
  return mappings;
}

/// `mapped` bytes with the `usable` ones in their middle open; null: no memory.
uint8_t *mapGuarded(size_t mapped, size_t usable) {
  if (uint8_t *spare = spareMappings().take(usable)) {
    return spare;
  }
  void *address =
      ::mmap(nullptr, mapped, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (address == MAP_FAILED) {
    return nullptr;
  }
  auto *begin = static_cast<uint8_t *>(address);
  if (::mprotect(begin + (mapped - usable) / 2, usable, PROT_READ | PROT_WRITE) != 0) {
    ::munmap(begin, mapped);
    return nullptr;
  }
  return begin;
}

} // namespace

void installGuardHandler() {
  static std::once_flag once;
  std::call_once(once, [] {
    pageBytes(); // read before the handler needs it
    struct sigaction action{};
    action.sa_sigaction = onFault;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    ::sigaction(SIGSEGV, &action, &formerActions[0]);
    ::sigaction(SIGBUS, &action, &formerActions[1]);
  });
}

Result<GuardedMemory> GuardedMemory::make(size_t bytes, Edge edge, Alignment where, uint8_t fill) {
  installGuardHandler();
  const size_t page = pageBytes();
  auto refused = [&] {
    return makeError("E0506", fmt::format("no memory for {} bytes between guard pages", bytes))
        .withHelp(
            "use smaller shapes, or raise the limit of memory: each tensor needs its size three "
            "times, at least 2 MiB, of addresses");
  };
  if (bytes > SIZE_MAX / 8) {
    return refused();
  }
  GuardedMemory made;
  made.bytes = bytes;
  made.fill = fill;
  made.usable = roundUp(bytes + where.remainder + 1, page);
  const size_t guard = std::clamp(made.usable, smallestGuard, largestGuard);
  made.mapped = made.usable + 2 * guard;
  made.mapping = mapGuarded(made.mapped, made.usable);
  if (made.mapping == nullptr) {
    return refused();
  }
  uint8_t *begin = made.mapping + guard;
  std::memset(begin, fill, made.usable);
  const size_t room = made.usable - bytes - where.remainder;
  made.first = begin + where.remainder +
               (edge == Edge::Front ? 0 : room / where.alignment * where.alignment);
  made.slot = takeSlot(made.mapping, made.mapped);
  return made.slot < 0 ? Result<GuardedMemory>(refused()) : std::move(made);
}

GuardedMemory::GuardedMemory(GuardedMemory &&other) noexcept { *this = std::move(other); }

GuardedMemory &GuardedMemory::operator=(GuardedMemory &&other) noexcept {
  if (this != &other) {
    release();
    mapping = std::exchange(other.mapping, nullptr);
    slot = std::exchange(other.slot, -1);
    first = other.first;
    mapped = other.mapped;
    bytes = other.bytes;
    usable = other.usable;
    fill = other.fill;
  }
  return *this;
}

GuardedMemory::~GuardedMemory() { release(); }

void GuardedMemory::release() {
  bool isMet = false;
  if (slot >= 0) {
    Slot &entry = slots[static_cast<size_t>(slot)];
    isMet = entry.met.load() != 0;
    entry.begin = 0;
    slot = -1;
  }
  if (mapping != nullptr) {
    if (isMet) {
      ::munmap(mapping, mapped); // a page of its guards is open
    } else {
      spareMappings().give(mapping, mapped, usable);
    }
    mapping = nullptr;
  }
}

std::optional<GuardedMemory::Outside> GuardedMemory::outside() const {
  const Slot &entry = slots[static_cast<size_t>(slot)];
  const uintptr_t met = entry.met.load();
  if (met == 0) {
    return std::nullopt;
  }
  Outside result;
  result.offset = static_cast<int64_t>(met - reinterpret_cast<uintptr_t>(first));
  const Access access = entry.access.load();
  if (access == Access::Read || access == Access::Write) {
    result.isWrite = access == Access::Write;
  }
  return result;
}

std::optional<int64_t> GuardedMemory::overwritten() const {
  const uint8_t *begin = mapping + (mapped - usable) / 2, *end = begin + usable;
  const uint8_t *last = first + bytes;
  auto isTouched = [&](uint8_t value) { return value != fill; };
  // Behind the memory first: an index that is one too large is the more frequent mistake.
  const uint8_t *behind = std::find_if(last, end, isTouched);
  if (behind != end) {
    return behind - first;
  }
  const uint8_t *front = std::find_if(begin, static_cast<const uint8_t *>(first), isTouched);
  return front == first ? std::nullopt : std::optional<int64_t>(front - first);
}

} // namespace nereid::verify
