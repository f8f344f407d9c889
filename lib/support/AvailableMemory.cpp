// SPDX-License-Identifier: Apache-2.0
#include "lib/support/AvailableMemory.h"

#include <algorithm>
#include <fstream>
#include <limits>
#include <string>

#include <sys/resource.h>
#include <unistd.h>

namespace nereid {

/// Of what a limit on the process's address space leaves; infinite without one.
static double addressSpaceLeft() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) {
    return std::numeric_limits<double>::infinity();
  }
  double pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  const double used = pages * static_cast<double>(::sysconf(_SC_PAGESIZE));
  return std::max(0.0, static_cast<double>(limit.rlim_cur) - used);
}

double availableMemory() {
  double available = 1e18;
  std::ifstream info("/proc/meminfo");
  for (std::string key; info >> key;) {
    double kibibytes = 0;
    if (key == "MemAvailable:" && info >> kibibytes) {
      available = kibibytes * 1024;
    }
    info.ignore(256, '\n');
  }
  double limit = 0, used = 0;
  std::ifstream limitFile("/sys/fs/cgroup/memory.max"), usedFile("/sys/fs/cgroup/memory.current");
  if (limitFile >> limit && usedFile >> used) {
    available = std::min(available, limit - used);
  }
  return std::min(available, addressSpaceLeft());
}

} // namespace nereid
