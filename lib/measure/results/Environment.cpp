// SPDX-License-Identifier: Apache-2.0
#include "lib/measure/results/Environment.h"

#include "lib/support/Knobs.h"
#include "lib/support/Version.h"
#include "runtime/ThreadPool.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdlib>
#include <ctime>

#include <sys/utsname.h>

namespace nereid::measure {

Environment describeEnvironment(const Machine &chip) {
  Environment environment;
  environment.chip = chip.name;
  environment.fingerprint = chip.fingerprint;
  utsname system{};
  if (uname(&system) == 0) {
    environment.system = fmt::format("{} {} {}", system.sysname, system.release, system.machine);
  }
  environment.compiler = compilerText();
  environment.flags = flagsText();
  for (const Knob &knob : allKnobs()) {
    if (const char *value = std::getenv(std::string(knob.variable).c_str())) {
      environment.knobs[std::string(knob.variable)] = value;
    }
  }
  environment.version = versionText();
  environment.revision = revisionText();
  environment.date = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
  environment.threads = runtime::defaultPool().threadCount();
  environment.state = readSystemState();
  environment.copyBandwidth = chip.copyBandwidth;
  environment.calibration = chip.calibration;
  return environment;
}

template <class Value> static nlohmann::ordered_json orNull(const std::optional<Value> &value) {
  return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json();
}

/// The slowest and the quickest processor's clock, and what it may reach.
static nlohmann::ordered_json clocksJson(const SystemState &state) {
  nlohmann::ordered_json json = {{"minimum", nullptr}, {"maximum", nullptr}};
  if (!state.clocksMegahertz.empty()) {
    const auto [low, high] =
        std::minmax_element(state.clocksMegahertz.begin(), state.clocksMegahertz.end());
    json = {{"minimum", *low}, {"maximum", *high}};
  }
  json["highest"] = orNull(state.highestMegahertz);
  return json;
}

std::string toJson(const Environment &environment) {
  nlohmann::ordered_json json;
  json["chip"] = environment.chip;
  json["fingerprint"] = environment.fingerprint;
  json["system"] = environment.system;
  json["compiler"] = environment.compiler;
  json["flags"] = environment.flags;
  json["nereid"] = environment.version;
  json["revision"] = environment.revision;
  json["date"] = environment.date;
  json["knobs"] = nlohmann::ordered_json::object();
  for (const auto &[name, value] : environment.knobs) {
    json["knobs"][name] = value;
  }
  json["threads"] = environment.threads;
  json["load_average"] = orNull(environment.state.loadAverage);
  json["memory_bytes"] = orNull(environment.state.memoryBytes);
  json["memory_limit_bytes"] = orNull(environment.state.memoryLimitBytes);
  json["clock_megahertz"] = clocksJson(environment.state);
  json["governor"] = orNull(environment.state.governor);
  const double rate = environment.copyBandwidth; // 0 where no rates were measured
  json["copy_bandwidth"] = rate > 0 ? nlohmann::ordered_json(rate) : nlohmann::ordered_json();
  json["calibrations"] = environment.calibration.times;
  const std::string &why = environment.calibration.uncertainty;
  json["calibration_uncertainty"] =
      why.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(why);
  return json.dump(2);
}

} // namespace nereid::measure
