// SPDX-License-Identifier: Apache-2.0
// A table's expressions at the sizes of one launch, see Table.h.
#include "lib/generator/launch/Table.h"

#include "lib/generator/fuse/Partition.h"
#include "lib/language/IntegerExpression.h"

#include <fmt/format.h>

#include <limits>
#include <optional>
#include <set>

namespace nereid::generator {
namespace {

/// Thrown inside of this file alone.
struct Failure {
  Diagnostic diagnostic;
};

int64_t evaluated(const std::string &what, const std::string &text,
                  const language::NamedIntegers &values) {
  Result<int64_t> result = language::evaluateInteger(what, text, values);
  if (!result) {
    throw Failure{std::move(result.error())};
  }
  return *result;
}

/// A choice's own value, or the rule's.
int64_t decided(const LaunchChoice &choice, const ChosenValues &chosen,
                const language::NamedIntegers &values) {
  auto own = chosen.find(choice.name);
  return own != chosen.end() ? own->second : evaluated(choice.name, choice.rule, values);
}

language::NamedIntegers valuesOf(const LaunchTable &table,
                                 const std::map<std::string, int64_t> &symbols,
                                 const LaunchSite &site, const ChosenValues &chosen) {
  language::NamedIntegers values = site.values();
  values[elementBytesName] = static_cast<int64_t>(sizeInBytes(table.dtype));
  for (const std::string &symbol : table.symbols) {
    auto found = symbols.find(symbol);
    if (found == symbols.end()) {
      throw Failure{makeError("E0612", fmt::format("size '{}' has no value", symbol))};
    }
    values[symbol] = found->second;
  }
  for (const NamedExpression &one : table.derived) {
    values[one.name] = evaluated(one.name, one.value, values);
  }
  for (const TableStride &one : table.strides) {
    auto given = symbols.find(one.name);
    values[one.name] =
        given != symbols.end() ? given->second : evaluated(one.name, one.value, values);
  }
  for (const LaunchChoice &one : table.choices) {
    values[choiceVariable(one.name)] = decided(one, chosen, values);
  }
  return values;
}

/// Values that one kernel alone has: taken back in the end. Tables have tens of kernels, and a copy
/// of all values for each would take longer than what is computed with them.
class OwnValues {
public:
  explicit OwnValues(language::NamedIntegers &values) : values(values) {}
  OwnValues(const OwnValues &) = delete;
  OwnValues &operator=(const OwnValues &) = delete;
  ~OwnValues() {
    for (auto each = changed.rbegin(); each != changed.rend(); ++each) {
      if (each->second) {
        values[each->first] = *each->second;
      } else {
        values.erase(each->first);
      }
    }
  }

