// SPDX-License-Identifier: Apache-2.0
#include "runtime/core/WorkerPool.h"

#include "runtime/core/Clock.h"
#include "runtime/core/CpuCount.h"

#include <climits>
#include <cstdlib>
#include <linux/futex.h>
#include <new>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

namespace nereid::runtime {
namespace {

constexpr int threadLimit = 4096;
constexpr uint64_t openBit = uint64_t{1} << 31;
constexpr uint64_t insideMask = openBit - 1;
/// How long a worker looks for the next job before it sleeps. Waking one costs 10 to 40 µs, above
/// all in a virtual machine; a program that launches one kernel after the other should pay it once.
/// Workers that lack a CPU of their own yield sooner.
constexpr int64_t spinNanos = 100'000;
constexpr int64_t spinNanosCrowded = 5'000;
constexpr int spinsPerClock = 32;
/// Rounds of looking for the last workers to finish before the CPU is left to them, and before the
/// thread sleeps in between: a worker that takes a second is not waited for by a busy thread.
constexpr int spinsForLast = 20'000, yieldsForLast = 1'000;
constexpr timespec nap = {0, 20'000};

void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

void futex(std::atomic<uint32_t> &word, int operation, uint32_t value) {
  syscall(SYS_futex, &word, operation, value, nullptr, nullptr, 0);
}

/// The jobs that run on this thread now, innermost first.
struct Running {
  const WorkerPool *pool;
  int worker;
  Running *outer;
};
constinit thread_local Running *running = nullptr;

// All pools of the process, for the child of a fork.
pthread_mutex_t listLock = PTHREAD_MUTEX_INITIALIZER;
WorkerPool *pools = nullptr;
pthread_once_t forksCounted = PTHREAD_ONCE_INIT;

} // namespace

/// The child has the pools without their threads. While the list is locked no pool comes or goes.
void WorkerPool::countForks() {
  constexpr auto close = [] { pthread_mutex_lock(&listLock); };
  constexpr auto open = [] { pthread_mutex_unlock(&listLock); };
  pthread_atfork(close, open, [] {
    for (WorkerPool *pool = pools; pool; pool = pool->nextPool) {
      pool->forgetWorkers();
    }
    pthread_mutex_unlock(&listLock);
  });
}

/// Whoever held the lock, and whoever was inside of a job, stayed in the parent.
void WorkerPool::forgetWorkers() {
  pthread_mutex_init(&callers, nullptr);
  isStarted = false;
  workerCount = 0;
  excluded = -1;
  offer.store(0, std::memory_order_relaxed);
  sleepers.store(0, std::memory_order_relaxed);
  awake.store(0, std::memory_order_relaxed);
  arrived.store(0, std::memory_order_relaxed);
}

WorkerPool *WorkerPool::create(int threads) {
  pthread_once(&forksCounted, countForks);
  const int cpus = usableCpuCount();
  threads = threads <= 0 ? cpus : threads;
  threads = threads < threadLimit ? threads : threadLimit;
  void *memory = std::aligned_alloc(alignof(WorkerPool), sizeof(WorkerPool));
  auto *workers =
      static_cast<PlacedWorker *>(std::calloc(static_cast<size_t>(threads), sizeof(PlacedWorker)));
  if (!memory || !workers) {
    std::free(memory);
    std::free(workers);
    return nullptr;
  }
  auto *pool = new (memory) WorkerPool(threads, threads > cpus);
  pool->workers = workers;
  pthread_mutex_lock(&listLock);
  pool->nextPool = pools;
  pools = pool;
  pthread_mutex_unlock(&listLock);
  return pool;
}

void WorkerPool::leaveList() {
  pthread_mutex_lock(&listLock);
  WorkerPool **link = &pools;
  while (*link != this) {
    link = &(*link)->nextPool;
  }
  *link = nextPool;
  pthread_mutex_unlock(&listLock);
}

void WorkerPool::destroy(WorkerPool *pool) {
  if (!pool) {
    return;
  }
  pool->leaveList();
  pool->stop.store(true, std::memory_order_release);
  pool->bell.fetch_add(1, std::memory_order_seq_cst);
  futex(pool->bell, FUTEX_WAKE_PRIVATE, INT_MAX);
  for (int i = 0; i < pool->workerCount; ++i) {
    pthread_join(pool->workers[i].thread, nullptr);
  }
  pthread_mutex_destroy(&pool->callers);
  std::free(pool->workers);
  pool->~WorkerPool();
  std::free(pool);
}

int WorkerPool::workerHere() const {
  for (const Running *frame = running; frame; frame = frame->outer) {
    if (frame->pool == this) {
      return frame->worker;
    }
  }
  return -1;
}

void WorkerPool::run(Call runCall, void *runData, int worker) {
  Running frame{this, worker, running};
  running = &frame;
  runCall(runData, worker);
  running = frame.outer;
}

bool WorkerPool::tryJoin(uint64_t &lastEpoch) {
  uint64_t seen = offer.load(std::memory_order_acquire);
  while ((seen & openBit) && seen >> 32 != lastEpoch) {
    if (offer.compare_exchange_weak(seen, seen + 1, std::memory_order_acq_rel)) {
      lastEpoch = seen >> 32;
      return true;
    }
  }
  return false;
}

/// Looks for a job for a while.
bool WorkerPool::awaitJob(uint64_t &lastEpoch) {
  const int64_t deadline = nowNanos() + (isCrowded ? spinNanosCrowded : spinNanos);
  do {
    for (int spin = 0; spin < spinsPerClock; ++spin) {
      if (tryJoin(lastEpoch)) {
        return true;
      }
      relax();
    }
  } while (nowNanos() < deadline && !stop.load(std::memory_order_relaxed));
  return false;
}

void WorkerPool::workerLoop(int worker) {
  uint64_t lastEpoch = ~uint64_t{0};
  awake.fetch_add(1, std::memory_order_relaxed);
  while (!stop.load(std::memory_order_acquire)) {
    const uint32_t rung = bell.load(std::memory_order_seq_cst);
    if (awaitJob(lastEpoch)) {
      run(call, data, worker);
      offer.fetch_sub(1, std::memory_order_release);
      continue;
    }
    // The order "announce, look again, sleep" against "ring, look for sleepers" loses no call.
    awake.fetch_sub(1, std::memory_order_relaxed);
    sleepers.fetch_add(1, std::memory_order_seq_cst);
    if (!stop.load() && bell.load(std::memory_order_seq_cst) == rung) {
      futex(bell, FUTEX_WAIT_PRIVATE, rung);
    }
    sleepers.fetch_sub(1, std::memory_order_seq_cst);
    awake.fetch_add(1, std::memory_order_relaxed);
  }
}

void *WorkerPool::workerMain(void *argument) {
  auto &pool = *static_cast<WorkerPool *>(argument);
  pool.workerLoop(pool.arrived.fetch_add(1, std::memory_order_relaxed) + 1);
  return nullptr;
}

/// Without all of its threads a pool works all the same.
void WorkerPool::start() {
  if (isStarted) {
    return;
  }
  isStarted = true;
  while (workerCount < threads - 1) {
    PlacedWorker &worker = workers[workerCount];
    worker.isPlaced = false;
    if (pthread_create(&worker.thread, nullptr, workerMain, this) != 0) {
      return;
    }
    ++workerCount;
  }
}

void WorkerPool::ring(int wanted) {
  bell.fetch_add(1, std::memory_order_seq_cst);
  if (sleepers.load(std::memory_order_seq_cst) > 0) {
    if (!isCrowded) {
      leaveCallersCpu(workers, workerCount, excluded);
    }
    futex(bell, FUTEX_WAKE_PRIVATE, static_cast<uint32_t>(wanted));
  }
}

void WorkerPool::share(int wanted, Call sharedCall, void *sharedData, WhenBusy whenBusy) {
  wanted = wanted < threads ? wanted : threads;
  bool isMine = wanted > 1 && workerHere() < 0;
  if (isMine && whenBusy == WhenBusy::Wait) {
    pthread_mutex_lock(&callers);
  } else if (isMine) {
    isMine = pthread_mutex_trylock(&callers) == 0;
  }
  if (!isMine) {
    run(sharedCall, sharedData, 0);
    return;
  }
  start();
  call = sharedCall;
  data = sharedData;
  const uint64_t epoch = ((offer.load(std::memory_order_relaxed) >> 32) + 1) & 0xFFFFFFFF;
  offer.store(epoch << 32 | openBit, std::memory_order_release);
  ring(wanted - 1);
  run(call, data, 0);
  uint64_t state = offer.fetch_and(~openBit, std::memory_order_acq_rel);
  for (int spin = 0; state & insideMask; state = offer.load(std::memory_order_acquire), ++spin) {
    // Those inside are at their last piece of work; when that is long, leave the CPU to them.
    if (spin < spinsForLast) {
      relax();
    } else if (spin < spinsForLast + yieldsForLast) {
      sched_yield();
    } else {
      nanosleep(&nap, nullptr);
      spin = spinsForLast + yieldsForLast;
    }
  }
  pthread_mutex_unlock(&callers);
}

} // namespace nereid::runtime
