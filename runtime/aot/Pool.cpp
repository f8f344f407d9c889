// SPDX-License-Identifier: Apache-2.0
// The runtime's own pool. A job is offered in one atomic word and worked on by the caller as well;
// a worker joins while it is open and takes tasks from a counter. So a worker that wakes late costs
// nothing, and the child of a fork, whose workers are gone, still gets its work done.
#include "nereid/aot.h"
#include "runtime/Clock.h"
#include "runtime/aot/Launch.h"
#include "runtime/core/Placement.h"

#include <climits>
#include <cstdlib>
#include <linux/futex.h>
#include <new>
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace nereid::aot {
namespace {

constexpr int threadLimit = 4096;
/// How long a worker looks for the next job before it sleeps: waking one costs 10 to 40 µs.
constexpr int64_t spinNanos = 100'000, spinNanosCrowded = 5'000;
constexpr int spinsPerClock = 32;
/// Rounds of looking for the last workers to finish before the CPU is left to them.
constexpr int spinsForLast = 20'000;

// The offer: number of the job in the high half, then one bit "open", then the workers inside.
constexpr uint64_t openBit = uint64_t{1} << 31;
constexpr uint64_t insideMask = openBit - 1;

using Task = void (*)(void *data, int index);

struct Pool {
  nereid_aot_pool interface; ///< first: its address is the pool's
  runtime::PlacedWorker *workers;
  int workerCount; ///< those that were started
  int excluded;    ///< see runtime/core/Placement.h; -1 at first
  bool isStarted, isCrowded;
  uint32_t forkCount;
  Task task;
  void *data;
  int tasks;
  std::atomic<int> isBusy; ///< 0 or 1
  alignas(64) std::atomic<uint64_t> offer;
  alignas(64) std::atomic<int> next;
  alignas(64) std::atomic<uint32_t> bell;
  std::atomic<int> sleepers;
  std::atomic<int> awake; ///< workers that look for a job, or have one
  std::atomic<bool> stop;
};

std::atomic<uint32_t> forks{0};
pthread_once_t forksCounted = PTHREAD_ONCE_INIT;

pthread_mutex_t defaultLock = PTHREAD_MUTEX_INITIALIZER;

/// The child of a fork has the pools without their threads, and an open lock.
void countForks() {
  constexpr auto close = [] { pthread_mutex_lock(&defaultLock); };
  constexpr auto open = [] { pthread_mutex_unlock(&defaultLock); };
  pthread_atfork(close, open, [] {
    forks.fetch_add(1, std::memory_order_relaxed);
    pthread_mutex_unlock(&defaultLock);
  });
}

void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

void futex(std::atomic<uint32_t> &word, int operation, uint32_t value) {
  syscall(SYS_futex, &word, operation, value, nullptr, nullptr, 0);
}

/// The caller has task 0, so that it meets the same work in each of its calls.
void work(Pool &pool) {
  for (int i; (i = pool.next.fetch_add(1, std::memory_order_relaxed)) < pool.tasks;) {
    pool.task(pool.data, i);
  }
}

bool tryJoin(Pool &pool, uint64_t &lastJob) {
  uint64_t seen = pool.offer.load(std::memory_order_acquire);
  while ((seen & openBit) && seen >> 32 != lastJob) {
    if (pool.offer.compare_exchange_weak(seen, seen + 1, std::memory_order_acq_rel)) {
      lastJob = seen >> 32;
      return true;
    }
  }
  return false;
}

bool awaitJob(Pool &pool, uint64_t &lastJob) {
  const int64_t deadline = runtime::nowNanos() + (pool.isCrowded ? spinNanosCrowded : spinNanos);
  do {
    for (int spin = 0; spin < spinsPerClock; ++spin) {
      if (tryJoin(pool, lastJob)) {
        return true;
      }
      relax();
    }
  } while (runtime::nowNanos() < deadline && !pool.stop.load(std::memory_order_relaxed));
  return false;
}

void *workerMain(void *argument) {
  Pool &pool = *static_cast<Pool *>(argument);
  uint64_t lastJob = ~uint64_t{0};
  pool.awake.fetch_add(1, std::memory_order_relaxed);
  while (!pool.stop.load(std::memory_order_acquire)) {
    const uint32_t rung = pool.bell.load(std::memory_order_seq_cst);
    if (awaitJob(pool, lastJob)) {
      work(pool);
      pool.offer.fetch_sub(1, std::memory_order_release);
      continue;
    }
    // "Announce, look again, sleep" against "ring, look for sleepers": no call is lost.
    pool.awake.fetch_sub(1, std::memory_order_relaxed);
    pool.sleepers.fetch_add(1, std::memory_order_seq_cst);
    if (!pool.stop.load() && pool.bell.load(std::memory_order_seq_cst) == rung) {
      futex(pool.bell, FUTEX_WAIT_PRIVATE, rung);
    }
    pool.sleepers.fetch_sub(1, std::memory_order_seq_cst);
    pool.awake.fetch_add(1, std::memory_order_relaxed);
  }
  return nullptr;
}

/// Without all of its threads a pool works all the same.
void start(Pool &pool) {
  pool.isStarted = true;
  for (int i = 1; i < pool.interface.threads; ++i) {
    if (pthread_create(&pool.workers[pool.workerCount].thread, nullptr, workerMain, &pool) != 0) {
      return;
    }
    pool.workers[pool.workerCount].isPlaced = false;
    ++pool.workerCount;
  }
}

void forgetWorkers(Pool &pool) {
  pool.forkCount = forks.load(std::memory_order_relaxed);
  pool.workerCount = 0;
  pool.excluded = -1;
  pool.isStarted = false;
  pool.offer.store(0, std::memory_order_relaxed);
  pool.sleepers.store(0, std::memory_order_relaxed);
  pool.awake.store(0, std::memory_order_relaxed);
  pool.isBusy.store(0, std::memory_order_relaxed);
}

int parallelFor(void *context, int tasks, Task task, void *data) {
  Pool &pool = *static_cast<Pool *>(context);
  if (pool.forkCount != forks.load(std::memory_order_relaxed)) {
    forgetWorkers(pool); // they are the parent process's
  }
  if (tasks < 2 || pool.isBusy.exchange(1, std::memory_order_acquire) != 0) {
    for (int i = 0; i < tasks; ++i) {
      task(data, i);
    }
    return 0;
  }
  if (!pool.isStarted) {
    start(pool);
  }
  pool.task = task;
  pool.data = data;
  pool.tasks = tasks;
  pool.next.store(1, std::memory_order_relaxed);
  const uint64_t job = ((pool.offer.load(std::memory_order_relaxed) >> 32) + 1) & 0xFFFFFFFF;
  pool.offer.store(job << 32 | openBit, std::memory_order_release);
  pool.bell.fetch_add(1, std::memory_order_seq_cst);
  if (pool.sleepers.load(std::memory_order_seq_cst) > 0) {
    if (!pool.isCrowded) {
      runtime::leaveCallersCpu(pool.workers, pool.workerCount, pool.excluded);
    }
    futex(pool.bell, FUTEX_WAKE_PRIVATE, static_cast<uint32_t>(tasks - 1));
  }
  task(data, 0);
  work(pool);
  uint64_t state = pool.offer.fetch_and(~openBit, std::memory_order_acq_rel);
  for (int spin = 0; state & insideMask; state = pool.offer.load(std::memory_order_acquire)) {
    if (++spin < spinsForLast) {
      relax();
    } else {
      sched_yield();
    }
  }
  pool.isBusy.store(0, std::memory_order_release);
  return 0;
}

int usableCpus() {
  for (int size = 1024; size <= 1 << 20; size *= 2) {
    cpu_set_t *set = CPU_ALLOC(static_cast<size_t>(size));
    if (!set) {
      break;
    }
    const size_t bytes = CPU_ALLOC_SIZE(size);
    const int count = sched_getaffinity(0, bytes, set) == 0 ? CPU_COUNT_S(bytes, set) : 0;
    CPU_FREE(set);
    if (count > 0) {
      return count;
    }
  }
  const long online = sysconf(_SC_NPROCESSORS_ONLN);
  return online > 0 ? static_cast<int>(online) : 1;
}

int threadsFromEnvironment() {
  const char *text = std::getenv("NEREID_THREADS");
  char *end = nullptr;
  const long value = text ? std::strtol(text, &end, 10) : 0;
  return text && *text && !*end && value >= 1 && value <= threadLimit ? static_cast<int>(value) : 0;
}

std::atomic<nereid_aot_pool *> processPool{nullptr};
constexpr nereid_aot_pool noPool = {1, nullptr, nullptr};

} // namespace

const nereid_aot_pool &defaultPool() {
  nereid_aot_pool *pool = processPool.load(std::memory_order_acquire);
  if (!pool) {
    pthread_once(&forksCounted, countForks);
    pthread_mutex_lock(&defaultLock);
    pool = processPool.load(std::memory_order_acquire);
    if (!pool) {
      pool = nereid_aot_pool_create(0);
      processPool.store(pool, std::memory_order_release);
    }
    pthread_mutex_unlock(&defaultLock);
  }
  return pool ? *pool : noPool;
}

bool hasAwakeWorker(const nereid_aot_pool &pool) {
  return pool.parallel_for == parallelFor &&
         static_cast<const Pool *>(pool.context)->awake.load(std::memory_order_relaxed) > 0;
}

void destroyDefaultPool() { nereid_aot_pool_destroy(processPool.exchange(nullptr)); }

} // namespace nereid::aot

