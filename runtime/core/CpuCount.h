// SPDX-License-Identifier: Apache-2.0
// How many threads are worth starting: the CPUs in this process' affinity mask, less when a cgroup
// limits its CPU time. Parsing is separate from reading so that it can be tested. Shared by both
// runtimes; no C++ library.
#pragma once

namespace nereid::runtime {

/// At least 1.
int usableCpuCount();

/// NEREID_THREADS when it is a whole number from 1 to 4096, else 0 (= decide by the machine).
int threadCountFromEnvironment();

/// CPUs granted by the text of cgroup v2's cpu.max ("150000 100000" is 2, rounded up); 0 = not
/// limited, of "max" and of a text of another form.
int cpusFromQuota(const char *cpuMax);

/// The smallest quota of the cgroup `group` (a path such as "/user.slice") and all above it, below
/// the mounted hierarchy `mount`; 0 = none.
int smallestQuota(const char *mount, const char *group);

} // namespace nereid::runtime
