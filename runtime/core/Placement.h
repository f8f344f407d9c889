// SPDX-License-Identifier: Apache-2.0
// Keeps sleeping workers off the CPU of the thread that wakes them. Schedulers like to start a
// woken thread beside its waker, as if the two took turns; here both are about to compute, and on
// one CPU a launch on two threads takes longer than on one
// (docs/notes/2026-11-cpu-limit-launch.md). Shared by both runtimes; no C++ library.
#pragma once

#include <pthread.h>
#include <sched.h>

namespace nereid::runtime {

struct PlacedWorker {
  pthread_t thread;
  cpu_set_t own, set; ///< the CPUs that the worker had, and what was made of them
  bool isPlaced;
};

/// Lets the workers run on every CPU they may use but the calling thread's. `excluded` keeps that
/// CPU's number; system calls are made when it has changed only.
inline void leaveCallersCpu(PlacedWorker *workers, int count, int &excluded) {
  const int cpu = sched_getcpu();
  if (cpu < 0 || cpu >= CPU_SETSIZE || cpu == excluded) {
    return;
  }
  excluded = cpu;
  for (int i = 0; i < count; ++i) {
    PlacedWorker &worker = workers[i];
    cpu_set_t current;
    if (pthread_getaffinity_np(worker.thread, sizeof current, &current) != 0) {
      continue; // more CPUs than a set holds: the scheduler decides
    }
    if (!worker.isPlaced || !CPU_EQUAL(&current, &worker.set)) {
      worker.own = current; // new, or changed from outside
    }
    worker.set = worker.own;
    CPU_CLR(static_cast<unsigned>(cpu), &worker.set);
    if (CPU_COUNT(&worker.set) == 0) {
      worker.set = worker.own;
    }
    worker.isPlaced = pthread_setaffinity_np(worker.thread, sizeof worker.set, &worker.set) == 0;
  }
}

} // namespace nereid::runtime
