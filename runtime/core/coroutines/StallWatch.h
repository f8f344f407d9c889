// SPDX-License-Identifier: Apache-2.0
// Tells a grid that waits from one that can never get on. Each worker reports after a round over
// its programs whether any of them changed. When all workers report nothing but waiting for a given
// time, and none of them is in the middle of a long step, nothing in the grid can change any more:
// whoever could wake the others would have shown up as a change itself. Shared by both runtimes; no
// C++ library.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <new>

namespace nereid::runtime {

class StallWatch {
public:
  explicit StallWatch(int tasks) : count(tasks) {
    const auto bytes = static_cast<size_t>(tasks) * sizeof(Row);
    rows = static_cast<Row *>(std::aligned_alloc(alignof(Row), bytes));
    for (int i = 0; rows && i < tasks; ++i) {
      new (&rows[i]) Row{};
    }
  }
  ~StallWatch() { std::free(rows); }
  StallWatch(const StallWatch &) = delete;
  StallWatch &operator=(const StallWatch &) = delete;

  /// False when there was no memory for it.
  bool isValid() const { return rows != nullptr; }

  void enter(int task) {
    rows[task].since.store(0, std::memory_order_relaxed);
    rows[task].isActive.store(true, std::memory_order_release);
  }
  /// What the task's last program did may wake others.
  void leave(int task, int64_t now) {
    lastLeave.store(now, std::memory_order_release);
    rows[task].isActive.store(false, std::memory_order_release);
  }
  void moved(int task) {
    std::atomic<int64_t> &since = rows[task].since;
    if (since.load(std::memory_order_relaxed) != 0) {
      since.store(0, std::memory_order_relaxed);
    }
  }
  void stalled(int task, int64_t now) {
    if (rows[task].since.load(std::memory_order_relaxed) == 0) {
      rows[task].since.store(now, std::memory_order_relaxed);
    }
    rows[task].seen.store(now, std::memory_order_relaxed);
  }
  /// Everybody has waited for `nanos` at least. Asked by a task that has just reported `now`.
  bool isStalled(int task, int64_t now, int64_t nanos) const {
    if (!hasWaited(rows[task], now, nanos) ||
        now - lastLeave.load(std::memory_order_acquire) < nanos) {
      return false;
    }
    for (int i = 0; i < count; ++i) {
      if (rows[i].isActive.load(std::memory_order_acquire) && !hasWaited(rows[i], now, nanos)) {
        return false;
      }
    }
    return true;
  }

private:
  struct alignas(64) Row {
    std::atomic<int64_t> since; ///< first report of waiting in a row; 0 = it moved last
    std::atomic<int64_t> seen;  ///< last report of waiting
    std::atomic<bool> isActive;
  };
  /// An old report says nothing: the task may be in a long step that began after it.
  static bool hasWaited(const Row &row, int64_t now, int64_t nanos) {
    const int64_t since = row.since.load(std::memory_order_relaxed);
    return since != 0 && now - since >= nanos &&
           now - row.seen.load(std::memory_order_relaxed) <= nanos / 2;
  }

  Row *rows;
  int count;
  std::atomic<int64_t> lastLeave{0};
};

} // namespace nereid::runtime
