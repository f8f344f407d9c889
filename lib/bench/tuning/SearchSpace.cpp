// SPDX-License-Identifier: Apache-2.0
#include "lib/bench/tuning/SearchSpace.h"

#include "lib/bench/tuning/ConfigKey.h"
#include "lib/language/host/KernelDecorators.h"
#include "lib/language/host/TileLengths.h"
#include "lib/launch/KernelReference.h"
#include "lib/pipeline/Compiler.h"
#include "lib/pipeline/SourceKernel.h"
#include "lib/pipeline/Target.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>

namespace nereid::bench {

namespace {

using language::KernelDecorators;
using language::ParamType;
using language::PartialSignature;

constexpr int64_t longestTile = 1 << 20; ///< elements, as the language allows
constexpr const char *warps = "num_warps", *stages = "num_stages";

bool isSetByHeuristics(const KernelDecorators &decorators, const std::string &name) {
  return std::any_of(decorators.heuristics.begin(), decorators.heuristics.end(),
                     [&](const auto &one) { return one.first == name; });
}

bool isInFirstConfig(const KernelDecorators &decorators, const std::string &name) {
  if (decorators.configs.empty()) {
    return false;
  }
  const auto &values = decorators.configs.front().values;
  return std::any_of(values.begin(), values.end(),
                     [&](const auto &one) { return one.first == name; });
}

/// A length for a kernel that names none: of one, tiles of all its pointers together that fill half
/// of the first cache, or what a device's program usually has; of several, tiles for products.
int64_t usualLength(const PartialSignature &given, size_t lengths, const Machine &chip,
                    bool isOnDevice) {
  if (lengths > 1) {
    return isOnDevice ? 64 : 32;
  }
  if (isOnDevice) {
    return 1024;
  }
  int64_t bytesOfElement = 0;
  for (const auto &param : given.params) {
    if (param && param->kind == ParamType::Kind::Pointer) {
      bytesOfElement += static_cast<int64_t>(sizeInBytes(param->dtype));
    }
  }
  const int64_t cache = std::max<int64_t>(chip.cacheBytes("L1d"), 32768);
  const int64_t fitting = cache / 2 / std::max<int64_t>(bytesOfElement, 1);
  return std::clamp<int64_t>(static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(fitting))),
                             64, 8192);
}

size_t positionOf(const language::FunctionDef &kernel, const std::string &name) {
  const auto found = std::find_if(kernel.params.begin(), kernel.params.end(),
                                  [&](const auto &param) { return param.name == name; });
  return static_cast<size_t>(found - kernel.params.begin());
}

/// By name, without what is searched.
std::string restOf(const PartialSignature &given, const SearchPoint &searched) {
  const auto isSearched = [&](const std::string &name) {
    return std::any_of(searched.begin(), searched.end(),
                       [&](const auto &one) { return one.first == name; });
  };
  std::string text;
  for (const auto &param : given.params) {
    if (param && !isSearched(param->name)) {
      text += fmt::format("{}{}={}", text.empty() ? "" : ", ", param->name,
                          language::paramTypeText(*param));
    }
  }
  language::KernelOptions options = given.options;
  options.numWarps = isSearched(warps) ? std::nullopt : options.numWarps;
  options.numStages = isSearched(stages) ? std::nullopt : options.numStages;
  return text + options.text();
}

/// Lengths with the values that the specialization has, then what devices are told.
SearchPoint startOf(const language::Signature &signature, const std::vector<std::string> &lengths) {
  SearchPoint start;
  for (const ParamType &param : signature.params) {
    const auto *value = std::get_if<int64_t>(&param.constant);
    const bool isLength = std::find(lengths.begin(), lengths.end(), param.name) != lengths.end();
    if (isLength && value && *value > 0 && *value <= longestTile &&
        std::has_single_bit(static_cast<uint64_t>(*value))) {
      start.emplace_back(param.name, *value);
    }
  }
  return start;
}

} // namespace

std::string pointText(const SearchPoint &point) {
  std::string text;
  for (const auto &[name, value] : point) {
    text += fmt::format("{}{}={}", text.empty() ? "" : ",", name, value);
  }
  return text;
}

std::optional<SearchPoint> pointFromText(const std::string &text) {
  SearchPoint point;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    const size_t equals = text.find('=', begin);
    int64_t value = 0;
    if (equals >= end) {
      return std::nullopt;
    }
    const char *last = text.data() + end;
    const auto [stop, error] = std::from_chars(text.data() + equals + 1, last, value);
    if (error != std::errc() || stop != last) {
      return std::nullopt;
    }
    point.emplace_back(text.substr(begin, equals - begin), value);
    begin = end + 1;
  }
  return point;
}

