// SPDX-License-Identifier: Apache-2.0
// What the operating system says of the processor: /proc/cpuinfo, /sys and the affinity mask.
#include "lib/machine/Machine.h"

#include "runtime/cpu/CpuFeatures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <thread>

#include <sched.h>
#include <unistd.h>

namespace nereid {

namespace {

std::string firstLine(const std::string &path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

/// Fields of the first processor of /proc/cpuinfo.
std::map<std::string, std::string> cpuInfo() {
  std::map<std::string, std::string> fields;
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line) && !line.empty();) {
    size_t colon = line.find(':');
    if (colon == std::string::npos) {
      continue;
    }
    std::string key = line.substr(0, line.find_last_not_of(" \t", colon - 1) + 1);
    size_t start = line.find_first_not_of(' ', colon + 1);
    fields[key] = start == std::string::npos ? "" : line.substr(start);
  }
  return fields;
}

/// "48K", "32M" as bytes.
int64_t parseSize(const std::string &text) {
  int64_t value = 0;
  std::stringstream stream(text);
  char unit = 0;
  stream >> value >> unit;
  return unit == 'K' ? value << 10 : unit == 'M' ? value << 20 : unit == 'G' ? value << 30 : value;
}

/// Number of CPUs in a list such as "0-1,4".
int countCpus(const std::string &list) {
  int count = 0;
  std::stringstream stream(list);
  for (std::string range; std::getline(stream, range, ',');) {
    int first = 0, last = 0;
    int fields = std::sscanf(range.c_str(), "%d-%d", &first, &last);
    count += fields == 2 ? last - first + 1 : fields == 1 ? 1 : 0;
  }
  return std::max(count, 1);
}

std::vector<CacheLevel> readCaches() {
  std::vector<CacheLevel> caches;
  const std::string root = "/sys/devices/system/cpu/cpu0/cache/index";
  for (int i = 0; i < 8; ++i) {
    std::string base = root + std::to_string(i) + "/";
    std::string type = firstLine(base + "type"), level = firstLine(base + "level");
    if (level.empty() || type == "Instruction") {
      continue;
    }
    CacheLevel cache;
    cache.name = "L" + level + (level == "1" ? "d" : "");
    cache.bytes = parseSize(firstLine(base + "size"));
    if (cache.bytes <= 0) {
      continue; // a guest whose host does not say
    }
    cache.sharedBy = countCpus(firstLine(base + "shared_cpu_list"));
    caches.push_back(cache);
  }
  return caches;
}

bool contains(const std::vector<std::string> &features, const std::string &name) {
  return std::find(features.begin(), features.end(), name) != features.end();
}

} // namespace

int vectorBytesOf(const std::vector<std::string> &features) {
  const bool hasAvx512 = contains(features, "avx512f") && contains(features, "avx512vl");
  int most = hasAvx512 ? 64 : contains(features, "avx2") ? 32 : 16;
  for (const std::string &name : features) {
    // "sve512": registers of at least so many bits; "zvl512b" the same.
    int bits = 0;
    const bool isLength = std::sscanf(name.c_str(), "sve%d", &bits) == 1 ||
                          std::sscanf(name.c_str(), "zvl%d", &bits) == 1;
    most = isLength ? std::max(most, bits / 8) : most;
  }
  return most;
}

Machine detectMachine() {
  Machine machine;
  auto info = cpuInfo();
  machine.name = info.count("model name") > 0 ? info["model name"] : "unknown CPU";
  machine.architecture = runtime::cpuArchitecture();
  std::stringstream flags(info["flags"]);
  for (std::string flag; flags >> flag;) {
    machine.features.push_back(flag);
  }
  std::sort(machine.features.begin(), machine.features.end());
  cpu_set_t mask;
  CPU_ZERO(&mask);
  machine.cores = sched_getaffinity(0, sizeof mask, &mask) == 0
                      ? CPU_COUNT(&mask)
                      : static_cast<int>(std::thread::hardware_concurrency());
  machine.vectorBytes =
      std::max(vectorBytesOf(machine.features), vectorBytesOf(runtime::presentCpuFeatures()));
  machine.vectorRegisters = machine.vectorBytes == 64 || machine.architecture != "x86-64" ? 32 : 16;
  machine.memoryBytes = static_cast<int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGE_SIZE);
  machine.caches = readCaches();
  machine.fingerprint = fmt::format("{} family {} model {} stepping {} cores {} vector {}",
                                    machine.name, info["cpu family"], info["model"],
                                    info["stepping"], machine.cores, machine.vectorBytes);
  return machine;
}

} // namespace nereid
