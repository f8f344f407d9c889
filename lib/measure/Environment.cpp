// SPDX-License-Identifier: Apache-2.0
#include "lib/measure/Environment.h"

#include "lib/support/Version.h"
#include "runtime/ThreadPool.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cstdlib>
#include <ctime>

#include <sys/utsname.h>

namespace nereid::measure {

Environment describeEnvironment(const Chip &chip) {
  Environment environment;
  environment.chip = chip.name;
  environment.fingerprint = chip.fingerprint;
  utsname system{};
  if (uname(&system) == 0) {
    environment.system = fmt::format("{} {} {}", system.sysname, system.release, system.machine);
  }
  environment.compiler = compilerText();
  environment.version = versionText();
  environment.revision = revisionText();
  environment.date = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
  environment.threads = runtime::defaultPool().threadCount();
  double load[1] = {0};
  if (getloadavg(load, 1) == 1) {
    environment.loadAverage = load[0];
  }
  environment.copyBandwidth = chip.copyBandwidth;
  return environment;
}

std::string toJson(const Environment &environment) {
  nlohmann::ordered_json json;
  json["chip"] = environment.chip;
  json["fingerprint"] = environment.fingerprint;
  json["system"] = environment.system;
  json["compiler"] = environment.compiler;
  json["nereid"] = environment.version;
  json["revision"] = environment.revision;
  json["date"] = environment.date;
  json["threads"] = environment.threads;
  json["load_average"] = environment.loadAverage;
  json["copy_bandwidth"] = environment.copyBandwidth;
  return json.dump(2);
}

} // namespace nereid::measure
