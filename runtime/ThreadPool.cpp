// SPDX-License-Identifier: Apache-2.0
#include "runtime/ThreadPool.h"

#include "runtime/BusyTime.h"
#include "runtime/core/CpuCount.h"
#include "runtime/core/ItemParts.h"

#include <climits>
#include <exception>
#include <new>

namespace nereid::runtime {
namespace {

using Body = std::function<void(int64_t, int64_t, int)>;

WorkerPool *makeWorkers(int threads) {
  WorkerPool *workers = WorkerPool::create(threads);
  return workers ? workers : throw std::bad_alloc();
}

struct Loop {
  const Body &body;
  int64_t grain;
  int threads;
  Part items;
  std::atomic<bool> hasFailed{false};
  std::exception_ptr failure;

  void work(int worker) {
    const BusySpan busy;
    try {
      for (int64_t begin, end; takeRange(&items, 1, worker, threads, grain, begin, end);) {
        body(begin, end, worker);
      }
    } catch (...) {
      if (!hasFailed.exchange(true)) {
        failure = std::current_exception();
      }
      items.next.store(INT64_MAX, std::memory_order_relaxed);
    }
  }
};

} // namespace

ThreadPool::ThreadPool(int threads) : workers(makeWorkers(threads)) {}
ThreadPool::~ThreadPool() { WorkerPool::destroy(workers); }

void ThreadPool::parallelFor(int64_t count, int64_t grain, const Body &body) {
  if (count <= 0) {
    return;
  }
  if (const int worker = workers->workerHere(); worker >= 0) {
    body(0, count, worker);
    return;
  }
  grain = grain < 1 ? 1 : grain;
  const int64_t ranges = (count - 1) / grain + 1;
  const int wanted = ranges < threadCount() ? static_cast<int>(ranges) : threadCount();
  // A thread that is alone gets everything at once.
  Loop loop{body, wanted > 1 ? grain : count, threadCount(), {}, {}, {}};
  divide(count, &loop.items, 1);
  workers->share(
      wanted, [](void *data, int worker) { static_cast<Loop *>(data)->work(worker); }, &loop,
      WorkerPool::WhenBusy::Wait);
  if (loop.failure) {
    std::rethrow_exception(loop.failure);
  }
}

ThreadPool &defaultPool() {
  // Never destroyed: other static objects may still launch while the process ends.
  static ThreadPool *pool = new ThreadPool(threadCountFromEnvironment());
  return *pool;
}

} // namespace nereid::runtime
