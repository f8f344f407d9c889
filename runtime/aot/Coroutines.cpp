// SPDX-License-Identifier: Apache-2.0
// Launches whose programs may wait for each other; the counterpart of runtime/Coroutines.h, without
// the C++ library. Each program has a stack and scratch memory of its own and gives way in its
// waiting loops. A task starts further programs, lowest first, when it has none and when its own
// only wait: so every program gets its turn, however few threads there are.
#include "runtime/Clock.h"
#include "runtime/aot/Launch.h"
#include "runtime/aot/Message.h"
#include "runtime/core/KernelSupport.h"
#include "runtime/core/StallWatch.h"
#include "runtime/cpu/ContextSwitch.h"

#include <cstdlib>
#include <cstring>
#include <new>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>

namespace nereid::aot {
namespace {

using runtime::StackContext;

/// What all programs of a launch that wait may take together.
constexpr uint64_t bytesLimit = uint64_t{1} << 30;
constexpr uint64_t stackBytes = 64 << 10;
/// Below the stack, so that an overflow faults; more than a page, which a large frame could step
/// over.
constexpr uint64_t guardBytes = 16 << 10;
/// Polling a few times costs less than a switch to another program and back.
constexpr uint32_t pollsPerTurn = 8;
/// Rounds in which everybody gets on between starts of further programs.
constexpr uint32_t busyRoundsPerStart = 16;
/// Rounds of nothing but waiting after which the CPU is offered to other threads.
constexpr int roundsBeforeYield = 16;
/// With too little memory to start the rest, waiting is given up sooner.
constexpr int64_t fullNanos = 1'000'000'000;
constexpr int placeLimit = 4;

enum class Verdict : uint8_t { None, Deadlock, Full, NoMemory };

struct Launch {
  Run &run;
  runtime::StallWatch watch;
  int64_t patience;
  std::atomic<int64_t> next{0}; ///< first program not yet started
  std::atomic<uint64_t> bytes{0};
  std::atomic<Verdict> verdict{Verdict::None};
  pthread_mutex_t placesLock = PTHREAD_MUTEX_INITIALIZER;
  const char *places[placeLimit] = {}; ///< where programs waited when the launch was given up

  bool isOver() const {
    return run.failure.hasFailed.load(std::memory_order_relaxed) != 0 ||
           verdict.load(std::memory_order_relaxed) != Verdict::None;
  }
};

class Worker;

/// At the end of its own mapping: guard, stack, scratch, this.
struct Coroutine {
  Worker *worker;
  Coroutine *next;      ///< in the list it is in
  Coroutine *nextOwned; ///< of its worker
  uint8_t *mapping;
  StackContext context;
  runtime::LaunchFrame frame;
  int32_t id[3];
  uint64_t observed;
  const char *place; ///< of the loop in which it gave way last
  uint32_t polls;
  bool hasChanged, isFinished;

  uint8_t *stack() const { return mapping + guardBytes; }
  uint8_t *scratch() const { return stack() + stackBytes; }
};

uint64_t mappingBytes(uint64_t scratchBytes) {
  constexpr uint64_t page = 4096;
  return guardBytes + stackBytes + (scratchBytes + sizeof(Coroutine) + page - 1) / page * page;
}

Coroutine *makeCoroutine(uint64_t scratchBytes) {
  const uint64_t bytes = mappingBytes(scratchBytes);
  void *memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) {
    return nullptr;
  }
  if (mprotect(memory, guardBytes, PROT_NONE) != 0) {
    munmap(memory, bytes);
    return nullptr;
  }
  auto *mapping = static_cast<uint8_t *>(memory);
  auto *made = new (mapping + guardBytes + stackBytes + scratchBytes) Coroutine{};
  made->mapping = mapping;
  return made;
}

/// NEREID_DEADLOCK_SECONDS in nanoseconds; 0 = never.
int64_t deadlockNanos() {
  const char *text = std::getenv("NEREID_DEADLOCK_SECONDS");
  char *end = nullptr;
  double seconds = text ? std::strtod(text, &end) : 10;
  if (text && (end == text || *end != '\0' || !(seconds >= 0))) {
    seconds = 10;
  }
  return static_cast<int64_t>((seconds < 1e9 ? seconds : 1e9) * 1e9);
}

class Worker {
public:
  Worker(Launch &launch, int index) : launch(launch), index(index) {}
  ~Worker();
  Worker(const Worker &) = delete;
  Worker &operator=(const Worker &) = delete;

