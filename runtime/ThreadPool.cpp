// SPDX-License-Identifier: Apache-2.0
// The pool behind ThreadPool.h. A job is offered, never assigned: the caller publishes it in one
// atomic word, works on it itself, and closes it when no item is left; a worker joins only while
// the job is open. So a worker that wakes too late costs nothing, a job needs no worker at all,
// and a forked child, whose workers are gone, still completes its work.
#include "runtime/ThreadPool.h"

#include "runtime/BusyTime.h"
#include "runtime/Clock.h"
#include "runtime/CpuCount.h"
#include "runtime/ItemParts.h"
#include "runtime/core/Placement.h"

#include <atomic>
#include <climits>
#include <cstdlib>
#include <exception>
#include <linux/futex.h>
#include <mutex>
#include <pthread.h>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace nereid::runtime {
namespace {

using Body = std::function<void(int64_t, int64_t, int)>;

void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

void futexWait(std::atomic<uint32_t> &word, uint32_t seen) {
  ::syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, seen, nullptr, nullptr, 0);
}

void futexWake(std::atomic<uint32_t> &word, int count) {
  ::syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, count, nullptr, nullptr, 0);
}

/// How long a worker looks for the next job before it sleeps. Waking one costs 10 to 40 µs, above
/// all in a virtual machine; a program that launches one kernel after the other should pay it once.
/// Workers that lack a CPU of their own give way sooner.
constexpr int64_t spinNanos = 100'000;
constexpr int64_t spinNanosCrowded = 5'000;
constexpr int spinsPerClock = 32;
std::atomic<uint32_t> forks{0};

void countForks() {
  static std::once_flag once;
  std::call_once(once, [] {
    pthread_atfork(nullptr, nullptr, [] { forks.fetch_add(1, std::memory_order_relaxed); });
  });
}

/// The pools whose bodies run on this thread now, innermost first.
struct Running {
  const void *pool;
  int worker;
  Running *outer;
};
thread_local Running *running = nullptr;

struct alignas(64) Scratch {
  uint8_t *address = nullptr;
  uint64_t bytes = 0;
};

} // namespace

struct ThreadPool::State {
  // `offer`: epoch in the high half, then one bit "open", then the number of workers inside.
  static constexpr uint64_t openBit = uint64_t{1} << 31;
  static constexpr uint64_t insideMask = openBit - 1;

  int threads = 1;
  uint32_t forkCount = 0;
  std::mutex callers;
  std::once_flag started;
  std::vector<std::thread> workers;
  std::vector<PlacedWorker> placed; ///< the workers' threads
  int excluded = -1;                ///< see runtime/core/Placement.h
  std::vector<Scratch> scratch;

  alignas(64) std::atomic<uint64_t> offer{0};
  std::vector<Part> parts;
  alignas(64) std::atomic<uint32_t> bell{0};
  std::atomic<int> sleepers{0};
  std::atomic<int> awake{0}; ///< workers that look for a job, or have one
  std::atomic<bool> stop{false};
  bool hasOwnCpus = true; ///< one for each thread

  // Written before the job is opened, read by workers inside it.
  int64_t grain = 1;
  int partCount = 1;
  const Body *body = nullptr;
  std::exception_ptr failure;
  std::atomic<bool> hasFailed{false};

  void work(int worker) {
    Running frame{this, worker, running};
    running = &frame;
    const BusySpan busy;
    try {
      for (int64_t begin, end;
           takeRange(parts.data(), partCount, worker, threads, grain, begin, end);) {
        (*body)(begin, end, worker);
      }
    } catch (...) {
      if (!hasFailed.exchange(true)) {
        failure = std::current_exception();
      }
      for (Part &part : parts) {
        part.next.store(INT64_MAX, std::memory_order_relaxed);
      }
    }
    running = frame.outer;
  }

