// SPDX-License-Identifier: Apache-2.0
// Loops over items on several threads: core/WorkerPool.h for C++, with functions that may throw.
// Threads start with the first loop; the calling thread works too, so a pool of one starts none.
#pragma once

#include "runtime/core/WorkerPool.h"

#include <functional>

namespace nereid::runtime {

class ThreadPool {
public:
  /// 0 = one thread per CPU this process may run on (affinity and cgroup quota respected).
  /// std::bad_alloc when memory is short.
  explicit ThreadPool(int threads = 0);
  ~ThreadPool();
  ThreadPool(const ThreadPool &) = delete;
  ThreadPool &operator=(const ThreadPool &) = delete;

  int threadCount() const { return workers->threadCount(); }
  /// Calls body(begin, end, worker) on disjoint ranges covering [0, count); returns when all are
  /// done. worker < threadCount(). Ranges are handed out dynamically: a share of what is left, so
  /// that they shrink, down to `grain` items.
  /// Nested calls run on the calling thread.
  void parallelFor(int64_t count, int64_t grain,
                   const std::function<void(int64_t begin, int64_t end, int worker)> &body);
  /// For jobs that divide their work themselves.
  WorkerPool &threads() { return *workers; }

private:
  WorkerPool *const workers;
};

/// The process-wide pool (NEREID_THREADS, else all CPUs).
ThreadPool &defaultPool();

} // namespace nereid::runtime