  void work();
  void yield(uint64_t observed, const char *place);

private:
  enum class Start : uint8_t { Started, NoneLeft, Full };

  static void coroutineMain(void *argument);
  Coroutine *idleCoroutine();
  Start startNext();
  bool resume(Coroutine &coroutine);
  size_t round();
  size_t programsToStart(size_t stalled);
  void reportStall(bool isFull);
  void notePlaces();
  void append(Coroutine &coroutine);

  Launch &launch;
  const int index;
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
  const uint64_t bytes = mappingBytes(launch.run.scratchBytes);
  while (owned) {
    Coroutine *next = owned->nextOwned;
    runtime::dropContext(owned->context);
    munmap(owned->mapping, bytes);
    launch.bytes.fetch_sub(bytes, std::memory_order_relaxed);
    owned = next;
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
  runtime::enteredContext(own.context, own.worker->scheduler);
  while (true) {
    const Run &run = own.worker->launch.run;
    run.entry(run.slots, own.id, run.count, own.scratch());
    own.isFinished = true;
    runtime::switchContext(own.context, own.worker->scheduler);
  }
}

Coroutine *Worker::idleCoroutine() {
  if (Coroutine *known = idle) {
    idle = known->next;
    return known;
  }
  const uint64_t bytes = mappingBytes(launch.run.scratchBytes);
  const uint64_t held = launch.bytes.fetch_add(bytes, std::memory_order_relaxed);
  // The first one is always allowed, so that a kernel with large tiles runs at all.
  const bool isAllowed = held == 0 || held + bytes <= bytesLimit;
  Coroutine *made = isAllowed ? makeCoroutine(launch.run.scratchBytes) : nullptr;
  if (!made) {
    launch.bytes.fetch_sub(bytes, std::memory_order_relaxed);
    if (held == 0) {
      launch.verdict.store(Verdict::NoMemory, std::memory_order_relaxed);
    }
    return nullptr;
  }
  made->worker = this;
  made->frame = frameOf(launch.run, index);
  made->frame.deferred = nullptr; // other programs may wait for what one adds
  // After a failed assertion the launch is over and no program is continued.
  made->frame.leaveStack = [] {
    Worker &worker = *currentWorker;
    runtime::switchContext(worker.running->context, worker.scheduler);
  };
  runtime::prepareContext(made->context, made->stack(), stackBytes, coroutineMain, made);
  made->nextOwned = owned;
  owned = made;
  return made;
}

Worker::Start Worker::startNext() {
  const Run &run = launch.run;
  if (launch.next.load(std::memory_order_relaxed) >= run.programs) {
    return Start::NoneLeft;
  }
  Coroutine *coroutine = idleCoroutine();
  if (!coroutine) {
    return Start::Full;
  }
  const int64_t program = launch.next.fetch_add(1, std::memory_order_relaxed);
  if (program >= run.programs) {
    coroutine->next = idle;
    idle = coroutine;
    return Start::NoneLeft;
  }
  const int64_t row = program / run.count[0];
  coroutine->id[0] = static_cast<int32_t>(program % run.count[0]);
  coroutine->id[1] = static_cast<int32_t>(row % run.count[1]);
  coroutine->id[2] = static_cast<int32_t>(row / run.count[1]);
  coroutine->isFinished = false;
  resume(*coroutine);
  return Start::Started;
}

/// Until it finishes or gives way; true when it did more than wait.
bool Worker::resume(Coroutine &coroutine) {
  runtime::LaunchFrame *outer = runtime::currentLaunchFrame;
  runtime::currentLaunchFrame = &coroutine.frame;
  coroutine.hasChanged = false;
  running = &coroutine;
  runtime::switchContext(scheduler, coroutine.context);
  running = nullptr;
  runtime::currentLaunchFrame = outer;
  if (coroutine.isFinished) {
    launch.run.finished.fetch_add(1, std::memory_order_relaxed);
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
    runtime::switchContext(own.context, scheduler);
  }
}

/// One turn for each program; gives how many of them only waited.
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

/// What only waits may wait for a program that has not started; what changes in every round may
/// only be counting its polls.
size_t Worker::programsToStart(size_t stalled) {
  if (waiting == 0 || stalled > 0) {
    return stalled / 4 + 1;
  }
  return ++busyRounds % busyRoundsPerStart == 0 ? 1 : 0;
}

void Worker::reportStall(bool isFull) {
  const int64_t now = runtime::nowNanos();
  launch.watch.stalled(index, now);
  if (isFull && launch.watch.isStalled(index, now, fullNanos)) {
    launch.verdict.store(Verdict::Full, std::memory_order_relaxed);
  } else if (launch.patience > 0 && launch.watch.isStalled(index, now, launch.patience)) {
    launch.verdict.store(Verdict::Deadlock, std::memory_order_relaxed);
  }
  if (++stalledRounds > roundsBeforeYield) {
    sched_yield();
  }
}

void Worker::notePlaces() {
  pthread_mutex_lock(&launch.placesLock);
  for (const Coroutine *coroutine = first; coroutine; coroutine = coroutine->next) {
    for (const char *&known : launch.places) {
      if (!coroutine->place || (known && std::strcmp(known, coroutine->place) == 0)) {
        break;
      }
      if (!known) {
        known = coroutine->place;
        break;
      }
    }
  }
  pthread_mutex_unlock(&launch.placesLock);
}

void Worker::work() {
  Worker *outer = currentWorker;
  currentWorker = this;
  launch.watch.enter(index);
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
      launch.watch.moved(index);
      stalledRounds = 0;
    } else {
      reportStall(start == Start::Full);
    }
  }
  notePlaces();
  launch.watch.leave(index, runtime::nowNanos());
  currentWorker = outer;
}

