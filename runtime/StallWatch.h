// SPDX-License-Identifier: Apache-2.0
// Tells a grid that waits from one that can never get on. Each worker reports after a round over
// its programs whether any of them changed. When all workers report nothing but waiting for a given
// time, and none of them is in the middle of a long step, nothing in the grid can change any more:
// whoever could wake the others would have shown up as a change itself.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

namespace nereid::runtime {

class StallWatch {
public:
  explicit StallWatch(int workers) : rows(static_cast<size_t>(workers)) {}

  void enter(int worker) {
    rows[static_cast<size_t>(worker)].since.store(0, std::memory_order_relaxed);
    rows[static_cast<size_t>(worker)].isActive.store(true, std::memory_order_release);
  }
  /// What the worker's last program did may wake others.
  void leave(int worker, int64_t now) {
    lastLeave.store(now, std::memory_order_release);
    rows[static_cast<size_t>(worker)].isActive.store(false, std::memory_order_release);
  }
  void moved(int worker) {
    std::atomic<int64_t> &since = rows[static_cast<size_t>(worker)].since;
    if (since.load(std::memory_order_relaxed) != 0) {
      since.store(0, std::memory_order_relaxed);
    }
  }
  void stalled(int worker, int64_t now) {
    Row &row = rows[static_cast<size_t>(worker)];
    if (row.since.load(std::memory_order_relaxed) == 0) {
      row.since.store(now, std::memory_order_relaxed);
    }
    row.seen.store(now, std::memory_order_relaxed);
  }
  /// Everybody has waited for `nanos` at least. Asked by a worker that has just reported `now`.
  bool isStalled(int worker, int64_t now, int64_t nanos) const {
    if (!hasWaited(rows[static_cast<size_t>(worker)], now, nanos) ||
        now - lastLeave.load(std::memory_order_acquire) < nanos) {
      return false;
    }
    for (const Row &row : rows) {
      if (row.isActive.load(std::memory_order_acquire) && !hasWaited(row, now, nanos)) {
        return false;
      }
    }
    return true;
  }

private:
  struct alignas(64) Row {
    std::atomic<int64_t> since{0}; ///< first report of waiting in a row; 0 = it moved last
    std::atomic<int64_t> seen{0};  ///< last report of waiting
    std::atomic<bool> isActive{false};
  };
  /// An old report says nothing: the worker may be in a long step that began after it.
  static bool hasWaited(const Row &row, int64_t now, int64_t nanos) {
    const int64_t since = row.since.load(std::memory_order_relaxed);
    return since != 0 && now - since >= nanos &&
           now - row.seen.load(std::memory_order_relaxed) <= nanos / 2;
  }

  std::vector<Row> rows;
  std::atomic<int64_t> lastLeave{0};
};

} // namespace nereid::runtime
