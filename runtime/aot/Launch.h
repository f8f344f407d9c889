// SPDX-License-Identifier: Apache-2.0
// The parts of a launch, each in a file of its own: choosing what to run (Select.cpp), the memory
// of a thread (Scratch.cpp), running the programs of a grid (Run.cpp) and programs that wait for
// each other (Coroutines.cpp). Inside of the runtime.
#pragma once

#include "nereid/aot.h"
#include "runtime/ItemParts.h"
#include "runtime/aot/Table.h"
#include "runtime/core/LaunchFrame.h"

#include <atomic>
#include <cstdint>

namespace nereid::aot {

/// Specialization and target by number.
struct Choice {
  int64_t specialization = 0, target = 0;
};

/// By the arguments and this machine; on failure writes the message.
nereid_aot_status select(const Table &table, const uint64_t *slots,
                         const nereid_aot_options *options, Choice &choice);

/// `given` or the specialization's own; checks sizes. Empty grids are allowed.
nereid_aot_status findGrid(const Table &table, const Choice &choice, const uint64_t *slots,
                           const int64_t *given, const nereid_aot_options *options,
                           int64_t grid[3]);

/// One launch in work, shared by its tasks.
struct Run {
  KernelEntry entry;
  const uint64_t *slots; ///< of the entry
  int32_t count[3];
  int64_t programs;
  int64_t grain; ///< least number of programs that a task takes at a time
  bool takesRanges;
  int tasks;
  uint64_t scratchBytes;
  const nereid_aot_options *options;
  static constexpr int partLimit = 16;
  runtime::Part parts[partLimit] = {}; ///< the programs
  int partCount = 1;
  int64_t sampleNanos = 0, samplePrograms = 0; ///< of the first task
  std::atomic<int64_t> finished{0};            ///< programs
  std::atomic<bool> lacksMemory{false};
  runtime::LaunchFailure failure = {};
  runtime::LinePrinter printer = {}; ///< the options'; without function when they have none
  runtime::DeferredList deferred = {};
};

/// What programs of the run that `task` runs report to.
inline runtime::LaunchFrame frameOf(Run &run, int task) {
  return {&run.failure,  {},   nullptr,
          &run.deferred, task, run.printer.print ? &run.printer : nullptr};
}

/// Runs all programs on the options' pool. `slots` are the entry's own.
nereid_aot_status runGrid(const Table &table, const Choice &choice, const uint64_t *slots,
                          const int64_t grid[3], const nereid_aot_options *options);

/// The same for programs that may wait for each other. False when the pool failed; `status` is what
/// else went wrong, with its message.
bool runCoroutines(const Table &table, Run &run, const nereid_aot_pool &pool,
                   nereid_aot_status &status);

/// Splits the run into tasks on the pool: task(run, index). False when the pool failed.
bool runTasks(const nereid_aot_pool &pool, int tasks, void (*task)(void *, int), void *data);

/// Memory of at least `bytes`, 64-byte aligned, kept for further launches when given back.
/// Null when there is none.
uint8_t *takeScratch(uint64_t bytes);
void giveScratch(uint8_t *memory);
void freeScratch();

/// The process's pool, made at the first call; one without threads when memory is short.
const nereid_aot_pool &defaultPool();
void destroyDefaultPool();
/// Whether a worker looks for work just now; false of pools that are not this library's.
bool hasAwakeWorker(const nereid_aot_pool &pool);

} // namespace nereid::aot
