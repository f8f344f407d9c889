// SPDX-License-Identifier: Apache-2.0
#include "runtime/Coroutines.h"

#include "runtime/Clock.h"
#include "runtime/LaunchErrors.h"
#include "runtime/ProgramMemory.h"
#include "runtime/ThreadPool.h"
#include "runtime/core/KernelSupport.h"
#include "runtime/core/StallWatch.h"
#include "runtime/cpu/ContextSwitch.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <deque>
#include <memory>
#include <mutex>
#include <set>
#include <thread>
#include <utility>

namespace nereid::runtime {
namespace {

/// Polling a few times costs less than a switch to another program and back.
constexpr uint32_t pollsPerTurn = 8;
/// Rounds in which everybody gets on between starts of further programs.
constexpr uint32_t busyRoundsPerStart = 16;
/// Rounds of nothing but waiting after which the CPU is offered to other threads.
constexpr int roundsBeforeYield = 16;
/// With too little memory to start the rest, waiting is given up sooner.
constexpr int64_t fullNanos = 1'000'000'000;

/// NEREID_DEADLOCK_SECONDS in nanoseconds; 0 = never.
int64_t deadlockNanos() {
  const char *text = std::getenv("NEREID_DEADLOCK_SECONDS");
  char *end = nullptr;
  double seconds = text ? std::strtod(text, &end) : 10;
  if (text && (end == text || *end != '\0' || !(seconds >= 0))) {
    seconds = 10;
  }
  return static_cast<int64_t>(std::fmin(seconds, 1e9) * 1e9);
}

enum class Verdict : uint8_t { None, Deadlock, Full, NoMemory };

struct Launch {
  const Kernel &kernel;
  const uint64_t *slots;
  int32_t count[3];
  int64_t programs;
  int64_t patience;
  StallWatch watch;
  LaunchFailure failure = {};
  std::atomic<int64_t> next{0}; ///< first program not yet started
  std::atomic<int64_t> finished{0};
  std::atomic<uint64_t> bytes{0}; ///< of the memory the workers hold
  std::atomic<Verdict> verdict{Verdict::None};
  std::mutex placesLock{};
  std::set<std::string> places{}; ///< where programs waited when the launch was given up

  bool isOver() const {
    return failure.hasFailed.load(std::memory_order_relaxed) ||
           verdict.load(std::memory_order_relaxed) != Verdict::None;
  }
};

class Worker;

/// One program after the other on one stack.
struct Coroutine {
  Worker *worker = nullptr;
  ProgramMemory memory;
  StackContext context;
  LaunchFrame frame;
  int32_t id[3] = {0, 0, 0};
  uint64_t observed = 0;
  const char *place = nullptr; ///< of the loop in which it gave way last
  uint32_t polls = 0;
  bool hasChanged = false;
  bool isFinished = true;
};

class Worker {
public:
  Worker(Launch &launch, int index) : launch(launch), index(index) {}
  ~Worker();
  Worker(const Worker &) = delete;
  Worker &operator=(const Worker &) = delete;

  void run();
  void yield(uint64_t observed, const char *place);

private:
  enum class Start : uint8_t { Started, NoneLeft, Full };

  static void coroutineMain(void *argument);
  Start startNext();
  Coroutine *idleCoroutine();
  /// Until it finishes or gives way; true when it did more than wait.
  bool resume(Coroutine &coroutine);
  /// One turn for each program; gives how many of them only waited.
  size_t round();
  size_t programsToStart(size_t stalled);
  void reportStall(bool isFull);

