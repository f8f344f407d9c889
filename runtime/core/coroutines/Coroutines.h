// SPDX-License-Identifier: Apache-2.0
// Runs a grid whose programs may wait for each other: each program has a stack and scratch memory
// of its own and yields in its blocking loops, so that every program of the grid gets its turn,
// however few threads there are. Shared by both runtimes; no C++ library.
//
// A task runs its programs in turns. It starts further ones, lowest id first, when it has none, and
// a few after each round in which programs only waited: a program may wait for any other, but most
// wait for little, and their memory is soon free again.
#pragma once

#include "runtime/core/GridRun.h"
#include "runtime/core/coroutines/StallWatch.h"

#include <pthread.h>

namespace nereid::runtime {

/// What all waiting programs of a launch together may take for stacks and scratch.
inline constexpr uint64_t coroutineBytesLimit = uint64_t{1} << 30;

/// What ended a launch before its programs did; a failed assertion is told by GridRun.
enum class WaitVerdict : uint8_t {
  None,
  Deadlock, ///< no program could get on for CoroutineRun::patience
  Full,     ///< nor for a second, and there is no memory to start the others
  NoMemory, ///< not even for one program
};

struct CoroutineRun {
  /// For `taskCount` tasks, min(programs, threads), each of which may run but once.
  CoroutineRun(GridRun &grid, int taskCount);

  GridRun &grid;
  StallWatch watch;
  /// NEREID_DEADLOCK_SECONDS (default 10) in nanoseconds; 0 = for ever.
  const int64_t patience;
  std::atomic<int64_t> next{0};   ///< first program not yet started
  std::atomic<uint64_t> bytes{0}; ///< of the memory the tasks hold
  std::atomic<WaitVerdict> verdict{WaitVerdict::None};

  /// Where programs waited when the launch was given up: the first few in alphabetical order, then
  /// null.
  static constexpr int placeLimit = 8;
  const char *places[placeLimit] = {};
  pthread_mutex_t placesLock = PTHREAD_MUTEX_INITIALIZER;

  /// Runs programs until all of the grid have been started and its own are done.
  void runTask(int task);
  void notePlace(const char *place);
  bool isOver() const {
    return grid.failure.hasFailed.load(std::memory_order_relaxed) != 0 ||
           verdict.load(std::memory_order_relaxed) != WaitVerdict::None;
  }
  /// Programs that have begun and not ended, and those that have not begun.
  int64_t waiting() const;
  int64_t unstarted() const;
};

} // namespace nereid::runtime
