// SPDX-License-Identifier: Apache-2.0
#include "runtime/core/PrivatisedAtomics.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace nereid::runtime {
namespace {

constexpr uint64_t lineBytes = PrivatisedAtomics::lineBytes;

/// A launch that adds fewer elements is done before the sums have paid for their memory.
constexpr int64_t leastElements = 1 << 16;
/// After a tile for most of whose elements another line gave way, so many tiles are added directly
/// before the next attempt, and twice as many each time.
constexpr int64_t firstDirectTiles = 63, mostDirectTiles = 1 << 14;

template <class Word, class Value> void addAtomically(uint64_t address, Value value) {
  auto *word = reinterpret_cast<Word *>(address);
  Word seen = __atomic_load_n(word, __ATOMIC_RELAXED), sum;
  do {
    Value old;
    std::memcpy(&old, &seen, sizeof old);
    old += value;
    std::memcpy(&sum, &old, sizeof old);
  } while (!__atomic_compare_exchange_n(word, &seen, sum, /*weak=*/true, __ATOMIC_ACQ_REL,
                                        __ATOMIC_RELAXED));
}

/// Zeros are left out: whether anything was added to an element is not known, and memory beside the
/// elements that were is not ours to touch.
template <class Word, class Value> void addLine(uint64_t line, const uint8_t *sums) {
  for (uint64_t at = 0; at < lineBytes; at += sizeof(Value)) {
    Value value;
    std::memcpy(&value, sums + at, sizeof value);
    if (value != Value{}) {
      addAtomically<Word>(line * lineBytes + at, value);
    }
  }
}

} // namespace

void PrivatisedAtomics::flushLine(uint64_t slot) {
  const uint8_t *line = sums + slot * lineBytes;
  switch (kind) {
  case AdditionKind::F32:
    return addLine<uint32_t, float>(tags[slot], line);
  case AdditionKind::F64:
    return addLine<uint64_t, double>(tags[slot], line);
  case AdditionKind::I32:
    return addLine<uint32_t, uint32_t>(tags[slot], line);
  case AdditionKind::I64:
    return addLine<uint64_t, uint64_t>(tags[slot], line);
  }
}

void PrivatisedAtomics::changeLine(uint64_t line) {
  const uint64_t slot = line % lines;
  if (tags[slot] != 0) {
    ++changes;
    flushLine(slot);
    std::memset(sums + slot * lineBytes, 0, lineBytes);
  }
  tags[slot] = line;
}

template <class Value>
void PrivatisedAtomics::addAll(const uint64_t *addresses, const Value *values, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    const uint64_t line = addresses[i] / lineBytes;
    if (tags[line % lines] != line) {
      changeLine(line);
    }
    Value sum;
    uint8_t *place = sums + addresses[i] % sizeof sums;
    std::memcpy(&sum, place, sizeof sum);
    sum += values[i];
    std::memcpy(place, &sum, sizeof sum);
  }
}

void PrivatisedAtomics::add(const uint64_t *addresses, const void *values, int64_t count) {
  switch (kind) {
  case AdditionKind::F32:
    return addAll(addresses, static_cast<const float *>(values), count);
  case AdditionKind::F64:
    return addAll(addresses, static_cast<const double *>(values), count);
  case AdditionKind::I32:
    return addAll(addresses, static_cast<const uint32_t *>(values), count);
  case AdditionKind::I64:
    return addAll(addresses, static_cast<const uint64_t *>(values), count);
  }
}

void PrivatisedAtomics::flush() {
  for (uint64_t slot = 0; slot < lines; ++slot) {
    if (tags[slot] != 0) {
      flushLine(slot);
    }
  }
}

PrivatisedAtomics *PrivatisedList::find(int task, AdditionKind kind) {
  PrivatisedAtomics *known = first.load(std::memory_order_acquire);
  for (PrivatisedAtomics *one = known; one; one = one->next) {
    if (one->task == task) {
      return one;
    }
  }
  // Zeroed pages of the system: those that are not needed cost nothing.
  auto *memory = static_cast<uint8_t *>(std::calloc(1, sizeof(PrivatisedAtomics) + lineBytes));
  if (!memory) {
    return nullptr;
  }
  auto *made = reinterpret_cast<PrivatisedAtomics *>(
      (reinterpret_cast<uintptr_t>(memory) + lineBytes) & ~uintptr_t{lineBytes - 1});
  reinterpret_cast<uint8_t **>(made)[-1] = memory;
  made->kind = kind;
  made->nextDirectTiles = firstDirectTiles;
  made->task = task;
  made->next = known;
  while (!first.compare_exchange_weak(made->next, made, std::memory_order_acq_rel)) {
  }
  return made;
}

PrivatisedAtomics *PrivatisedList::begin(int task, AdditionKind kind, int64_t elements) {
  if (programs < 2 || programs <= leastElements / elements) {
    return nullptr;
  }
  PrivatisedAtomics *sums = find(task, kind);
  if (!sums || sums->kind != kind) {
    return nullptr;
  }
  if (2 * sums->changes > sums->elements) {
    sums->directTiles = sums->nextDirectTiles;
    sums->nextDirectTiles = std::min(2 * sums->nextDirectTiles, mostDirectTiles);
  }
  sums->changes = 0;
  if (sums->directTiles > 0) {
    --sums->directTiles;
    sums->elements = 0;
    return nullptr;
  }
  sums->elements = elements;
  return sums;
}

void PrivatisedList::finishAll() {
  PrivatisedAtomics *one = first.exchange(nullptr, std::memory_order_acquire);
  while (one) {
    PrivatisedAtomics *next = one->next;
    one->flush();
    std::free(reinterpret_cast<uint8_t **>(one)[-1]);
    one = next;
  }
}

} // namespace nereid::runtime
