// SPDX-License-Identifier: Apache-2.0
// Runs the programs of a grid as tasks on a pool. A launch known to be too small to pay for other
// threads stays on the calling one.
#include "runtime/aot/Launch.h"
#include "runtime/aot/Message.h"
#include "runtime/core/LaunchSharing.h"
#include "runtime/core/coroutines/Coroutines.h"

namespace nereid::aot {

namespace {

using runtime::CoroutineRun;
using runtime::GridRun;
using runtime::WaitVerdict;

constinit runtime::Streak streak;

template <class Run> void runTask(void *data, int index) {
  static_cast<Run *>(data)->runTask(index);
}

/// A launch as its messages see it.
struct Launch {
  const Table &table;
  const nereid_aot_options *options;
  GridRun &run;
};

/// A message that begins with the kernel's name.
struct LaunchMessage final : Message {
  explicit LaunchMessage(const Launch &launch, const char *before = "kernel '")
      : Message(launch.options) {
    *this << before << launch.table.name << "'";
  }
};

nereid_aot_status statusOf(const Launch &launch, bool isPoolDone) {
  GridRun &run = launch.run;
  const bool isDone = run.finish();
  const runtime::LaunchFailure &failure = run.failure;
  if (failure.hasFailed.load(std::memory_order_acquire)) {
    LaunchMessage(launch, "device assertion failed in kernel '")
        << ", program (" << int64_t{failure.id[0]} << ", " << int64_t{failure.id[1]} << ", "
        << int64_t{failure.id[2]} << "): " << failure.message;
    return NEREID_AOT_ERROR_ASSERTION;
  }
  // A task without memory is made up for by the others.
  if (run.lacksMemory.load(std::memory_order_relaxed) && !isDone) {
    LaunchMessage(launch) << " needs " << static_cast<int64_t>(run.scratchBytes)
                          << " bytes of scratch memory for each thread, but the system gives none";
    return NEREID_AOT_ERROR_MEMORY;
  }
  if (!isPoolDone || !isDone) {
    LaunchMessage(launch) << ": the pool's parallel_for came back "
                          << (isPoolDone ? "" : "with a failure ") << "when "
                          << run.finished.load(std::memory_order_relaxed) << " of " << run.programs
                          << " programs had run";
    return NEREID_AOT_ERROR_POOL;
  }
  return NEREID_AOT_OK;
}

nereid_aot_status waitStatusOf(const Launch &launch, const CoroutineRun &run) {
  const WaitVerdict verdict = run.verdict.load(std::memory_order_relaxed);
  if (verdict == WaitVerdict::None) {
    return NEREID_AOT_OK;
  }
  LaunchMessage message(launch);
  if (verdict == WaitVerdict::NoMemory) {
    message << " needs " << static_cast<int64_t>(launch.run.scratchBytes)
            << " bytes of scratch memory for each program, but the system gives none";
    return NEREID_AOT_ERROR_MEMORY;
  }
  if (verdict == WaitVerdict::Full) {
    message << " has " << run.waiting() << " programs that wait for others, the most that "
            << static_cast<int64_t>(runtime::coroutineBytesLimit) << " bytes have room for, and "
            << run.unstarted() << " that have not started";
  } else {
    message << " makes no progress: all " << run.waiting()
            << " programs that have not finished have waited in loops for "
            << run.patience / 1'000'000 << " ms, and nothing that they read has changed";
  }
  for (int i = 0; i < CoroutineRun::placeLimit && run.places[i]; ++i) {
    message << (i == 0 ? "; they wait at " : ", ") << run.places[i];
  }
  return NEREID_AOT_ERROR_DEADLOCK;
}

nereid_aot_status runWaiting(const Launch &launch, const nereid_aot_pool &pool, int tasks) {
  CoroutineRun run(launch.run, tasks);
  const bool isPoolDone = runTasks(pool, tasks, runTask<CoroutineRun>, &run);
  const nereid_aot_status status = waitStatusOf(launch, run);
  return status != NEREID_AOT_OK ? status : statusOf(launch, isPoolDone);
}

/// How many tasks the caller's scratch memory is enough for, `tasks` at most.
nereid_aot_status fitScratch(const Launch &launch, int &tasks) {
  const nereid_aot_options &options = *launch.options;
  GridRun &run = launch.run;
  constexpr uint64_t alignment = 64;
  const auto address = reinterpret_cast<uintptr_t>(options.scratch);
  if (address % alignment != 0) {
    LaunchMessage message(launch);
    message << ": the scratch memory's address expects to be divisible by 64, but got ";
    message.hex(address);
    return NEREID_AOT_ERROR_MEMORY;
  }
  const uint64_t room = options.scratch_bytes / run.scratchBytes;
  if (room == 0) {
    LaunchMessage(launch) << " expects " << static_cast<int64_t>(run.scratchBytes)
                          << " bytes of scratch memory for each thread, but got "
                          << static_cast<int64_t>(options.scratch_bytes);
    return NEREID_AOT_ERROR_MEMORY;
  }
  tasks = room < static_cast<uint64_t>(tasks) ? static_cast<int>(room) : tasks;
  run.givenScratch = static_cast<uint8_t *>(options.scratch);
  return NEREID_AOT_OK;
}

bool runShared(GridRun &run, const runtime::LaunchSharing &plan, const nereid_aot_pool &pool,
               int tasks) {
  runtime::Part parts[GridRun::partLimit];
  run.divide(tasks, plan.grain, plan.inParts, parts);
  return runTasks(pool, tasks, runTask<GridRun>, &run);
}

} // namespace

nereid_aot_status runGrid(const Table &table, const Choice &choice, const uint64_t *slots,
                          const int64_t grid[3], const nereid_aot_options *options) {
  const Variant &variant = table.specializations[choice.specialization].variants[choice.target];
  const int64_t programs = grid[0] * grid[1] * grid[2];
  std::atomic<int64_t> &knownCost = table.state->costs[choice.specialization];
  const int64_t cost = knownCost.load(std::memory_order_relaxed);
  const nereid_aot_pool *given = options ? options->pool : nullptr;
  const auto hasAwake = [&] { return hasAwakeWorker(given ? *given : defaultPool()); };
  runtime::LaunchSharing plan;
  if (programs == 1) {
    plan.isShared = false;
  } else {
    plan = runtime::shareLaunch(cost, programs, hasAwake, streak);
  }
  const nereid_aot_pool *pool = given           ? given
                                : plan.isShared ? &defaultPool()
                                                : nereid_aot_no_pool();
  const int threads = pool->parallel_for && pool->threads > 1 && plan.isShared ? pool->threads : 1;
  int tasks = programs < threads ? static_cast<int>(programs) : threads;
  const runtime::LinePrinter printer = {options ? options->print : nullptr,
                                        options ? options->print_context : nullptr};
  GridRun run{.entry = variant.entry,
              .slots = slots,
              .count = {static_cast<int32_t>(grid[0]), static_cast<int32_t>(grid[1]),
                        static_cast<int32_t>(grid[2])},
              .programs = programs,
              .takesRanges = variant.takesRanges != 0,
              .scratchBytes = (static_cast<uint64_t>(variant.scratchBytes) + 63) & ~uint64_t{63},
              .printer = printer.print ? &printer : nullptr};
  const Launch launch = {table, options, run};
  if (variant.isBlocking) {
    return runWaiting(launch, *pool, tasks);
  }
  if (run.scratchBytes > 0 && options && options->scratch) {
    if (nereid_aot_status status = fitScratch(launch, tasks)) {
      return status;
    }
  }
  bool isPoolDone = true;
  if (tasks == 1) {
    run.runTask(0);
  } else {
    isPoolDone = runShared(run, plan, *pool, tasks);
  }
  if (run.samplePrograms > 0) {
    knownCost.store(runtime::estimateCost(cost, run.sampleNanos, run.samplePrograms),
                    std::memory_order_relaxed);
  }
  return statusOf(launch, isPoolDone);
}

} // namespace nereid::aot
