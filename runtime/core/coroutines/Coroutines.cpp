// SPDX-License-Identifier: Apache-2.0
#include "runtime/core/coroutines/Coroutines.h"

#include "runtime/core/Clock.h"
#include "runtime/core/KernelSupport.h"
#include "runtime/core/ProgramMemory.h"
#include "runtime/core/coroutines/ContextSwitch.h"

#include <cstdlib>
#include <cstring>
#include <new>
#include <sched.h>

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

int64_t deadlockNanos() {
  const char *text = std::getenv("NEREID_DEADLOCK_SECONDS");
  char *end = nullptr;
  double seconds = text ? std::strtod(text, &end) : 10;
  if (text && (end == text || *end != '\0' || !(seconds >= 0))) {
    seconds = 10;
  }
  return static_cast<int64_t>((seconds < 1e9 ? seconds : 1e9) * 1e9);
}

class Worker;

/// One program after the other on one stack, at whose upper end this lies.
struct Coroutine {
  Worker *worker;
  ProgramMemory memory;
  Coroutine *next;      ///< in the list it is in
  Coroutine *nextOwned; ///< of its worker
  StackContext context;
  LaunchFrame frame;
  int32_t id[3];
  uint64_t observed;
  const char *place; ///< of the loop in which it gave way last
  uint32_t polls;
  bool hasChanged, isFinished;
};

class Worker {
public:
  Worker(CoroutineRun &launch, int task) : launch(launch), task(task) {}
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
  Coroutine *makeCoroutine(const ProgramMemory &memory);
  /// Until it finishes or yields; true when it did more than wait.
  bool resume(Coroutine &coroutine);
  /// One turn for each program; gives how many of them only waited.
  size_t round();
  size_t programsToStart(size_t stalled);
  void reportStall(bool isFull);
  void append(Coroutine &coroutine);

  CoroutineRun &launch;
  const int task;
  StackContext scheduler;
  Coroutine *running = nullptr;
  Coroutine *first = nullptr, *last = nullptr; ///< those that wait, in turn
  size_t waiting = 0;
  Coroutine *idle = nullptr, *owned = nullptr;
  int stalledRounds = 0;
  uint32_t busyRounds = 0;
};

constinit thread_local Worker *currentWorker = nullptr;

Worker::~Worker() {
  while (Coroutine *coroutine = owned) {
    owned = coroutine->nextOwned;
    const ProgramMemory memory = coroutine->memory;
    dropContext(coroutine->context);
    coroutine->~Coroutine();
    giveBack(memory);
    launch.bytes.fetch_sub(bytesWithStack(launch.grid.scratchBytes), std::memory_order_relaxed);
  }
}

void Worker::append(Coroutine &coroutine) {
  coroutine.next = nullptr;
  (last ? last->next : first) = &coroutine;
  last = &coroutine;
  ++waiting;
}

void Worker::coroutineMain(void *argument) {
  auto &own = *static_cast<Coroutine *>(argument);
  enteredContext(own.context, own.worker->scheduler);
  while (true) {
    const GridRun &grid = own.worker->launch.grid;
    grid.entry(grid.slots, own.id, grid.count, own.memory.scratch());
    own.isFinished = true;
    switchContext(own.context, own.worker->scheduler);
  }
}

Coroutine *Worker::makeCoroutine(const ProgramMemory &memory) {
  auto *made = new (memory.scratch() - (sizeof(Coroutine) + 63) / 64 * 64) Coroutine{};
  made->worker = this;
  made->memory = memory;
  made->frame.failure = &launch.grid.failure;
  made->frame.printer = launch.grid.printer;
  // After a failed assertion the launch is over and no program is continued.
  made->frame.leaveStack = [] {
    Worker &worker = *currentWorker;
    switchContext(worker.running->context, worker.scheduler);
  };
  const auto room = static_cast<size_t>(reinterpret_cast<uint8_t *>(made) - memory.stack());
  prepareContext(made->context, memory.stack(), room, coroutineMain, made);
  made->nextOwned = owned;
  owned = made;
  return made;
}

Coroutine *Worker::idleCoroutine() {
  if (Coroutine *known = idle) {
    idle = known->next;
    return known;
  }
  const uint64_t scratchBytes = launch.grid.scratchBytes, bytes = bytesWithStack(scratchBytes);
  const uint64_t held = launch.bytes.fetch_add(bytes, std::memory_order_relaxed);
  // The first one is always allowed, so that a kernel with large tiles runs at all.
  const bool isAllowed = held == 0 || held + bytes <= coroutineBytesLimit;
  if (const ProgramMemory memory = isAllowed ? takeStack(scratchBytes) : ProgramMemory{}) {
    return makeCoroutine(memory);
  }
  launch.bytes.fetch_sub(bytes, std::memory_order_relaxed);
  if (held == 0) {
    launch.verdict.store(WaitVerdict::NoMemory, std::memory_order_relaxed);
  }
  return nullptr;
}

