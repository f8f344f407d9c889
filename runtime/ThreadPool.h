// SPDX-License-Identifier: Apache-2.0
// Workers that run the program instances of a grid. Created lazily; the calling thread works too,
// so a pool of one thread starts none.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

namespace nereid::runtime {

class ThreadPool {
public:
  /// 0 = one thread per CPU this process may run on (affinity and cgroup quota respected).
  explicit ThreadPool(int threads = 0);
  ~ThreadPool();
  ThreadPool(const ThreadPool &) = delete;
  ThreadPool &operator=(const ThreadPool &) = delete;

  int threadCount() const;
  /// Where threads look for their next range.
  enum class Sharing : uint8_t {
    Next, ///< behind the ranges already taken: threads work on neighbouring items
    /// Each in a part of its own, then in the others': a thread meets the same items again in the
    /// next call, in its own caches.
    Parts,
  };
  /// Calls body(begin, end, worker) on disjoint ranges covering [0, count); returns when all are
  /// done. worker < threadCount(). Ranges are handed out dynamically: a share of what is left, so
  /// that they shrink, down to `grain` items.
  /// Nested calls run on the calling thread.
  void parallelFor(int64_t count, int64_t grain,
                   const std::function<void(int64_t begin, int64_t end, int worker)> &body,
                   Sharing sharing = Sharing::Next);
  /// Whether a worker looks for work just now, so that sharing costs no system call.
  bool hasAwakeWorker() const;
  /// 64-byte aligned memory private to the worker, kept and grown between launches; null when it
  /// cannot be had.
  uint8_t *scratch(int worker, uint64_t bytes);

private:
  struct State;
  std::unique_ptr<State> state;
};

/// The process-wide pool (NEREID_THREADS, else all CPUs).
ThreadPool &defaultPool();

} // namespace nereid::runtime
