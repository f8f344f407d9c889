// SPDX-License-Identifier: Apache-2.0
// Privatised atomics: additions whose results a kernel does not use, summed up in memory of the
// thread and added to the tensor when their line of it is evicted by another one, or at the end of
// the launch. Only for kernels whose programs touch no memory behind such an addition
// (lib/targets/cpu/lower/block/PrivatisedAtomics.h), so that nobody can tell from programs that
// came later. Shared by both runtimes; no C++ library.
#pragma once

#include <atomic>
#include <cstdint>

namespace nereid::runtime {

/// Of the elements, as generated code passes it.
enum class AdditionKind : int32_t { F32, F64, I32, I64 };

/// Sums of one thread: a cache of 64-byte lines by the low bits of their number. The first two
/// members are part of the contract with generated code, which adds to
/// sums + address % sizeof sums where tags has address / 64, and calls `add` where it has not.
struct PrivatisedAtomics {
  static constexpr uint64_t lineBytes = 64, lines = 4096;

  uint64_t tags[lines]; ///< address / 64 of the line summed up here; 0 = none
  alignas(lineBytes) uint8_t sums[lines * lineBytes];

  AdditionKind kind;
  int task;                             ///< of the launch: whose thread the sums belong to
  int64_t elements, changes;            ///< of the last tile: its own, and lines that it evicted
  int64_t directTiles, nextDirectTiles; ///< so many tiles more are not worth it; after these
  PrivatisedAtomics *next;              ///< of the same launch

  /// Adds `count` values, of the kind's type, to what their addresses have here; lines that are not
  /// here take the place of others.
  void add(const uint64_t *addresses, const void *values, int64_t count);
  /// Adds everything up to now to where it belongs.
  void flush();

private:
  template <class Value> void addAll(const uint64_t *addresses, const Value *values, int64_t count);
  void changeLine(uint64_t line);
  void flushLine(uint64_t slot);
};

/// Those of one launch.
struct PrivatisedList {
  std::atomic<PrivatisedAtomics *> first{nullptr};
  const int64_t programs; ///< of the launch

  explicit PrivatisedList(int64_t programs = 0) : programs(programs) {}
  ~PrivatisedList() { finish(); }
  PrivatisedList(const PrivatisedList &) = delete;
  PrivatisedList &operator=(const PrivatisedList &) = delete;

  /// The task's sums for a tile of so many elements; null when adding directly is quicker.
  PrivatisedAtomics *begin(int task, AdditionKind kind, int64_t elements);
  /// When no program runs any more.
  void finish() {
    if (first.load(std::memory_order_relaxed)) {
      finishAll();
    }
  }

private:
  void finishAll();
  PrivatisedAtomics *find(int task, AdditionKind kind);
};

} // namespace nereid::runtime