Worker::Start Worker::startNext() {
  const GridRun &grid = launch.grid;
  if (launch.next.load(std::memory_order_relaxed) >= grid.programs) {
    return Start::NoneLeft;
  }
  Coroutine *coroutine = idleCoroutine();
  if (!coroutine) {
    return Start::Full;
  }
  const int64_t program = launch.next.fetch_add(1, std::memory_order_relaxed);
  if (program >= grid.programs) {
    coroutine->next = idle;
    idle = coroutine;
    return Start::NoneLeft;
  }
  const int64_t row = program / grid.count[0];
  coroutine->id[0] = static_cast<int32_t>(program % grid.count[0]);
  coroutine->id[1] = static_cast<int32_t>(row % grid.count[1]);
  coroutine->id[2] = static_cast<int32_t>(row / grid.count[1]);
  coroutine->isFinished = false;
  resume(*coroutine);
  return Start::Started;
}

bool Worker::resume(Coroutine &coroutine) {
  LaunchFrame *const outer = currentLaunchFrame;
  currentLaunchFrame = &coroutine.frame;
  coroutine.hasChanged = false;
  running = &coroutine;
  switchContext(scheduler, coroutine.context);
  running = nullptr;
  currentLaunchFrame = outer;
  if (coroutine.isFinished) {
    launch.grid.finished.fetch_add(1, std::memory_order_relaxed);
    coroutine.next = idle;
    idle = &coroutine;
    return true;
  }
  append(coroutine);
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
  for (size_t left = waiting; left > 0 && !launch.isOver(); --left) {
    Coroutine *coroutine = first;
    first = coroutine->next;
    last = first ? last : nullptr;
    --waiting;
    stalled += resume(*coroutine) ? 0 : 1;
  }
  return stalled;
}

/// What only waits may wait for a program that has not started. What changes in every round gets on
/// by itself, or so it seems: it may count its polls.
size_t Worker::programsToStart(size_t stalled) {
  if (waiting == 0 || stalled > 0) {
    return stalled / 4 + 1;
  }
  return ++busyRounds % busyRoundsPerStart == 0 ? 1 : 0;
}

void Worker::reportStall(bool isFull) {
  const int64_t now = nowNanos();
  launch.watch.stalled(task, now);
  if (isFull && launch.watch.isStalled(task, now, fullNanos)) {
    launch.verdict.store(WaitVerdict::Full, std::memory_order_relaxed);
  } else if (launch.patience > 0 && launch.watch.isStalled(task, now, launch.patience)) {
    launch.verdict.store(WaitVerdict::Deadlock, std::memory_order_relaxed);
  }
  if (++stalledRounds > roundsBeforeYield) {
    sched_yield();
  }
}

void Worker::run() {
  Worker *outer = currentWorker;
  currentWorker = this;
  launch.watch.enter(task);
  while (!launch.isOver()) {
    const size_t before = waiting;
    const size_t stalled = round();
    bool hasMoved = stalled < before;
    Start start = Start::Started;
    for (size_t more = programsToStart(stalled); more > 0 && !launch.isOver(); --more) {
      start = startNext();
      if (start != Start::Started) {
        break;
      }
      hasMoved = true;
    }
    if (waiting == 0 && start == Start::NoneLeft) {
      break;
    }
    if (hasMoved) {
      launch.watch.moved(task);
      stalledRounds = 0;
    } else {
      reportStall(start == Start::Full);
    }
  }
  for (const Coroutine *coroutine = first; coroutine; coroutine = coroutine->next) {
    if (coroutine->place) {
      launch.notePlace(coroutine->place);
    }
  }
  launch.watch.leave(task, nowNanos());
  currentWorker = outer;
}

} // namespace

CoroutineRun::CoroutineRun(GridRun &grid, int taskCount)
    : grid(grid), watch(taskCount), patience(deadlockNanos()) {
  if (!watch.isValid()) {
    verdict.store(WaitVerdict::NoMemory, std::memory_order_relaxed);
  }
}

void CoroutineRun::runTask(int task) {
  if (!isOver()) {
    Worker(*this, task).run();
  }
}

void CoroutineRun::notePlace(const char *place) {
  pthread_mutex_lock(&placesLock);
  for (const char *&known : places) {
    const int order = known ? std::strcmp(place, known) : -1;
    if (order == 0) {
      break;
    }
    if (order < 0) { // the others move up, and the last leaves
      const char *moved = known;
      known = place;
      place = moved;
      if (!place) {
        break;
      }
    }
  }
  pthread_mutex_unlock(&placesLock);
}

int64_t CoroutineRun::unstarted() const {
  const int64_t left = grid.programs - next.load(std::memory_order_relaxed);
  return left > 0 ? left : 0;
}

int64_t CoroutineRun::waiting() const {
  return grid.programs - unstarted() - grid.finished.load(std::memory_order_relaxed);
}

} // namespace nereid::runtime

extern "C" NEREID_RT_API void nereid_rt_yield(uint64_t observed, const char *place) {
  if (nereid::runtime::Worker *worker = nereid::runtime::currentWorker) {
    worker->yield(observed, place);
  }
}
