// SPDX-License-Identifier: Apache-2.0
#include "runtime/WorkerPlacement.h"

#include <pthread.h>

namespace nereid::runtime {

void WorkerPlacement::leaveCallersCpu(std::span<std::thread> workers) {
  const int cpu = ::sched_getcpu();
  if (cpu < 0 || cpu >= CPU_SETSIZE || (cpu == excluded && masks.size() == workers.size())) {
    return;
  }
  excluded = cpu;
  const size_t known = masks.size();
  masks.resize(workers.size());
  for (size_t i = 0; i < workers.size(); ++i) {
    const pthread_t thread = workers[i].native_handle();
    cpu_set_t current;
    if (::pthread_getaffinity_np(thread, sizeof current, &current) != 0) {
      continue; // more CPUs than a set holds: the scheduler decides
    }
    Mask &mask = masks[i];
    if (i >= known || !CPU_EQUAL(&current, &mask.set)) {
      mask.own = current; // new, or changed from outside
    }
    mask.set = mask.own;
    CPU_CLR(static_cast<unsigned>(cpu), &mask.set);
    if (CPU_COUNT(&mask.set) == 0) {
      mask.set = mask.own;
    }
    ::pthread_setaffinity_np(thread, sizeof mask.set, &mask.set);
  }
}

} // namespace nereid::runtime
