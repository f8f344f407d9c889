// SPDX-License-Identifier: Apache-2.0
// patterns.json: schema 1, an object with "schema" and "patterns"; conditions are spelled out.
#include "lib/generator/Patterns.h"

#include "lib/support/AtomicFile.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cmath>

namespace nereid::generator {
namespace {

using Json = nlohmann::ordered_json;
constexpr int schema = 1;

Json toJson(const Pattern &pattern) {
  const PatternCondition &c = pattern.condition;
  return {{"operatorKind", pattern.operatorKind},
          {"condition",
           {{"rows", {c.rowsFrom, c.rowsTo}},
            {"columns", {c.columnsFrom, c.columnsTo}},
            {"dtype", c.dtype},
            {"beyondCache", c.isBeyondCache},
            {"chip", c.chip}}},
          {"change", pattern.change},
          {"from", pattern.from},
          {"gain", std::round(pattern.gain * 10000) / 10000},
          {"pValue", pattern.pValue},
          {"count", pattern.count},
          {"lastSeen", pattern.lastSeen}};
}

Pattern fromJson(const Json &json) {
  Pattern pattern;
  pattern.operatorKind = json.at("operatorKind").get<std::string>();
  const Json &c = json.at("condition");
  pattern.condition.rowsFrom = c.at("rows").at(0).get<int64_t>();
  pattern.condition.rowsTo = c.at("rows").at(1).get<int64_t>();
  pattern.condition.columnsFrom = c.at("columns").at(0).get<int64_t>();
  pattern.condition.columnsTo = c.at("columns").at(1).get<int64_t>();
  pattern.condition.dtype = c.at("dtype").get<std::string>();
  pattern.condition.isBeyondCache = c.at("beyondCache").get<bool>();
  pattern.condition.chip = c.at("chip").get<std::string>();
  pattern.change = json.at("change").get<std::string>();
  // An older version did not say, so that it applies nowhere.
  pattern.from = json.value("from", "");
  pattern.gain = json.at("gain").get<double>();
  // What an older version wrote says nothing of its significance.
  pattern.pValue = json.value("pValue", 1.0);
  pattern.count = json.at("count").get<int>();
  pattern.lastSeen = json.at("lastSeen").get<std::string>();
  return pattern;
}

/// Geometric mean, weighted by the observations behind each side. What is not significant is
/// dropped.
void merge(std::vector<Pattern> &into, const Pattern &seen) {
  const bool isSignificant = seen.pValue >= 0 && seen.pValue < patternSignificance;
  if (!(seen.gain > 0) || !std::isfinite(seen.gain) || seen.count <= 0 || !isSignificant) {
    return;
  }
  for (Pattern &known : into) {
    if (known.operatorKind == seen.operatorKind && known.change == seen.change &&
        known.from == seen.from && known.condition == seen.condition) {
      double total = known.count + seen.count;
      known.gain =
          std::exp((std::log(known.gain) * known.count + std::log(seen.gain) * seen.count) / total);
      known.count += seen.count;
      known.pValue = std::max(known.pValue, seen.pValue);
      known.lastSeen = std::max(known.lastSeen, seen.lastSeen);
      return;
    }
  }
  into.push_back(seen);
}

/// Holds `<path>.lock` while in scope, so that read, merge and replace are one step for all
/// processes. A lock that cannot be had is no reason not to learn: the merge then goes on without.
class FileLock {
public:
  explicit FileLock(const std::string &path) {
    descriptor = ::open((path + ".lock").c_str(), O_CREAT | O_RDWR | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (descriptor >= 0) {
      ::flock(descriptor, LOCK_EX);
    }
  }
  ~FileLock() {
    if (descriptor >= 0) {
      ::close(descriptor);
    }
  }
  FileLock(const FileLock &) = delete;
  FileLock &operator=(const FileLock &) = delete;

private:
  int descriptor = -1;
};

bool isWithin(int64_t value, int64_t from, int64_t to) {
  return value >= from && (to == 0 || value <= to);
}

} // namespace

Result<Patterns> Patterns::load(const std::string &path) {
  Patterns result;
  struct stat info;
  if (::stat(path.c_str(), &info) != 0 && errno == ENOENT) {
    return result;
  }
  auto text = readTextFile(path);
  if (!text) {
    return text.error();
  }
  auto damaged = [&](const std::string &reason) {
    Diagnostic error = makeError("E0611", fmt::format("'{}' cannot be used: {}", path, reason));
    error.file = path;
    return std::move(
        error.withHelp("move the file away; it is made again by the next optimisation"));
  };
  Json json = Json::parse(*text, nullptr, false);
  if (json.is_discarded() || !json.is_object()) {
    return damaged("it is not JSON");
  }
  try {
    if (int found = json.at("schema").get<int>(); found != schema) {
      return damaged(fmt::format("expects schema {}, but got {}", schema, found));
    }
    for (const Json &entry : json.at("patterns")) {
      Pattern pattern = fromJson(entry);
      merge(result.patterns, pattern);
    }
  } catch (const Json::exception &problem) {
    return damaged(problem.what());
  }
  return result;
}

Status Patterns::save(const std::string &path) const {
  FileLock lock(path);
  auto present = load(path);
  // A damaged file is replaced by what this process knows.
  std::vector<Pattern> merged = present ? present->patterns : patterns;
  if (present) {
    for (const Pattern &seen : observations) {
      merge(merged, seen);
    }
  }
  std::sort(merged.begin(), merged.end(), [](const Pattern &a, const Pattern &b) {
    return std::tie(a.operatorKind, a.change, a.from, a.condition.dtype) <
           std::tie(b.operatorKind, b.change, b.from, b.condition.dtype);
  });
  Json list = Json::array();
  for (const Pattern &pattern : merged) {
    list.push_back(toJson(pattern));
  }
  return writeFileAtomically(path, Json{{"schema", schema}, {"patterns", list}}.dump(2) + "\n");
}

void Patterns::record(const Pattern &observation) {
  Pattern one = observation;
  one.count = std::max(one.count, 1);
  merge(patterns, one);
  merge(observations, one);
}

std::vector<const Pattern *> Patterns::lookup(const std::string &operatorKind,
                                              const CaseSizes &sizes, DType dtype,
                                              const Machine &chip) const {
  std::vector<const Pattern *> found;
  bool isBeyondCache = sizes.bytes > static_cast<double>(chip.lastCacheBytes());
  for (const Pattern &pattern : patterns) {
    const PatternCondition &c = pattern.condition;
    if (pattern.operatorKind == operatorKind && isWithin(sizes.rows, c.rowsFrom, c.rowsTo) &&
        isWithin(sizes.columns, c.columnsFrom, c.columnsTo) &&
        (c.dtype.empty() || c.dtype == torchName(dtype)) && c.isBeyondCache == isBeyondCache &&
        (c.chip.empty() || c.chip == chip.name)) {
      found.push_back(&pattern);
    }
  }
  std::sort(found.begin(), found.end(), [](const Pattern *a, const Pattern *b) {
    return std::tie(a->gain, a->count) > std::tie(b->gain, b->count);
  });
  return found;
}

PatternCondition conditionFor(const CaseSizes &sizes, DType dtype, const Machine &chip) {
  PatternCondition condition;
  auto widen = [](int64_t value, int64_t &from, int64_t &to) {
    to = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(std::max<int64_t>(value, 1))));
    from = to / 2 + (to > 1 ? 1 : 0);
  };
  widen(sizes.rows, condition.rowsFrom, condition.rowsTo);
  widen(sizes.columns, condition.columnsFrom, condition.columnsTo);
  condition.dtype = torchName(dtype);
  condition.isBeyondCache = sizes.bytes > static_cast<double>(chip.lastCacheBytes());
  condition.chip = chip.name;
  return condition;
}

} // namespace nereid::generator
