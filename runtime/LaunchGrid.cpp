// SPDX-License-Identifier: Apache-2.0
// A launch known to be too small to pay for waking a worker stays on the calling thread.
#include "runtime/LaunchGrid.h"

#include "runtime/BusyTime.h"
#include "runtime/ThreadPool.h"
#include "runtime/core/LaunchSharing.h"
#include "runtime/core/coroutines/Coroutines.h"

#include <algorithm>
#include <bit>
#include <cstdio>

namespace nereid::runtime {
namespace {

/// What one program of a kernel took lately, by its entry address. Collisions and races only make
/// an estimate worse, never a result.
class CostTable {
public:
  /// Nanoseconds × 16 per program; 0 = unknown.
  int64_t find(KernelEntry entry) const {
    const Row &row = rowOf(entry);
    return row.entry.load(std::memory_order_relaxed) == entry
               ? row.cost.load(std::memory_order_relaxed)
               : 0;
  }
  void record(KernelEntry entry, int64_t nanos, int64_t programs) {
    Row &row = rowOf(entry);
    row.cost.store(estimateCost(find(entry), nanos, programs), std::memory_order_relaxed);
    row.entry.store(entry, std::memory_order_relaxed);
  }

private:
  struct Row {
    std::atomic<KernelEntry> entry{nullptr};
    std::atomic<int64_t> cost{0};
  };
  Row rows[256];
  Row &rowOf(KernelEntry entry) {
    return rows[(std::bit_cast<uintptr_t>(entry) >> 4) * 0x9E3779B97F4A7C15ull >> 56];
  }
  const Row &rowOf(KernelEntry entry) const { return const_cast<CostTable *>(this)->rowOf(entry); }
};

CostTable costs;

Streak streak;

template <class Run> void runTask(void *data, int task) {
  const BusySpan busy;
  static_cast<Run *>(data)->runTask(task);
}

int tasksFor(int64_t programs, const ThreadPool &pool) {
  return static_cast<int>(std::min<int64_t>(programs, pool.threadCount()));
}

void runShared(GridRun &run, const LaunchSharing &plan, WorkerPool &workers, int tasks) {
  Part parts[GridRun::partLimit];
  run.divide(tasks, plan.grain, plan.inParts, parts);
  workers.share(tasks, runTask<GridRun>, &run, WorkerPool::WhenBusy::Wait);
}

/// Those that wait for nobody.
void runPlain(GridRun &run, ThreadPool &pool) {
  if (run.programs == 1) {
    return runTask<GridRun>(&run, 0);
  }
  const int64_t cost = costs.find(run.entry);
  LaunchSharing plan{.isShared = pool.threadCount() > 1};
  if (plan.isShared && !run.isDescending) {
    plan = shareLaunch(cost, run.programs, [&] { return pool.threads().hasAwakeWorker(); }, streak);
  }
  if (!plan.isShared) {
    runTask<GridRun>(&run, 0);
  } else {
    runShared(run, plan, pool.threads(), tasksFor(run.programs, pool));
  }
  if (run.samplePrograms > 0 && !run.isDescending) {
    costs.record(run.entry, run.sampleNanos, run.samplePrograms);
  }
}

LaunchError outOfScratch(const Kernel &kernel) {
  return {"E0505", "kernel '" + kernel.info.name + "' needs " +
                       std::to_string(kernel.info.scratchBytes) +
                       " bytes of scratch memory for each thread, but the system gives none"};
}

LaunchError waitError(const Kernel &kernel, const CoroutineRun &run) {
  const std::string name = "kernel '" + kernel.info.name + "' ";
  const std::string waiting = std::to_string(run.waiting());
  std::string places;
  for (int i = 0; i < CoroutineRun::placeLimit && run.places[i]; ++i) {
    places += (places.empty() ? "; they wait at " : ", ") + std::string(run.places[i]);
  }
  switch (run.verdict.load()) {
  case WaitVerdict::None:
    return {};
  case WaitVerdict::NoMemory:
    return outOfScratch(kernel);
  case WaitVerdict::Full:
    return {"E0507", name + "has " + waiting + " programs that wait for others, the most that " +
                         std::to_string(coroutineBytesLimit) + " bytes have room for, and " +
                         std::to_string(run.unstarted()) + " that have not started" + places};
  case WaitVerdict::Deadlock:
    break;
  }
  char seconds[32];
  std::snprintf(seconds, sizeof seconds, "%g", static_cast<double>(run.patience) / 1e9);
  return {"E0413", name + "makes no progress: all " + waiting +
                       " programs that have not finished have waited in loops for " + seconds +
                       " seconds, and nothing that they read has changed" + places};
}

LaunchError runWaiting(const Kernel &kernel, GridRun &grid, ThreadPool &pool) {
  const int tasks = tasksFor(grid.programs, pool);
  CoroutineRun run(grid, pool.threadCount());
  pool.threads().share(tasks, runTask<CoroutineRun>, &run, WorkerPool::WhenBusy::Wait);
  return waitError(kernel, run);
}

} // namespace

LaunchError launchGrid(const Kernel &kernel, Grid grid, const uint64_t *slots, ThreadPool &pool,
                       ProgramOrder order) {
  GridRun run{.entry = kernel.entry,
              .slots = slots,
              .count = {static_cast<int32_t>(grid[0]), static_cast<int32_t>(grid[1]),
                        static_cast<int32_t>(grid[2])},
              .programs = grid[0] * grid[1] * grid[2],
              .takesRanges = kernel.info.takesRanges,
              .scratchBytes = (kernel.info.scratchBytes + 63) & ~uint64_t{63},
              .isDescending = order == ProgramOrder::Descending};
  LaunchError error;
  if (kernel.info.isBlocking) {
    error = runWaiting(kernel, run, pool);
  } else {
    runPlain(run, pool);
  }
  const bool isDone = run.finish();
  if (run.failure.hasFailed.load(std::memory_order_acquire)) {
    return assertionError(kernel.info.name, run.failure.id, run.failure.message);
  }
  return error || isDone ? error : outOfScratch(kernel);
}

} // namespace nereid::runtime