  void set(const std::string &name, int64_t value) {
    auto [at, isNew] = values.emplace(name, value);
    changed.emplace_back(name, isNew ? std::nullopt : std::optional(at->second));
    at->second = value;
  }

private:
  language::NamedIntegers &values;
  std::vector<std::pair<std::string, std::optional<int64_t>>> changed;
};

/// `values` are the same afterwards.
BoundLaunch bound(const LaunchEntry &entry, language::NamedIntegers &values,
                  const ChosenValues &chosen) {
  BoundLaunch launch;
  OwnValues own(values);
  launch.function = entry.function;
  auto sign = [&](const std::string &name, const std::string &type) {
    launch.signature += fmt::format("{}{}={}", launch.signature.empty() ? "" : ", ", name, type);
  };
  for (const LaunchArgument &argument : entry.arguments) {
    const std::string element(kernelName(argument.dtype));
    if (argument.kind == StageArgument::Kind::Size) {
      const int64_t size = evaluated(argument.name, argument.value, values);
      const bool isWide =
          size > std::numeric_limits<int32_t>::max() || size < std::numeric_limits<int32_t>::min();
      sign(argument.name, isWide ? "i64" : "i32");
      launch.sizes.push_back(size);
    } else {
      sign(argument.name, argument.kind == StageArgument::Kind::Memory ? "*" + element : element);
    }
  }
  auto pass = [&](const std::string &name, int64_t value) {
    if (!isOfSizes(name)) { // no expression reads it, and a size may have its name
      own.set(name, value);
    }
    sign(name, std::to_string(value));
    launch.constants.emplace_back(name, value);
  };
  std::set<std::string> passed;
  for (const NamedExpression &one : entry.constexprs) {
    for (const LaunchChoice &choice : entry.choices) {
      if (choice.constant == one.name) {
        own.set(choiceVariable(choice.name), decided(choice, chosen, values));
      }
    }
    pass(one.name, evaluated(one.name, one.value, values));
    passed.insert(one.name);
  }
  for (const LaunchChoice &choice : entry.choices) {
    auto given = chosen.find(choice.name);
    if (given != chosen.end() && !passed.contains(choice.constant)) {
      pass(choice.constant, given->second);
    }
  }
  launch.programs = evaluated("grid", entry.grid, values);
  launch.tiles = entry.tiles.empty() ? 0 : evaluated("tiles", entry.tiles, values);
  return launch;
}

} // namespace

std::map<std::string, int64_t> LaunchSite::values() const {
  // A lane of a device holds eight elements of a tile of four warps, from two accesses of 16 bytes;
  // of a row of 32 warps, 32, as registers for two values of each are there. Of the smallest tile
  // it holds one. On processors tiles and rows are in the first-level cache.
  return {{processorsName, processors},
          {tileElementsName, isDevice ? 1024 : 4096},
          {fewestElementsName, isDevice ? 128 : 4096},
          {rowElementsName, isDevice ? 32768 : wholeAtMost},
          {waitingName, isDevice ? 1 : 0},
          {onDeviceName, isDevice ? 1 : 0},
          {programsAtATimeName, isDevice ? 4 : 1}};
}

bool isOfSizes(std::string_view constant) {
  return constant == "WIDE" || constant.starts_with(evenPrefix);
}

const TableStride *LaunchTable::strideOf(const std::string &buffer) const {
  for (const TableStride &one : strides) {
    if (one.buffer == buffer) {
      return &one;
    }
  }
  return nullptr;
}

Result<std::vector<int64_t>> bindWorkspaces(const LaunchTable &table,
                                            const std::map<std::string, int64_t> &symbols,
                                            const LaunchSite &site, const ChosenValues &chosen) {
  try {
    const language::NamedIntegers values = valuesOf(table, symbols, site, chosen);
    std::vector<int64_t> elements;
    for (const Workspace &one : table.workspaces) {
      elements.push_back(evaluated(one.name, one.elements, values));
    }
    return elements;
  } catch (Failure &failure) {
    return std::move(failure.diagnostic);
  }
}

Result<std::vector<BoundLaunch>> bindLaunch(const LaunchTable &table,
                                            const std::map<std::string, int64_t> &symbols,
                                            const LaunchSite &site, const ChosenValues &chosen) {
  try {
    language::NamedIntegers values = valuesOf(table, symbols, site, chosen);
    std::vector<BoundLaunch> launches;
    launches.reserve(table.kernels.size());
    for (const LaunchEntry &entry : table.kernels) {
      launches.push_back(bound(entry, values, chosen));
    }
    return launches;
  } catch (Failure &failure) {
    return std::move(failure.diagnostic);
  }
}

Result<std::vector<std::vector<int64_t>>> bindExtents(const LaunchTable &table,
                                                      const std::map<std::string, int64_t> &symbols,
                                                      const LaunchSite &site) {
  try {
    const language::NamedIntegers values = valuesOf(table, symbols, site, {});
    std::vector<std::vector<int64_t>> extents;
    for (const LaunchEntry &entry : table.kernels) {
      extents.emplace_back();
      for (const LaunchDim &dim : entry.dims) {
        extents.back().push_back(evaluated("extent", dim.extent, values));
      }
    }
    return extents;
  } catch (Failure &failure) {
    return std::move(failure.diagnostic);
  }
}

} // namespace nereid::generator
