// SPDX-License-Identifier: Apache-2.0
// Keeps sleeping workers off the CPU of the thread that wakes them. Schedulers like to start a
// woken thread beside its waker, as if the two took turns; here both are about to compute, and on
// one CPU a launch on two threads takes longer than on one
// (docs/notes/2026-11-cpu-limit-launch.md).
#pragma once

#include <span>
#include <thread>
#include <vector>

#include <sched.h>

namespace nereid::runtime {

class WorkerPlacement {
public:
  /// Lets the workers run on every CPU they may use but the calling thread's. Costs a system call
  /// per worker when the caller has moved since the last time, else next to nothing.
  void leaveCallersCpu(std::span<std::thread> workers);

private:
  struct Mask {
    cpu_set_t own, set; ///< what the worker had, and what was made of it
  };
  std::vector<Mask> masks;
  int excluded = -1;
};

} // namespace nereid::runtime
