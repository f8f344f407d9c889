// SPDX-License-Identifier: Apache-2.0
// Descriptor in and out of JSON: the one place that reads one and judges what it says. Each key is
// asked for with the range of what a chip can have; the first that is missing, of another type or
// out of its range becomes the diagnostic.
#include "lib/machine/Machine.h"

#include "lib/support/AtomicFile.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <bit>
#include <cmath>
#include <optional>
#include <set>

namespace nereid {

using Json = nlohmann::ordered_json;

namespace {

constexpr int schemaVersion = 1;
constexpr double mostRate = 1e18, mostBytes = 1e18, mostCount = 1e6, mostSeconds = 1;
/// Longest text of a value in a message.
constexpr size_t longestValue = 60;

struct Range {
  double least = 0, most = 0;
};

std::string shown(const Json &value) {
  // Bytes that are no UTF-8 are replaced: dump() would throw at them.
  std::string text = value.dump(-1, ' ', false, Json::error_handler_t::replace);
  return text.size() <= longestValue ? text : text.substr(0, longestValue) + "…";
}

/// One object of the file. After the first problem every getter returns its fallback.
class Fields {
public:
  Fields(const Json &object, std::string place, const std::string &path,
         std::optional<Diagnostic> &problem)
      : object(object), place(std::move(place)), path(path), problem(problem) {
    if (!object.is_object()) {
      report(this->place.empty() ? "the file" : this->place, "an object", object, "");
    }
  }

  std::string text(const char *key) { return textOr(key, std::nullopt); }
  std::string text(const char *key, std::string fallback) { return textOr(key, fallback); }

  /// A whole number.
  int64_t whole(const char *key, Range range, const char *help,
                std::optional<int64_t> fallback = std::nullopt) {
    const Json *value = find(key, fallback.has_value());
    if (value == nullptr) {
      return fallback.value_or(static_cast<int64_t>(range.least));
    }
    const double number = value->is_number() ? value->get<double>() : std::nan("");
    if (!isIn(number, range) || number != std::floor(number)) {
      report(named(key), fmt::format("a whole number from {:g} to {:g}", range.least, range.most),
             *value, help);
      return static_cast<int64_t>(range.least);
    }
    return static_cast<int64_t>(number);
  }

  double rate(const char *key, std::optional<double> fallback = std::nullopt) {
    const Json *value = find(key, fallback.has_value());
    return value == nullptr ? fallback.value_or(0) : rateOf(*value, named(key));
  }

  /// 0 where it is missing.
  double seconds(const char *key) {
    const Json *value = find(key, true);
    const double number = value != nullptr && value->is_number() ? value->get<double>() : 0;
    if (value != nullptr && !(value->is_number() && isIn(number, {0, mostSeconds}))) {
      report(named(key), fmt::format("seconds from 0 to {:g}", mostSeconds), *value,
             "write what was measured, for example 5e-6, or 0 where it is not known");
    }
    return number;
  }

  std::map<std::string, double> rates(const char *key, bool isOptional) {
    std::map<std::string, double> all;
    const Json *value = find(key, isOptional);
    if (value != nullptr && !value->is_object()) {
      report(named(key), "an object with a rate for each type", *value,
             "write for example {\"fp32\": 448e9}");
    } else if (value != nullptr) {
      for (const auto &[type, rate] : value->items()) {
        all[type] = rateOf(rate, named(key) + "." + type);
      }
    }
    return all;
  }

  bool flag(const char *key, bool fallback) {
    const Json *value = find(key, true);
    if (value != nullptr && !value->is_boolean()) {
      report(named(key), "true or false", *value, "");
    }
    return value != nullptr && value->is_boolean() ? value->get<bool>() : fallback;
  }

  /// The elements of an array, each with its place; nothing when it is no array.
  std::vector<std::pair<const Json *, std::string>> array(const char *key, bool isOptional) {
    std::vector<std::pair<const Json *, std::string>> all;
    const Json *value = find(key, isOptional);
    if (value != nullptr && !value->is_array()) {
      report(named(key), "an array", *value, "");
    } else if (value != nullptr) {
      for (const Json &element : *value) {
        all.emplace_back(&element, fmt::format("{}[{}]", named(key), all.size()));
      }
    }
    return all;
  }

