// SPDX-License-Identifier: Apache-2.0
// Affinity by sched_getaffinity, quota by cgroup v2's cpu.max or v1's cfs files.
#include "runtime/core/CpuCount.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sched.h>
#include <unistd.h>

namespace nereid::runtime {
namespace {

/// Of a path, or of a line of /proc/self/cgroup. A longer one sets no limit.
constexpr size_t textBytes = 4096;

int affinityCount() {
  for (int size = 1024; size <= 1 << 20; size *= 2) {
    cpu_set_t *set = CPU_ALLOC(static_cast<size_t>(size));
    if (!set) {
      return 0;
    }
    const size_t bytes = CPU_ALLOC_SIZE(size);
    const int count = sched_getaffinity(0, bytes, set) == 0 ? CPU_COUNT_S(bytes, set) : 0;
    CPU_FREE(set);
    if (count > 0) {
      return count;
    }
  }
  return 0;
}

/// Without its end; empty when there is none.
void readLine(std::FILE *file, char *line) {
  if (!file || !std::fgets(line, textBytes, file)) {
    *line = '\0';
  }
  line[std::strcspn(line, "\n")] = '\0';
}

/// Of the file `name` in folder `mount` + `group`.
void readFirstLine(const char *mount, const char *group, const char *name, char *line) {
  char path[textBytes];
  const int length = std::snprintf(path, sizeof path, "%s%s/%s", mount, group, name);
  std::FILE *file = length < static_cast<int>(sizeof path) ? std::fopen(path, "re") : nullptr;
  readLine(file, line);
  if (file) {
    std::fclose(file);
  }
}

/// What stands between `text` and the first character that is no digit; -1 when that is nothing or
/// no number.
int64_t wholeNumber(const char *text, const char *&end) {
  int64_t value = *text >= '0' && *text <= '9' ? 0 : -1;
  for (end = text; *end >= '0' && *end <= '9' && value <= INT64_MAX / 10 - 1; ++end) {
    value = value * 10 + (*end - '0');
  }
  return value;
}

/// Of two limits, either of which may be none.
int smaller(int a, int b) { return a > 0 && (b <= 0 || a < b) ? a : b; }

int quotaOfVersion1(const char *group) {
  constexpr const char *mount = "/sys/fs/cgroup/cpu";
  char quota[textBytes], period[textBytes], both[2 * textBytes];
  readFirstLine(mount, group, "cpu.cfs_quota_us", quota);
  readFirstLine(mount, group, "cpu.cfs_period_us", period);
  std::snprintf(both, sizeof both, "%s %s", quota, period);
  return cpusFromQuota(both);
}

/// `line` is "NUMBER:CONTROLLERS:GROUP"; version 2 has no controllers.
int quotaOfGroup(char *line) {
  char *controllers = std::strchr(line, ':');
  char *group = controllers ? std::strchr(controllers + 1, ':') : nullptr;
  if (!group) {
    return 0;
  }
  *controllers++ = *group++ = '\0';
  if (*controllers == '\0') {
    return smallestQuota("/sys/fs/cgroup", group);
  }
  while (controllers) {
    if (std::strcmp(strsep(&controllers, ","), "cpu") == 0) {
      // In a container the group's own folder is the root of the mount.
      return smaller(quotaOfVersion1(group), quotaOfVersion1(""));
    }
  }
  return 0;
}

int cgroupCount() {
  std::FILE *groups = std::fopen("/proc/self/cgroup", "re");
  int least = 0;
  char line[textBytes];
  for (readLine(groups, line); *line; readLine(groups, line)) {
    least = smaller(least, quotaOfGroup(line));
  }
  if (groups) {
    std::fclose(groups);
  }
  return least;
}

} // namespace

int cpusFromQuota(const char *cpuMax) {
  const char *end = cpuMax;
  const int64_t quota = wholeNumber(cpuMax, end);
  const int64_t period = *end == ' ' ? wholeNumber(end + 1, end) : 0;
  if (quota <= 0 || period <= 0 || end[std::strspn(end, " \n")] != '\0') {
    return 0;
  }
  const int64_t cpus = quota / period + (quota % period != 0);
  return cpus > 1 << 20 ? 1 << 20 : static_cast<int>(cpus);
}

int smallestQuota(const char *mount, const char *group) {
  char above[textBytes], line[textBytes];
  const int length = std::snprintf(above, sizeof above, "%s", std::strcmp(group, "/") ? group : "");
  if (length >= static_cast<int>(sizeof above)) {
    return 0;
  }
  int least = 0;
  while (true) {
    readFirstLine(mount, above, "cpu.max", line);
    least = smaller(least, cpusFromQuota(line));
    char *slash = std::strrchr(above, '/');
    if (!slash) {
      return least;
    }
    *slash = '\0';
  }
}

int usableCpuCount() {
  int count = affinityCount();
  if (count < 1) {
    const long online = sysconf(_SC_NPROCESSORS_ONLN);
    count = online > 0 ? static_cast<int>(online) : 1;
  }
  return smaller(count, cgroupCount());
}

int threadCountFromEnvironment() {
  const char *text = std::getenv("NEREID_THREADS");
  const char *end = text;
  const int64_t value = text ? wholeNumber(text, end) : 0;
  return value >= 1 && value <= 4096 && *end == '\0' ? static_cast<int>(value) : 0;
}

} // namespace nereid::runtime
