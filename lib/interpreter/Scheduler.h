// SPDX-License-Identifier: Apache-2.0
// Runs the program instances of a grid as if at the same time, so that they may wait for each
// other. Each has a stack of its own; one runs until it yields, and who goes on is decided here,
// in the same way in every run with the same options.
//
// An instance yields in `scf.while`. It waits when one iteration after the other begins with the
// same loop-carried values while nobody changes memory: it would then repeat itself for ever, so it
// gets no turn until memory changes. When all started instances wait and no other can start, the
// grid cannot make progress (E0413). This is exact: what an instance does next depends on nothing
// but memory, the values outside its loop, which stay, and the loop-carried ones.
#pragma once

#include "lib/interpreter/Instance.h"
#include "runtime/core/ProgramMemory.h"
#include "runtime/core/coroutines/ContextSwitch.h"

#include <memory>
#include <random>

namespace nereid::interpreter {

/// How a loop that is running has gone so far; one for each time a loop is entered.
struct LoopHistory {
  uint64_t iterations = 0; ///< since memory changed last
  uint64_t changes = 0;    ///< Memory::changes() then
  uint64_t turn = 0;       ///< iterations since it last gave way
  Tiles carried;           ///< at the beginning of an earlier iteration of these
};

class Scheduler {
public:
  Scheduler(const Launch &launch, Diagnostics &diags);
  ~Scheduler();

  /// The whole grid; false after a diagnostic.
  bool run();

  /// At the beginning of each iteration of a loop, by the instance that runs. False when the launch
  /// is over, and the instance must end without a diagnostic.
  bool iterationBegins(mlir::Operation *loop, const Tiles &carried, LoopHistory &history);
  /// Before each access to memory, likewise.
  bool accessBegins();

private:
  struct Program;

  static void programMain(void *argument);
  int64_t unstarted() const { return programs - started; }
  bool canStart() const;
  bool start();
  bool isReady(const Program &program) const;
  /// Who goes on; null when all wait.
  Program *choose();
  void resume(Program &program);
  /// Out of the running program; false when the launch is over.
  bool yield();
  /// Ends all that have started.
  void abandon();
  void reportDeadlock();

  const Launch &launch;
  Diagnostics &diags;
  const int64_t programs;
  int64_t started = 0;
  std::vector<std::unique_ptr<Program>> live; ///< in the order in which they started
  size_t nextInRing = 0;
  Program *running = nullptr;
  runtime::StackContext own;
  std::mt19937_64 random;
  uint64_t accessesLeft = 1; ///< until the running program yields
  uint64_t idleTurns = 0;    ///< that ended in a loop, since a program started
  bool isOver = false;
};

} // namespace nereid::interpreter