  const Json *find(const char *key, bool isOptional) {
    if (problem) {
      return nullptr;
    }
    const auto found = object.find(key);
    if (found != object.end()) {
      return &*found;
    }
    if (!isOptional) {
      problem = makeError("E0701",
                          fmt::format("chip descriptor '{}' lacks the key '{}'", path, named(key)))
                    .withHelp("docs/chips.md lists the keys; compare with "
                              "chips/generic-x86-64-v3.json");
    }
    return nullptr;
  }

  void report(const std::string &what, const std::string &expected, const Json &value,
              const char *help) {
    if (!problem) {
      problem =
          makeError("E0701", fmt::format("chip descriptor '{}' expects {} for '{}', but got {}",
                                         path, expected, what, shown(value)))
              .withHelp(*help != '\0' ? help
                                      : "docs/chips.md lists the keys; compare with "
                                        "chips/generic-x86-64-v3.json");
    }
  }

  std::string named(const char *key) const { return place.empty() ? key : place + "." + key; }

private:
  static bool isIn(double number, Range range) {
    return number >= range.least && number <= range.most; // not for NaN
  }

  std::string textOr(const char *key, const std::optional<std::string> &fallback) {
    const Json *value = find(key, fallback.has_value());
    if (value != nullptr && !value->is_string()) {
      report(named(key), "a text", *value, "");
    }
    return value != nullptr && value->is_string() ? value->get<std::string>()
                                                  : fallback.value_or("");
  }

  double rateOf(const Json &value, const std::string &what) {
    const double number = value.is_number() ? value.get<double>() : std::nan("");
    if (!isIn(number, {0, mostRate})) {
      report(what, fmt::format("a rate from 0 to {:g} a second", mostRate), value,
             "write what the data sheet says, for example 30e9, or 0 where it is not known");
      return 0;
    }
    return number;
  }

  const Json &object;
  std::string place;
  const std::string &path;
  std::optional<Diagnostic> &problem;
};

/// Reads the whole file; `problem` is the first key that is not as it should be.
class Reader {
public:
  explicit Reader(const std::string &path) : path(path) {}

  Result<Machine> read(const Json &json) {
    Fields fields(json, "", path, problem);
    const Json *schema = fields.find("schema", false);
    if (schema != nullptr && *schema != schemaVersion) {
      fields.report("schema", std::to_string(schemaVersion), *schema,
                    "write the descriptor anew with `nereid chips --json`");
    }
    Machine machine;
    readSizes(fields, machine);
    readCaches(fields, machine);
    readRates(fields, machine);
    return problem ? Result<Machine>(*problem) : Result<Machine>(std::move(machine));
  }

private:
  void readSizes(Fields &fields, Machine &machine) {
    machine.name = fields.text("name");
    machine.fingerprint = fields.text("fingerprint", machine.name);
    machine.architecture = fields.text("architecture");
    for (const auto &[feature, place] : fields.array("features", true)) {
      if (feature->is_string()) {
        machine.features.push_back(feature->get<std::string>());
      } else {
        fields.report(place, "a text", *feature, "write names as /proc/cpuinfo has them");
      }
    }
    machine.cores = static_cast<int>(
        fields.whole("cores", {1, mostCount}, "write how many cores a process may use"));
    // The longest vectors that an architecture allows are RISC-V's, of 65536 bits.
    const char *widths = "write the bytes of the widest vector register: 16, 32, 64, …";
    machine.vectorBytes = static_cast<int>(fields.whole("vector_bytes", {4, 8192}, widths));
    if (!std::has_single_bit(static_cast<unsigned>(machine.vectorBytes))) {
      fields.report("vector_bytes", "a power of two", *fields.find("vector_bytes", false), widths);
    }
    machine.vectorRegisters = static_cast<int>(
        fields.whole("vector_registers", {1, 4096}, "write how many vector registers code names"));
    machine.memoryBytes =
        fields.whole("memory_bytes", {0, mostBytes}, "write the size of the memory in bytes, or 0");
  }

  void readCaches(Fields &fields, Machine &machine) {
    std::set<std::string> names;
    for (const auto &[entry, place] : fields.array("caches", false)) {
      Fields cache(*entry, place, path, problem);
      CacheLevel level;
      level.name = cache.text("name");
      level.bytes = cache.whole("bytes", {1, mostBytes},
                                "write the bytes of one instance, for example 32768; a level that "
                                "the chip does not have has no entry");
      level.sharedBy = static_cast<int>(cache.whole(
          "shared_by", {1, mostCount}, "write how many cores share one instance; 1 for none", 1));
      level.bytesPerSecond = cache.rate("bytes_per_second", 0);
      level.allBytesPerSecond = cache.rate("all_bytes_per_second", 0);
      if (!problem && !names.insert(level.name).second) {
        cache.report(cache.named("name"), "a name of its own for each level",
                     *cache.find("name", false), "name them L1d, L2, L3, the nearest first");
      }
      machine.caches.push_back(std::move(level));
    }
  }