std::optional<SearchSpace> searchSpace(const launch::KernelCase &one,
                                       const launch::Execution &execution,
                                       const std::string &machine, const Machine &chip,
                                       Diagnostics &diags) {
  const launch::KernelReference file = launch::parseKernelReference(one.kernel);
  const auto source = pipeline::openSource({.path = file.path,
                                            .function = file.function,
                                            .signature = one.signature,
                                            .importPaths = execution.importPaths},
                                           diags);
  if (!source) {
    return std::nullopt;
  }
  const language::FunctionDef &kernel = *source->function;
  const KernelDecorators decorators = language::readDecorators(*source->module, kernel);
  auto given = language::parsePartialSignature(one.signature, kernel);
  if (!given) {
    diags.add(given.error());
    return std::nullopt;
  }
  std::vector<std::string> lengths = language::tileLengths(kernel);
  std::erase_if(lengths, [&](const std::string &name) {
    return isSetByHeuristics(decorators, name) && !given->params[positionOf(kernel, name)];
  });
  const bool isOnDevice = pipeline::runsOnDevice(execution.target);
  std::string text = one.signature;
  for (const std::string &name : lengths) {
    const size_t at = positionOf(kernel, name);
    if (!given->params[at] && !kernel.params[at].defaultValue &&
        !isInFirstConfig(decorators, name)) {
      text += fmt::format(", {}={}", name, usualLength(*given, lengths.size(), chip, isOnDevice));
    }
  }
  auto special = language::specialize(text, *source->module, kernel, decorators);
  if (!special) {
    diags.add(special.error());
    return std::nullopt;
  }
  SearchSpace space{.rest = one, .start = startOf(special->signature, lengths), .key = {}};
  space.lengths = space.start.size();
  const auto isFree = [&](const char *name) {
    return positionOf(kernel, name) == kernel.params.size() && !isSetByHeuristics(decorators, name);
  };
  if (isOnDevice && isFree(warps)) {
    space.start.emplace_back(warps, special->signature.options.warps());
  }
  if (isOnDevice && isFree(stages) && language::hasLoop(kernel)) {
    space.start.emplace_back(stages, special->signature.options.stages());
  }
  space.isOpen = std::none_of(space.start.begin(), space.start.end(), [&](const auto &one) {
    const size_t at = positionOf(kernel, one.first);
    return at < given->params.size()
               ? given->params[at].has_value()
               : valueOf(given->options, *language::findCommonOption(one.first)).has_value();
  });
  space.rest.signature = restOf(*given, space.start);
  space.key = configKey("block sizes", *source, space.rest, execution, machine,
                        decorators.key.empty() ? scalarArguments(one) : decorators.key);
  return space;
}

OpenConfig configAt(const SearchSpace &space, const SearchPoint &point) {
  OpenConfig config{pointText(point), space.rest};
  for (const auto &[name, value] : point) {
    config.asked.signature += fmt::format(", {}={}", name, value);
  }
  return config;
}

std::vector<SearchPoint> pointsAround(const SearchSpace &space, const SearchPoint &center,
                                      int64_t factor) {
  std::vector<SearchPoint> points = {center};
  const auto canBe = [](const std::string &name, int64_t value) {
    if (const language::KernelOption *option = language::findCommonOption(name)) {
      return value >= std::max<int64_t>(option->least, 1) && value <= option->most;
    }
    return value >= 1 && value <= longestTile;
  };
  const auto add = [&](SearchPoint point) {
    const bool isLegal = std::all_of(point.begin(), point.end(),
                                     [&](const auto &one) { return canBe(one.first, one.second); });
    if (isLegal && std::find(points.begin(), points.end(), point) == points.end()) {
      points.push_back(std::move(point));
    }
  };
  for (size_t i = 0; i < center.size(); ++i) {
    const bool isStages = i >= space.lengths && center[i].first == stages;
    for (const bool isMore : {true, false}) {
      SearchPoint point = center;
      int64_t &value = point[i].second;
      value = isStages ? value + (isMore ? 1 : -1) : isMore ? value * factor : value / factor;
      add(std::move(point));
    }
  }
  for (const bool isMore : {true, false}) {
    SearchPoint point = center;
    for (size_t i = 0; i < space.lengths; ++i) {
      point[i].second = isMore ? point[i].second * factor : point[i].second / factor;
    }
    add(std::move(point));
  }
  return points;
}

} // namespace nereid::bench
