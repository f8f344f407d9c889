// SPDX-License-Identifier: Apache-2.0
#include "runtime/core/GridRun.h"

#include "runtime/core/Clock.h"
#include "runtime/core/ProgramMemory.h"
#include "runtime/core/ProgramWalk.h"
#include "runtime/core/StoreFence.h"

namespace nereid::runtime {

void GridRun::divide(int taskCount, int64_t programsAtATime, bool inParts, Part *storage) {
  tasks = taskCount;
  grain = programsAtATime;
  parts = storage;
  partCount = !inParts ? 1 : tasks < partLimit ? tasks : partLimit;
  runtime::divide(programs, parts, partCount);
}

void GridRun::runRange(int64_t begin, int64_t end, uint8_t *scratch) {
  if (!isDescending) {
    walkPrograms(begin, end, takesRanges, count, entry, slots, scratch, failure.hasFailed);
    return;
  }
  for (int64_t i = begin; i < end; ++i) {
    walkPrograms(programs - 1 - i, programs - i, takesRanges, count, entry, slots, scratch,
                 failure.hasFailed);
  }
}

/// A failed assertion comes back to the jump's target; generated code has no destructors to skip. A
/// function of its own, whose caller's variables the jump cannot touch.
[[gnu::noinline]] void GridRun::runGuarded(int task, uint8_t *scratch, int64_t &done) {
  LaunchFrame frame;
  frame.failure = &failure;
  frame.privatised = &privatised;
  frame.worker = task;
  frame.printer = printer;
  LaunchFrame *const outer = currentLaunchFrame;
  currentLaunchFrame = &frame;
  if (_setjmp(frame.exit) == 0) {
    if (!parts) {
      runRange(0, programs, scratch);
      done = programs;
    }
    for (int64_t begin, end;
         parts && takeRange(parts, partCount, task, tasks, grain, begin, end);) {
      runRange(begin, end, scratch);
      done += end - begin;
    }
  }
  currentLaunchFrame = outer;
  finishStreamingStores();
}

void GridRun::runTask(int task) {
  ProgramMemory memory;
  uint8_t *scratch = nullptr;
  if (givenScratch) {
    scratch = givenScratch + static_cast<uint64_t>(task) * scratchBytes;
  } else if (scratchBytes > 0) {
    memory = takeScratch(scratchBytes);
    if (!memory) {
      lacksMemory.store(true, std::memory_order_relaxed);
      return;
    }
    scratch = memory.scratch();
  }
  // One task is enough to know what a program takes, and a single one cannot be shared.
  const bool isSample = task == 0 && programs > 1;
  const int64_t start = isSample ? nowNanos() : 0;
  int64_t done = 0;
  runGuarded(task, scratch, done);
  if (isSample) {
    sampleNanos = nowNanos() - start;
    samplePrograms = done;
  }
  giveBack(memory);
  finished.fetch_add(done, std::memory_order_relaxed);
}

bool GridRun::finish() {
  privatised.finish();
  return finished.load(std::memory_order_relaxed) == programs;
}

} // namespace nereid::runtime
