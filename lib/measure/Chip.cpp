// SPDX-License-Identifier: Apache-2.0
// Descriptor in and out of JSON, and its place in the user's cache folder.
#include "lib/measure/Chip.h"

#include "lib/support/AtomicFile.h"
#include "lib/support/DiskCache.h"
#include "lib/support/Hash.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace nereid::measure {

using Json = nlohmann::ordered_json;

namespace {
constexpr int schemaVersion = 1;
}

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
                              {"bytes_per_second", cache.bytesPerSecond}});
  }
  json["peak_flops"] = chip.peakFlops;
  json["peak_flops_one_core"] = chip.peakFlopsOneCore;
  json["copy_bandwidth"] = chip.copyBandwidth;
  json["copy_bandwidth_one_core"] = chip.copyBandwidthOneCore;
  json["read_bandwidth"] = chip.readBandwidth;
  json["write_bandwidth"] = chip.writeBandwidth;
  json["best_copy"] = chip.bestCopy;
  json["calibrated"] = chip.isCalibrated;
  return json.dump(2) + "\n";
}

Result<Chip> chipFromJson(const std::string &text, const std::string &path) {
  Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded() || !json.is_object()) {
    return makeError("E0701", fmt::format("chip descriptor '{}' is not a JSON object", path));
  }
  try {
    Chip chip;
    int schema = json.at("schema").get<int>();
    if (schema != schemaVersion) {
      return makeError("E0701", fmt::format("chip descriptor '{}' expects schema {}, but got {}",
                                            path, schemaVersion, schema));
    }
    chip.name = json.at("name").get<std::string>();
    chip.fingerprint = json.value("fingerprint", chip.name);
    chip.architecture = json.at("architecture").get<std::string>();
    chip.features = json.value("features", std::vector<std::string>{});
    chip.cores = json.at("cores").get<int>();
    chip.vectorBytes = json.at("vector_bytes").get<int>();
    chip.vectorRegisters = json.at("vector_registers").get<int>();
    chip.memoryBytes = json.at("memory_bytes").get<int64_t>();
    for (const auto &entry : json.at("caches")) {
      chip.caches.push_back({entry.at("name").get<std::string>(), entry.at("bytes").get<int64_t>(),
                             entry.value("shared_by", 1), entry.value("bytes_per_second", 0.0)});
    }
    chip.peakFlops = json.at("peak_flops").get<std::map<std::string, double>>();
    chip.peakFlopsOneCore = json.value("peak_flops_one_core", std::map<std::string, double>{});
    chip.copyBandwidth = json.at("copy_bandwidth").get<double>();
    chip.copyBandwidthOneCore = json.value("copy_bandwidth_one_core", 0.0);
    chip.readBandwidth = json.value("read_bandwidth", 0.0);
    chip.writeBandwidth = json.value("write_bandwidth", 0.0);
    chip.bestCopy = json.value("best_copy", std::string{});
    chip.isCalibrated = json.value("calibrated", false);
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

Chip thisChip(bool recalibrate) {
  Chip chip = detectChip();
  std::string folder = cacheDirectory();
  std::string path =
      folder + "/chip-" + toHex(sha256(std::string_view(chip.fingerprint))).substr(0, 16) + ".json";
  if (!recalibrate) {
    auto known = loadChip(path);
    if (known && known->fingerprint == chip.fingerprint && known->isCalibrated) {
      return *known;
    }
  }
  calibrate(chip);
  // Without a usable cache folder the next run measures again; nothing else depends on it.
  if (createFolders(folder)) {
    (void)writeFileAtomically(path, toJson(chip));
  }
  return chip;
}

} // namespace nereid::measure
