// SPDX-License-Identifier: Apache-2.0
// Affinity by sched_getaffinity, quota by cgroup v2's cpu.max or v1's cfs files.
#include "runtime/CpuCount.h"

#include <charconv>
#include <cstdlib>
#include <fstream>
#include <sched.h>
#include <sstream>
#include <unistd.h>

namespace nereid::runtime {
namespace {

std::optional<int> affinityCount() {
  for (int size = 1024; size <= 1 << 20; size *= 2) {
    cpu_set_t *set = CPU_ALLOC(size);
    if (!set) {
      return std::nullopt;
    }
    const size_t bytes = CPU_ALLOC_SIZE(size);
    const bool isKnown = ::sched_getaffinity(0, bytes, set) == 0;
    const int count = isKnown ? CPU_COUNT_S(bytes, set) : 0;
    CPU_FREE(set);
    if (isKnown) {
      return count;
    }
  }
  return std::nullopt;
}

std::string firstLine(const std::string &path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

std::optional<int64_t> wholeNumber(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) {
    return std::nullopt;
  }
  return value;
}

std::optional<int> smaller(std::optional<int> a, std::optional<int> b) {
  return a && b ? (*a < *b ? a : b) : a ? a : b;
}

std::optional<int> cgroupCount() {
  std::ifstream groups("/proc/self/cgroup");
  std::optional<int> least;
  for (std::string line; std::getline(groups, line);) {
    const size_t first = line.find(':');
    const size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) {
      continue;
    }
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string group = line.substr(second + 1);
    if (controllers.empty()) {
      least = smaller(least, smallestQuota("/sys/fs/cgroup", group));
    } else if (("," + controllers + ",").find(",cpu,") != std::string::npos) {
      // In a container the group's own folder is the root of the mount.
      for (const std::string &below : {group, std::string()}) {
        const std::string folder = "/sys/fs/cgroup/cpu" + below;
        const std::string quota = firstLine(folder + "/cpu.cfs_quota_us");
        const std::string period = firstLine(folder + "/cpu.cfs_period_us");
        least = smaller(least, cpusFromQuota(quota + " " + period));
      }
    }
  }
  return least;
}

} // namespace

std::optional<int> cpusFromQuota(std::string_view cpuMax) {
  while (!cpuMax.empty() && (cpuMax.back() == '\n' || cpuMax.back() == ' ')) {
    cpuMax.remove_suffix(1);
  }
  const size_t space = cpuMax.find(' ');
  if (space == std::string_view::npos) {
    return std::nullopt;
  }
  const auto quota = wholeNumber(cpuMax.substr(0, space));
  const auto period = wholeNumber(cpuMax.substr(space + 1));
  if (!quota || !period || *quota <= 0 || *period <= 0) {
    return std::nullopt;
  }
  const int64_t cpus = *quota / *period + (*quota % *period != 0);
  return cpus < 1 ? 1 : cpus > 1 << 20 ? 1 << 20 : static_cast<int>(cpus);
}

std::optional<int> smallestQuota(const std::string &mount, std::string group) {
  std::optional<int> least;
  while (true) {
    const std::string folder = group == "/" ? mount : mount + group;
    least = smaller(least, cpusFromQuota(firstLine(folder + "/cpu.max")));
    const size_t slash = group.rfind('/');
    if (slash == std::string::npos || group == "/" || group.empty()) {
      return least;
    }
    group.resize(slash == 0 ? 1 : slash);
  }
}

int usableCpuCount() {
  const long online = ::sysconf(_SC_NPROCESSORS_ONLN);
  std::optional<int> count = affinityCount();
  if (!count || *count < 1) {
    count = online > 0 ? static_cast<int>(online) : 1;
  }
  return *smaller(count, cgroupCount());
}

int threadCountFromEnvironment() {
  const char *text = std::getenv("NEREID_THREADS");
  const auto value = text ? wholeNumber(text) : std::nullopt;
  return value && *value >= 1 && *value <= 4096 ? static_cast<int>(*value) : 0;
}

} // namespace nereid::runtime