  void readRates(Fields &fields, Machine &machine) {
    machine.peakFlops = fields.rates("peak_flops", false);
    machine.peakFlopsOneCore = fields.rates("peak_flops_one_core", true);
    machine.copyBandwidth = fields.rate("copy_bandwidth");
    machine.copyBandwidthOneCore = fields.rate("copy_bandwidth_one_core", 0);
    machine.readBandwidth = fields.rate("read_bandwidth", 0);
    machine.writeBandwidth = fields.rate("write_bandwidth", 0);
    machine.bestCopy = fields.text("best_copy", "");
    machine.isCalibrated = fields.flag("calibrated", false);
    machine.launchSeconds = fields.seconds("launch_seconds");
    machine.queuedLaunchSeconds = fields.seconds("queued_launch_seconds");
    machine.calibratedBy = fields.text("calibrated_by", "");
    if (const Json *calibration = fields.find("calibration", true)) {
      Fields measured(*calibration, "calibration", path, problem);
      machine.calibration.times = static_cast<int>(
          measured.whole("times", {0, mostCount}, "write how often the rates were measured"));
      machine.calibration.lastSeconds =
          measured.whole("last_seconds", {0, mostBytes}, "write seconds since 1970");
      machine.calibration.uncertainty = measured.text("uncertainty");
    }
  }

  const std::string &path;
  std::optional<Diagnostic> problem;
};

} // namespace

std::string toJson(const Machine &machine) {
  Json json;
  json["schema"] = schemaVersion;
  json["name"] = machine.name;
  json["fingerprint"] = machine.fingerprint;
  json["architecture"] = machine.architecture;
  json["features"] = machine.features;
  json["cores"] = machine.cores;
  json["vector_bytes"] = machine.vectorBytes;
  json["vector_registers"] = machine.vectorRegisters;
  json["memory_bytes"] = machine.memoryBytes;
  json["caches"] = Json::array();
  for (const auto &cache : machine.caches) {
    json["caches"].push_back({{"name", cache.name},
                              {"bytes", cache.bytes},
                              {"shared_by", cache.sharedBy},
                              {"bytes_per_second", cache.bytesPerSecond},
                              {"all_bytes_per_second", cache.allBytesPerSecond}});
  }
  json["peak_flops"] = machine.peakFlops;
  json["peak_flops_one_core"] = machine.peakFlopsOneCore;
  json["copy_bandwidth"] = machine.copyBandwidth;
  json["copy_bandwidth_one_core"] = machine.copyBandwidthOneCore;
  json["read_bandwidth"] = machine.readBandwidth;
  json["write_bandwidth"] = machine.writeBandwidth;
  json["best_copy"] = machine.bestCopy;
  if (machine.launchSeconds > 0) {
    json["launch_seconds"] = machine.launchSeconds;
    json["queued_launch_seconds"] = machine.queuedLaunchSeconds;
  }
  json["calibrated"] = machine.isCalibrated;
  if (!machine.calibratedBy.empty()) {
    json["calibrated_by"] = machine.calibratedBy;
  }
  json["calibration"] = {{"times", machine.calibration.times},
                         {"last_seconds", machine.calibration.lastSeconds},
                         {"uncertainty", machine.calibration.uncertainty}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<Machine> machineFromJson(const std::string &text, const std::string &path) {
  const Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded() || !json.is_object()) {
    return makeError("E0701", fmt::format("chip descriptor '{}' is not a JSON object", path))
        .withHelp("compare with chips/generic-x86-64-v3.json");
  }
  return Reader(path).read(json);
}

Result<Machine> loadMachine(const std::string &path) {
  auto text = readTextFile(path);
  if (!text) {
    return text.error();
  }
  auto machine = machineFromJson(*text, path);
  if (machine) {
    const Machine here = detectMachine();
    if (machine->fingerprint == here.fingerprint && machine->cores > here.cores) {
      return makeError("E0701",
                       fmt::format("chip descriptor '{}' expects at most {} for 'cores', as "
                                   "it is of this machine by its 'fingerprint', but got {}",
                                   path, here.cores, machine->cores))
          .withHelp("give another chip a fingerprint of its own");
    }
  }
  return machine;
}

} // namespace nereid