using namespace nereid::aot;

extern "C" {

const nereid_aot_pool *nereid_aot_no_pool(void) { return &noPool; }

nereid_aot_pool *nereid_aot_pool_create(int threads) {
  pthread_once(&forksCounted, countForks);
  const int cpus = usableCpus();
  if (threads <= 0) {
    threads = threadsFromEnvironment();
  }
  threads = threads <= 0 ? cpus : threads;
  threads = threads < threadLimit ? threads : threadLimit;
  void *memory = std::aligned_alloc(alignof(Pool), sizeof(Pool));
  auto *workers = static_cast<nereid::runtime::PlacedWorker *>(
      std::calloc(static_cast<size_t>(threads), sizeof(nereid::runtime::PlacedWorker)));
  if (!memory || !workers) {
    std::free(memory);
    std::free(workers);
    return nullptr;
  }
  Pool *pool = new (memory) Pool{};
  pool->interface = {threads, pool, parallelFor};
  pool->workers = workers;
  pool->excluded = -1;
  pool->isCrowded = threads > cpus;
  pool->forkCount = forks.load(std::memory_order_relaxed);
  return &pool->interface;
}

void nereid_aot_pool_destroy(nereid_aot_pool *interface) {
  if (!interface) {
    return;
  }
  Pool &pool = *static_cast<Pool *>(interface->context);
  if (pool.forkCount != forks.load(std::memory_order_relaxed)) {
    pool.workerCount = 0;
  }
  pool.stop.store(true, std::memory_order_release);
  pool.bell.fetch_add(1, std::memory_order_seq_cst);
  futex(pool.bell, FUTEX_WAKE_PRIVATE, INT_MAX);
  for (int i = 0; i < pool.workerCount; ++i) {
    pthread_join(pool.workers[i].thread, nullptr);
  }
  std::free(pool.workers);
  std::free(&pool);
}
}
