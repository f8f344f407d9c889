// SPDX-License-Identifier: Apache-2.0
// One launch of a grid in work. It is run as tasks, on whatever threads: each takes ranges of
// programs, x fastest, until none is left, so that it does not matter which of them run at the same
// time. Shared by both runtimes; no C++ library.
#pragma once

#include "runtime/core/ItemParts.h"
#include "runtime/core/KernelEntry.h"
#include "runtime/core/LaunchFrame.h"

namespace nereid::runtime {

struct GridRun {
  KernelEntry entry;
  const uint64_t *slots; ///< of the entry
  int32_t count[3];      ///< the grid
  int64_t programs;      ///< in it, at least 1
  bool takesRanges;
  uint64_t scratchBytes; ///< of a program, a multiple of 64
  /// Memory for so many tasks as there are; null = runtime/core/ProgramMemory.h's.
  uint8_t *givenScratch = nullptr;
  const LinePrinter *printer = nullptr; ///< null = standard output
  bool isDescending = false;            ///< from the last program to the first

  // How the programs are divided. Without divide() one task runs all of them.
  static constexpr int partLimit = 64;
  int tasks = 1;
  int64_t grain = 1; ///< least number of programs that a task takes at a time
  Part *parts = nullptr;
  int partCount = 0;

  // What came of it.
  int64_t sampleNanos = 0, samplePrograms = 0; ///< of the first task; 0 of a single program
  std::atomic<int64_t> finished{0};            ///< programs
  std::atomic<bool> lacksMemory{false}; ///< of a task at least; others may have made up for it
  LaunchFailure failure = {};
  PrivatisedList privatised{programs};

  /// Among `taskCount` tasks, neighbouring items to all or a part to each. `storage` has
  /// min(taskCount, partLimit) elements.
  void divide(int taskCount, int64_t programsAtATime, bool inParts, Part *storage);
  /// Runs what is left for one task, with a number of its own.
  void runTask(int task);
  /// When no task runs any more: adds the private sums. False when programs have not run.
  bool finish();

private:
  void runRange(int64_t begin, int64_t end, uint8_t *scratch);
  void runGuarded(int task, uint8_t *scratch, int64_t &done);
};

} // namespace nereid::runtime
