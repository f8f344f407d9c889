// SPDX-License-Identifier: Apache-2.0
// Descriptor in and out of JSON.
#include "lib/measure/Chip.h"

#include "lib/support/AtomicFile.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace nereid::measure {

using Json = nlohmann::ordered_json;

namespace {

constexpr int schemaVersion = 1;

/// Reads numbers and remembers the first one that no chip can have.
class Numbers {
public:
  double rate(double value, const std::string &key) { return inRange(value, key, 0, 1e18); }
  int64_t bytes(const Json &object, const char *key) {
    return static_cast<int64_t>(inRange(object.at(key).get<double>(), key, 0, 1e18));
  }
  int count(double value, const std::string &key) {
    return static_cast<int>(inRange(value, key, 1, 1e6));
  }
  std::map<std::string, double> rates(const Json &object, const std::string &key) {
    auto values = object.get<std::map<std::string, double>>();
    for (const auto &[type, value] : values) {
      rate(value, key + "." + type);
    }
    return values;
  }

  std::string problem; ///< empty = none

private:
  double inRange(double value, const std::string &key, double least, double most) {
    const bool isPossible = value >= least && value <= most;
    if (!isPossible && problem.empty()) {
      problem =
          fmt::format("expects '{}' from {:g} to {:g}, but got {:g}", key, least, most, value);
    }
    return isPossible ? value : least;
  }
};

/// A rate that a machine of this century can have; slower ones were measured wrong.
bool isRate(double value) { return value >= 1e7 && value <= 1e18; }

} // namespace

int64_t Chip::cacheBytes(const std::string &level) const {
  for (const auto &cache : caches) {
    if (cache.name == level) {
      return cache.bytes;
    }
  }
  return 0;
}

int64_t Chip::lastCacheBytes() const { return caches.empty() ? 0 : caches.back().bytes; }

double Chip::peakFor(DType dtype) const {
  auto found = peakFlops.find(std::string(kernelName(dtype)));
  if (found == peakFlops.end()) {
    found = peakFlops.find("fp32");
  }
  return found == peakFlops.end() ? 0 : found->second;
}

std::string toJson(const Chip &chip) {
  Json json;
  json["schema"] = schemaVersion;
  json["name"] = chip.name;
  json["fingerprint"] = chip.fingerprint;
  json["architecture"] = chip.architecture;
  json["features"] = chip.features;
  json["cores"] = chip.cores;
  json["vector_bytes"] = chip.vectorBytes;
  json["vector_registers"] = chip.vectorRegisters;
  json["memory_bytes"] = chip.memoryBytes;
  json["caches"] = Json::array();
  for (const auto &cache : chip.caches) {
    json["caches"].push_back({{"name", cache.name},
                              {"bytes", cache.bytes},
                              {"shared_by", cache.sharedBy},
                              {"bytes_per_second", cache.bytesPerSecond},
                              {"all_bytes_per_second", cache.allBytesPerSecond}});
  }
  json["peak_flops"] = chip.peakFlops;
  json["peak_flops_one_core"] = chip.peakFlopsOneCore;
  json["copy_bandwidth"] = chip.copyBandwidth;
  json["copy_bandwidth_one_core"] = chip.copyBandwidthOneCore;
  json["read_bandwidth"] = chip.readBandwidth;
  json["write_bandwidth"] = chip.writeBandwidth;
  json["best_copy"] = chip.bestCopy;
  json["calibrated"] = chip.isCalibrated;
  json["calibration"] = {{"times", chip.calibration.times},
                         {"last_seconds", chip.calibration.lastSeconds},
                         {"uncertainty", chip.calibration.uncertainty}};
  return json.dump(2) + "\n";
}

Result<Chip> chipFromJson(const std::string &text, const std::string &path) {
  Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded() || !json.is_object()) {
    return makeError("E0701", fmt::format("chip descriptor '{}' is not a JSON object", path));
  }
  try {
    Chip chip;
    Numbers numbers;
    int schema = json.at("schema").get<int>();
    if (schema != schemaVersion) {
      return makeError("E0701", fmt::format("chip descriptor '{}' expects schema {}, but got {}",
                                            path, schemaVersion, schema));
    }
    chip.name = json.at("name").get<std::string>();
    chip.fingerprint = json.value("fingerprint", chip.name);
    chip.architecture = json.at("architecture").get<std::string>();
    chip.features = json.value("features", std::vector<std::string>{});
    chip.cores = numbers.count(json.at("cores").get<double>(), "cores");
    chip.vectorBytes = numbers.count(json.at("vector_bytes").get<double>(), "vector_bytes");
    chip.vectorRegisters =
        numbers.count(json.at("vector_registers").get<double>(), "vector_registers");
    chip.memoryBytes = numbers.bytes(json, "memory_bytes");
    for (const auto &entry : json.at("caches")) {
      chip.caches.push_back(
          {entry.at("name").get<std::string>(), numbers.bytes(entry, "bytes"),
           numbers.count(entry.value("shared_by", 1.0), "shared_by"),
           numbers.rate(entry.value("bytes_per_second", 0.0), "bytes_per_second"),
           numbers.rate(entry.value("all_bytes_per_second", 0.0), "all_bytes_per_second")});
    }
    chip.peakFlops = numbers.rates(json.at("peak_flops"), "peak_flops");
    chip.peakFlopsOneCore =
        numbers.rates(json.value("peak_flops_one_core", Json::object()), "peak_flops_one_core");
    for (const auto &[key, value] :
         {std::pair("copy_bandwidth", &chip.copyBandwidth),
          std::pair("copy_bandwidth_one_core", &chip.copyBandwidthOneCore),
          std::pair("read_bandwidth", &chip.readBandwidth),
          std::pair("write_bandwidth", &chip.writeBandwidth)}) {
      *value = numbers.rate(json.value(key, 0.0), key);
    }
    json.at("copy_bandwidth"); // which no descriptor goes without
    chip.bestCopy = json.value("best_copy", std::string{});
    chip.isCalibrated = json.value("calibrated", false);
    if (json.contains("calibration")) {
      const Json &calibration = json.at("calibration");
      chip.calibration.times =
          numbers.count(calibration.at("times").get<double>() + 1, "times") - 1;
      chip.calibration.lastSeconds = numbers.bytes(calibration, "last_seconds");
      chip.calibration.uncertainty = calibration.at("uncertainty").get<std::string>();
    }
    if (!numbers.problem.empty()) {
      return makeError("E0701", fmt::format("chip descriptor '{}' {}", path, numbers.problem));
    }
    return chip;
  } catch (const nlohmann::json::exception &error) {
    return makeError("E0701", fmt::format("chip descriptor '{}': {}", path, error.what()))
        .withHelp("compare with chips/generic-x86-64-v3.json");
  }
}

Result<Chip> loadChip(const std::string &path) {
  auto text = readTextFile(path);
  if (!text) {
    return text.error();
  }
  return chipFromJson(*text, path);
}

bool hasRates(const Chip &chip) {
  bool all = isRate(chip.copyBandwidth) && isRate(chip.copyBandwidthOneCore) &&
             isRate(chip.readBandwidth) && isRate(chip.writeBandwidth);
  for (const auto &cache : chip.caches) {
    all = all && isRate(cache.bytesPerSecond) && isRate(cache.allBytesPerSecond);
  }
  for (const char *type : {"fp32", "fp64"}) {
    for (const auto *peaks : {&chip.peakFlops, &chip.peakFlopsOneCore}) {
      const auto found = peaks->find(type);
      all = all && found != peaks->end() && isRate(found->second);
    }
  }
  return all;
}

} // namespace nereid::measure
