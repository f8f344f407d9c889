// SPDX-License-Identifier: Apache-2.0
// The pools that callers see: the runtime's own, whose jobs are tasks with numbers, and none.
#include "nereid/aot.h"
#include "runtime/aot/Launch.h"
#include "runtime/core/CpuCount.h"
#include "runtime/core/WorkerPool.h"

#include <cstdlib>

namespace nereid::aot {
namespace {

using runtime::WorkerPool;

struct Job {
  void (*task)(void *data, int index);
  void *data;
  int tasks;
  std::atomic<int> next;
};

/// The caller, worker 0, has task 0, so that it meets the same work in each of its calls.
void takeTasks(void *data, int worker) {
  Job &job = *static_cast<Job *>(data);
  if (worker == 0) {
    job.task(job.data, 0);
  }
  for (int i; (i = job.next.fetch_add(1, std::memory_order_relaxed)) < job.tasks;) {
    job.task(job.data, i);
  }
}

int parallelFor(void *context, int tasks, void (*task)(void *, int), void *data) {
  if (tasks > 0) {
    Job job = {task, data, tasks, 1};
    static_cast<WorkerPool *>(context)->share(tasks, takeTasks, &job, WorkerPool::WhenBusy::Alone);
  }
  return 0;
}

std::atomic<nereid_aot_pool *> processPool{nullptr};
constexpr nereid_aot_pool noPool = {1, nullptr, nullptr};

} // namespace

bool runTasks(const nereid_aot_pool &pool, int tasks, void (*task)(void *, int), void *data) {
  if (tasks > 1 && pool.parallel_for) {
    return pool.parallel_for(pool.context, tasks, task, data) == 0;
  }
  for (int i = 0; i < tasks; ++i) {
    task(data, i);
  }
  return true;
}

const nereid_aot_pool &defaultPool() {
  nereid_aot_pool *pool = processPool.load(std::memory_order_acquire);
  if (pool) {
    return *pool;
  }
  nereid_aot_pool *made = nereid_aot_pool_create(0);
  if (processPool.compare_exchange_strong(pool, made, std::memory_order_acq_rel)) {
    return made ? *made : noPool;
  }
  nereid_aot_pool_destroy(made); // another thread was quicker
  return *pool;
}

bool hasAwakeWorker(const nereid_aot_pool &pool) {
  return pool.parallel_for == parallelFor &&
         static_cast<const WorkerPool *>(pool.context)->hasAwakeWorker();
}

void destroyDefaultPool() { nereid_aot_pool_destroy(processPool.exchange(nullptr)); }

} // namespace nereid::aot

using namespace nereid::aot;

extern "C" {

const nereid_aot_pool *nereid_aot_no_pool(void) { return &noPool; }

nereid_aot_pool *nereid_aot_pool_create(int threads) {
  auto *pool = static_cast<nereid_aot_pool *>(std::malloc(sizeof(nereid_aot_pool)));
  WorkerPool *workers =
      WorkerPool::create(threads > 0 ? threads : nereid::runtime::threadCountFromEnvironment());
  if (!pool || !workers) {
    std::free(pool);
    WorkerPool::destroy(workers);
    return nullptr;
  }
  *pool = {workers->threadCount(), workers, parallelFor};
  return pool;
}

void nereid_aot_pool_destroy(nereid_aot_pool *pool) {
  if (pool) {
    WorkerPool::destroy(static_cast<WorkerPool *>(pool->context));
    std::free(pool);
  }
}
}