  bool tryJoin(uint64_t &lastEpoch) {
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
  bool awaitJob(uint64_t &lastEpoch) {
    const int64_t deadline = nowNanos() + (hasOwnCpus ? spinNanos : spinNanosCrowded);
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

  void workerLoop(int worker) {
    uint64_t lastEpoch = ~uint64_t{0};
    awake.fetch_add(1, std::memory_order_relaxed);
    while (!stop.load(std::memory_order_acquire)) {
      const uint32_t rung = bell.load(std::memory_order_seq_cst);
      if (awaitJob(lastEpoch)) {
        work(worker);
        offer.fetch_sub(1, std::memory_order_release);
        continue;
      }
      // The order "announce, look again, sleep" against "ring, look for sleepers" loses no call.
      awake.fetch_sub(1, std::memory_order_relaxed);
      sleepers.fetch_add(1, std::memory_order_seq_cst);
      if (!stop.load() && bell.load(std::memory_order_seq_cst) == rung) {
        futexWait(bell, rung);
      }
      sleepers.fetch_sub(1, std::memory_order_seq_cst);
      awake.fetch_add(1, std::memory_order_relaxed);
    }
  }

  void start() {
    std::call_once(started, [this] {
      for (int i = 1; i < threads; ++i) {
        try {
          workers.emplace_back([this, i] { workerLoop(i); });
          placed.push_back({workers.back().native_handle(), {}, {}, false});
        } catch (const std::exception &) {
          return; // the caller and the workers that exist do the work
        }
      }
    });
  }

  void ring(int wanted) {
    bell.fetch_add(1, std::memory_order_seq_cst);
    const int asleep = sleepers.load(std::memory_order_seq_cst);
    if (asleep > 0) {
      if (hasOwnCpus) {
        leaveCallersCpu(placed.data(), static_cast<int>(placed.size()), excluded);
      }
      futexWake(bell, wanted);
    }
  }

  void runShared(int64_t items, int64_t itemsPerRange, const Body &function, Sharing sharing) {
    start();
    grain = itemsPerRange;
    partCount = sharing == Sharing::Parts ? threads : 1;
    divide(items, parts.data(), partCount);
    body = &function;
    failure = nullptr;
    hasFailed.store(false, std::memory_order_relaxed);
    const uint64_t epoch = ((offer.load(std::memory_order_relaxed) >> 32) + 1) & 0xFFFFFFFF;
    offer.store(epoch << 32 | openBit, std::memory_order_release);
    const int64_t ranges = (items - 1) / itemsPerRange + 1;
    ring(ranges - 1 < threads - 1 ? static_cast<int>(ranges - 1) : threads - 1);
    work(0);
    uint64_t state = offer.fetch_and(~openBit, std::memory_order_acq_rel);
    for (int spin = 0; state & insideMask; state = offer.load(std::memory_order_acquire)) {
      // Those inside are at their last range; when that is long, leave the CPU to them.
      ++spin < 20000 ? relax() : std::this_thread::yield();
    }
    body = nullptr;
  }

  ~State() {
    stop.store(true, std::memory_order_release);
    bell.fetch_add(1, std::memory_order_seq_cst);
    futexWake(bell, INT_MAX);
    for (std::thread &worker : workers) {
      worker.join();
    }
    for (Scratch &piece : scratch) {
      std::free(piece.address);
    }
  }
};

ThreadPool::ThreadPool(int threads) : state(std::make_unique<State>()) {
  countForks();
  state->threads = threads > 0 ? (threads < 4096 ? threads : 4096) : usableCpuCount();
  state->hasOwnCpus = threads <= 0 || state->threads <= usableCpuCount();
  state->forkCount = forks.load(std::memory_order_relaxed);
  state->scratch.resize(static_cast<size_t>(state->threads));
  state->parts = std::vector<Part>(static_cast<size_t>(state->threads));
}

ThreadPool::~ThreadPool() {
  if (state && state->forkCount != forks.load(std::memory_order_relaxed)) {
    state.release(); // its threads belong to the parent process
  }
}

int ThreadPool::threadCount() const { return state->threads; }

bool ThreadPool::hasAwakeWorker() const { return state->awake.load(std::memory_order_relaxed) > 0; }

void ThreadPool::parallelFor(
    int64_t count, int64_t grain,
    const std::function<void(int64_t begin, int64_t end, int worker)> &body, Sharing sharing) {
  if (count <= 0) {
    return;
  }
  grain = grain < 1 ? 1 : grain;
  for (const Running *frame = running; frame; frame = frame->outer) {
    if (frame->pool == state.get()) {
      body(0, count, frame->worker);
      return;
    }
  }
  const uint32_t forkCount = forks.load(std::memory_order_relaxed);
  if (state->forkCount != forkCount) {
    // The child of a fork: locks and workers are in an unknown state, so it starts with its own.
    const int threads = state->threads;
    const bool hasOwnCpus = state->hasOwnCpus;
    state.release();
    state = std::make_unique<State>();
    state->threads = threads;
    state->hasOwnCpus = hasOwnCpus;
    state->forkCount = forkCount;
    state->scratch.resize(static_cast<size_t>(threads));
    state->parts = std::vector<Part>(static_cast<size_t>(threads));
  }
  std::unique_lock<std::mutex> turn(state->callers);
  if (state->threads == 1 || count <= grain) {
    Running frame{state.get(), 0, running};
    running = &frame;
    struct Leave {
      Running *outer;
      ~Leave() { running = outer; }
    } leave{frame.outer};
    const BusySpan busy;
    body(0, count, 0);
    return;
  }
  state->runShared(count, grain, body, sharing);
  if (state->failure) {
    std::exception_ptr failure = std::move(state->failure);
    state->failure = nullptr;
    turn.unlock();
    std::rethrow_exception(failure);
  }
}

uint8_t *ThreadPool::scratch(int worker, uint64_t bytes) {
  if (worker < 0 || worker >= state->threads || bytes > (uint64_t{1} << 40)) {
    return nullptr;
  }
  Scratch &piece = state->scratch[static_cast<size_t>(worker)];
  if (piece.bytes < bytes || !piece.address) {
    const uint64_t rounded = (bytes < 4096 ? 4096 : bytes + 4095) & ~uint64_t{4095};
    void *memory = std::aligned_alloc(4096, rounded);
    if (!memory) {
      return nullptr;
    }
    std::free(piece.address);
    piece.address = static_cast<uint8_t *>(memory);
    piece.bytes = rounded;
  }
  return piece.address;
}

ThreadPool &defaultPool() {
  // Never destroyed: other static objects may still launch while the process ends.
  static ThreadPool *pool = new ThreadPool(threadCountFromEnvironment());
  return *pool;
}

} // namespace nereid::runtime