  Launch &launch;
  const int index;
  StackContext scheduler;
  Coroutine *running = nullptr;
  std::deque<Coroutine *> waiting;
  std::vector<Coroutine *> idle;
  std::vector<std::unique_ptr<Coroutine>> owned;
  int stalledRounds = 0;
  uint32_t busyRounds = 0;
};

thread_local Worker *currentWorker = nullptr;

Worker::~Worker() {
  for (const auto &coroutine : owned) {
    dropContext(coroutine->context);
  }
  launch.bytes.fetch_sub(owned.size() * ProgramMemory::bytesFor(launch.kernel.info.scratchBytes),
                         std::memory_order_relaxed);
}

void Worker::coroutineMain(void *argument) {
  auto &own = *static_cast<Coroutine *>(argument);
  enteredContext(own.context, own.worker->scheduler);
  while (true) {
    const Launch &launch = own.worker->launch;
    launch.kernel.entry(launch.slots, own.id, launch.count, own.memory.scratch());
    own.isFinished = true;
    switchContext(own.context, own.worker->scheduler);
  }
}

Coroutine *Worker::idleCoroutine() {
  if (!idle.empty()) {
    Coroutine *coroutine = idle.back();
    idle.pop_back();
    return coroutine;
  }
  const uint64_t bytes = ProgramMemory::bytesFor(launch.kernel.info.scratchBytes);
  const uint64_t held = launch.bytes.fetch_add(bytes, std::memory_order_relaxed);
  // The first one is always allowed, so that a kernel with large tiles runs at all.
  ProgramMemory memory;
  if (held == 0 || held + bytes <= coroutineBytesLimit) {
    memory = ProgramMemory(launch.kernel.info.scratchBytes);
  }
  if (!memory) {
    launch.bytes.fetch_sub(bytes, std::memory_order_relaxed);
    if (held == 0) {
      launch.verdict.store(Verdict::NoMemory, std::memory_order_relaxed);
    }
    return nullptr;
  }
  auto coroutine = std::make_unique<Coroutine>();
  coroutine->worker = this;
  coroutine->memory = std::move(memory);
  coroutine->frame.failure = &launch.failure;
  // After a failed assertion the launch is over and no program is continued.
  coroutine->frame.leaveStack = [] {
    Worker &worker = *currentWorker;
    switchContext(worker.running->context, worker.scheduler);
  };
  prepareContext(coroutine->context, coroutine->memory.stack(), ProgramMemory::stackBytes,
                 coroutineMain, coroutine.get());
  owned.push_back(std::move(coroutine));
  return owned.back().get();
}

Worker::Start Worker::startNext() {
  if (launch.next.load(std::memory_order_relaxed) >= launch.programs) {
    return Start::NoneLeft;
  }
  Coroutine *coroutine = idleCoroutine();
  if (!coroutine) {
    return Start::Full;
  }
  const int64_t program = launch.next.fetch_add(1, std::memory_order_relaxed);
  if (program >= launch.programs) {
    idle.push_back(coroutine);
    return Start::NoneLeft;
  }
  const int64_t row = program / launch.count[0];
  coroutine->id[0] = static_cast<int32_t>(program % launch.count[0]);
  coroutine->id[1] = static_cast<int32_t>(row % launch.count[1]);
  coroutine->id[2] = static_cast<int32_t>(row / launch.count[1]);
  coroutine->isFinished = false;
  resume(*coroutine);
  return Start::Started;
}

bool Worker::resume(Coroutine &coroutine) {
  LaunchFrame *const outer = std::exchange(currentLaunchFrame, &coroutine.frame);
  coroutine.hasChanged = false;
  running = &coroutine;
  switchContext(scheduler, coroutine.context);
  running = nullptr;
  currentLaunchFrame = outer;
  if (coroutine.isFinished) {
    launch.finished.fetch_add(1, std::memory_order_relaxed);
    idle.push_back(&coroutine);
    return true;
  }
  waiting.push_back(&coroutine);
  return coroutine.hasChanged;
}

void Worker::yield(uint64_t observed, const char *place) {
  Coroutine &own = *running;
  own.place = place;
  if (own.observed != observed) {
    own.observed = observed;
    own.hasChanged = true;
  }
  if (++own.polls % pollsPerTurn == 0) {
    switchContext(own.context, scheduler);
  }
}

size_t Worker::round() {
  size_t stalled = 0;
  for (size_t left = waiting.size(); left > 0 && !launch.isOver(); --left) {
    Coroutine *coroutine = waiting.front();
    waiting.pop_front();
    stalled += resume(*coroutine) ? 0 : 1;
  }
  return stalled;
}

/// What only waits may wait for a program that has not started. What changes in every round gets on
/// by itself, or so it seems: it may count its polls.
size_t Worker::programsToStart(size_t stalled) {
  if (waiting.empty() || stalled > 0) {
    return stalled / 4 + 1;
  }
  return ++busyRounds % busyRoundsPerStart == 0 ? 1 : 0;
}

void Worker::reportStall(bool isFull) {
  const int64_t now = nowNanos();
  launch.watch.stalled(index, now);
  if (isFull && launch.watch.isStalled(index, now, fullNanos)) {
    launch.verdict.store(Verdict::Full, std::memory_order_relaxed);
  } else if (launch.patience > 0 && launch.watch.isStalled(index, now, launch.patience)) {
    launch.verdict.store(Verdict::Deadlock, std::memory_order_relaxed);
  }
  if (++stalledRounds > roundsBeforeYield) {
    std::this_thread::yield();
  }
}

void Worker::run() {
  Worker *outer = std::exchange(currentWorker, this);
  launch.watch.enter(index);
  while (!launch.isOver()) {
    const size_t before = waiting.size();
    const size_t stalled = round();
    bool hasMoved = stalled < before;
    Start last = Start::Started;
    for (size_t more = programsToStart(stalled); more > 0 && !launch.isOver(); --more) {
      last = startNext();
      if (last != Start::Started) {
        break;
      }
      hasMoved = true;
    }
    if (waiting.empty() && last == Start::NoneLeft) {
      break;
    }
    if (hasMoved) {
      launch.watch.moved(index);
      stalledRounds = 0;
    } else {
      reportStall(last == Start::Full);
    }
  }
  for (const Coroutine *coroutine : waiting) {
    if (coroutine->place) {
      std::lock_guard guard(launch.placesLock);
      launch.places.insert(coroutine->place);
    }
  }
  launch.watch.leave(index, nowNanos());
  currentWorker = outer;
}

LaunchError errorOf(const Launch &launch) {
  const std::string name = "kernel '" + launch.kernel.info.name + "' ";
  const int64_t started = std::min(launch.next.load(), launch.programs);
  const std::string waiting = std::to_string(started - launch.finished.load());
  const std::string unstarted = std::to_string(launch.programs - started);
  std::string places;
  for (const std::string &place : launch.places) {
    places += (places.empty() ? "; they wait at " : ", ") + place;
  }
  switch (launch.verdict.load()) {
  case Verdict::None:
    return assertionError(launch.kernel, launch.failure);
  case Verdict::NoMemory:
    return outOfScratch(launch.kernel);
  case Verdict::Full:
    return {"E0507", name + "has " + waiting + " programs that wait for others, the most that " +
                         std::to_string(coroutineBytesLimit) + " bytes have room for, and " +
                         unstarted + " that have not started" + places};
  case Verdict::Deadlock:
    break;
  }
  char seconds[32];
  std::snprintf(seconds, sizeof seconds, "%g", static_cast<double>(launch.patience) / 1e9);
  return {"E0413", name + "makes no progress: all " + waiting +
                       " programs that have not finished " + "have waited in loops for " + seconds +
                       " seconds, and nothing that they read has changed" + places};
}

} // namespace

LaunchError launchCoroutines(const Kernel &kernel, Grid grid, const uint64_t *slots,
                             ThreadPool &pool) {
  const int64_t programs = grid[0] * grid[1] * grid[2];
  Launch launch{
      kernel,
      slots,
      {static_cast<int32_t>(grid[0]), static_cast<int32_t>(grid[1]), static_cast<int32_t>(grid[2])},
      programs,
      deadlockNanos(),
      StallWatch(pool.threadCount())};
  if (!launch.watch.isValid()) {
    return outOfScratch(kernel);
  }
  const int64_t workers = std::min<int64_t>(programs, pool.threadCount());
  pool.parallelFor(workers, 1, [&](int64_t begin, int64_t end, int worker) {
    for (int64_t i = begin; i < end; ++i) {
      Worker(launch, worker).run();
    }
  });
  return launch.isOver() ? errorOf(launch) : LaunchError();
}

} // namespace nereid::runtime

extern "C" NEREID_RT_API void nereid_rt_yield(uint64_t observed, const char *place) {
  if (nereid::runtime::Worker *worker = nereid::runtime::currentWorker) {
    worker->yield(observed, place);
  }
}