void describe(const Table &table, const Launch &launch, Verdict verdict) {
  const Run &run = launch.run;
  const int64_t next = launch.next.load();
  const int64_t started = next < run.programs ? next : run.programs;
  const int64_t waiting = started - run.finished.load();
  Message message(run.options);
  message << "kernel '" << table.name << "' ";
  if (verdict == Verdict::NoMemory) {
    message << "needs " << static_cast<int64_t>(run.scratchBytes)
            << " bytes of scratch memory for each program, but the system gives none";
    return;
  }
  if (verdict == Verdict::Full) {
    message << "has " << waiting << " programs that wait for others, the most that "
            << static_cast<int64_t>(bytesLimit) << " bytes have room for, and "
            << run.programs - started << " that have not started";
  } else {
    message << "makes no progress: all " << waiting
            << " programs that have not finished have waited in loops for "
            << launch.patience / 1'000'000 << " ms, and nothing that they read has changed";
  }
  const char *separator = "; they wait at ";
  for (const char *place : launch.places) {
    if (place) {
      message << separator << place;
      separator = ", ";
    }
  }
}

void runWorker(void *data, int index) { Worker(*static_cast<Launch *>(data), index).work(); }

} // namespace

bool runCoroutines(const Table &table, Run &run, const nereid_aot_pool &pool,
                   nereid_aot_status &status) {
  Launch launch{.run = run, .watch = runtime::StallWatch(run.tasks), .patience = deadlockNanos()};
  if (!launch.watch.isValid()) {
    launch.verdict.store(Verdict::NoMemory, std::memory_order_relaxed);
  }
  const bool isPoolDone = !launch.watch.isValid() || runTasks(pool, run.tasks, runWorker, &launch);
  const Verdict verdict = launch.verdict.load(std::memory_order_relaxed);
  status = verdict == Verdict::None       ? NEREID_AOT_OK
           : verdict == Verdict::NoMemory ? NEREID_AOT_ERROR_MEMORY
                                          : NEREID_AOT_ERROR_DEADLOCK;
  if (status != NEREID_AOT_OK) {
    describe(table, launch, verdict);
  }
  return isPoolDone;
}

} // namespace nereid::aot

extern "C" NEREID_RT_API void nereid_rt_yield(uint64_t observed, const char *place) {
  if (nereid::aot::Worker *worker = nereid::aot::currentWorker) {
    worker->yield(observed, place);
  }
}
