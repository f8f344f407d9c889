// SPDX-License-Identifier: Apache-2.0
// Runs the programs of a grid as tasks on a pool, x fastest. Every task takes ranges of programs
// until none is left, so that it does not matter which of them run at the same time. A launch known
// to be too small to pay for other threads stays on the calling one.
#include "runtime/LaunchSharing.h"
#include "runtime/ProgramWalk.h"
#include "runtime/StoreFence.h"
#include "runtime/aot/Launch.h"
#include "runtime/aot/Message.h"

namespace nereid::aot {

namespace {

constinit runtime::Streak streak;

uint8_t *callersScratch(const Run &run, int task) {
  auto *memory = static_cast<uint8_t *>(run.options->scratch);
  return memory + static_cast<uint64_t>(task) * run.scratchBytes;
}

/// A failed assertion comes back to the jump's target; generated code has no destructors to skip. A
/// function of its own, whose caller's variables the jump cannot touch.
[[gnu::noinline]] void runGuarded(Run &run, int task, uint8_t *scratch) {
  using runtime::currentLaunchFrame;
  runtime::LaunchFrame frame = frameOf(run, task);
  runtime::LaunchFrame *const outer = currentLaunchFrame;
  currentLaunchFrame = &frame;
  if (_setjmp(frame.exit) == 0) {
    for (int64_t begin, end;
         takeRange(run.parts, run.partCount, task, run.tasks, run.grain, begin, end);) {
      const bool isSample = task == 0 && run.programs > 1; // one task is enough
      const int64_t start = isSample ? runtime::nowNanos() : 0;
      runtime::walkPrograms(begin, end, run.takesRanges, run.count, run.entry, run.slots, scratch,
                            run.failure.hasFailed);
      runtime::finishStreamingStores();
      run.finished.fetch_add(end - begin, std::memory_order_relaxed);
      if (isSample) {
        run.sampleNanos += runtime::nowNanos() - start;
        run.samplePrograms += end - begin;
      }
    }
  }
  currentLaunchFrame = outer;
}

void runTask(void *data, int index) {
  Run &run = *static_cast<Run *>(data);
  const bool isCallers = run.options && run.options->scratch;
  uint8_t *scratch = nullptr;
  if (run.scratchBytes > 0) {
    scratch = isCallers ? callersScratch(run, index) : takeScratch(run.scratchBytes);
    if (!scratch) {
      run.lacksMemory.store(true, std::memory_order_relaxed);
      return;
    }
  }
  runGuarded(run, index, scratch);
  if (scratch && !isCallers) {
    giveScratch(scratch);
  }
}

nereid_aot_status statusOf(const Table &table, const Run &run, bool isPoolDone) {
  const runtime::LaunchFailure &failure = run.failure;
  if (failure.hasFailed.load(std::memory_order_acquire)) {
    Message(run.options) << "device assertion failed in kernel '" << table.name << "', program ("
                         << int64_t{failure.id[0]} << ", " << int64_t{failure.id[1]} << ", "
                         << int64_t{failure.id[2]} << "): " << failure.message;
    return NEREID_AOT_ERROR_ASSERTION;
  }
  const int64_t finished = run.finished.load(std::memory_order_relaxed);
  // A task without memory is made up for by the others.
  if (run.lacksMemory.load(std::memory_order_relaxed) && finished != run.programs) {
    Message(run.options) << "kernel '" << table.name << "' needs "
                         << static_cast<int64_t>(run.scratchBytes)
                         << " bytes of scratch memory for each thread, but the system gives none";
    return NEREID_AOT_ERROR_MEMORY;
  }
  if (!isPoolDone || finished != run.programs) {
    Message(run.options) << "kernel '" << table.name << "': the pool's parallel_for came back "
                         << (isPoolDone ? "" : "with a failure ") << "when " << finished << " of "
                         << run.programs << " programs had run";
    return NEREID_AOT_ERROR_POOL;
  }
  return NEREID_AOT_OK;
}

/// How many tasks the caller's scratch memory is enough for, `tasks` at most.
nereid_aot_status fitScratch(const Table &table, const nereid_aot_options &options, Run &run) {
  constexpr uint64_t alignment = 64;
  const auto address = reinterpret_cast<uintptr_t>(options.scratch);
  if (address % alignment != 0) {
    Message message(&options);
    message << "kernel '" << table.name << "': the scratch memory's address expects to be divisible"
            << " by 64, but got ";
    message.hex(address);
    return NEREID_AOT_ERROR_MEMORY;
  }
  const uint64_t room = options.scratch_bytes / run.scratchBytes;
  if (room == 0) {
    Message(&options) << "kernel '" << table.name << "' expects "
                      << static_cast<int64_t>(run.scratchBytes)
                      << " bytes of scratch memory for each thread, but got "
                      << static_cast<int64_t>(options.scratch_bytes);
    return NEREID_AOT_ERROR_MEMORY;
  }
  run.tasks = room < static_cast<uint64_t>(run.tasks) ? static_cast<int>(room) : run.tasks;
  return NEREID_AOT_OK;
}

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
  Run run{.entry = variant.entry,
          .slots = slots,
          .count = {static_cast<int32_t>(grid[0]), static_cast<int32_t>(grid[1]),
                    static_cast<int32_t>(grid[2])},
          .programs = programs,
          .grain = plan.grain,
          .takesRanges = variant.takesRanges != 0,
          .tasks = programs < threads ? static_cast<int>(programs) : threads,
          .scratchBytes = (static_cast<uint64_t>(variant.scratchBytes) + 63) & ~uint64_t{63},
          .options = options};
  if (options && options->print) {
    run.printer = {options->print, options->print_context};
  }
  if (variant.canWait) {
    nereid_aot_status status = NEREID_AOT_OK;
    const bool isPoolDone = runCoroutines(table, run, *pool, status);
    return status != NEREID_AOT_OK ? status : statusOf(table, run, isPoolDone);
  }
  if (run.scratchBytes > 0 && options && options->scratch) {
    if (nereid_aot_status status = fitScratch(table, *options, run)) {
      return status;
    }
  }
  run.partCount = !plan.inParts ? 1 : run.tasks < Run::partLimit ? run.tasks : Run::partLimit;
  divide(programs, run.parts, run.partCount);
  run.deferred.programs = programs;
  const bool isPoolDone = runTasks(*pool, run.tasks, runTask, &run);
  run.deferred.finish();
  if (run.samplePrograms > 0) {
    knownCost.store(runtime::estimateCost(cost, run.sampleNanos, run.samplePrograms),
                    std::memory_order_relaxed);
  }
  return statusOf(table, run, isPoolDone);
}

} // namespace nereid::aot
