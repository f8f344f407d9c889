// SPDX-License-Identifier: Apache-2.0
// Choices as expressions, see Choices.h.
#include "lib/generator/launch/Choices.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cctype>
#include <set>

namespace nereid::generator {
namespace {

bool isOfName(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// The text with these names replaced.
std::string replaced(const std::string &text, const std::map<std::string, std::string> &values) {
  std::string result;
  for (size_t at = 0; at < text.size();) {
    size_t end = at;
    while (end < text.size() && isOfName(text[end])) {
      ++end;
    }
    if (end == at) {
      result += text[at++];
      continue;
    }
    const std::string name = text.substr(at, end - at);
    auto found = values.find(name);
    result += found == values.end() ? name : found->second;
    at = end;
  }
  return result;
}

class Opening {
public:
  explicit Opening(LaunchTable table) : table(std::move(table)) {}

  LaunchTable run() {
    for (const LaunchChoice &choice : table.choices) {
      if (isUsed(choiceVariable(choice.name))) {
        const std::string name = freshName(choice.name);
        table.derived.push_back({name, asked(choice)});
        values[choiceVariable(choice.name)] = name;
      }
    }
    for (Workspace &one : table.workspaces) {
      one.elements = replaced(one.elements, values);
    }
    for (LaunchEntry &kernel : table.kernels) {
      open(kernel);
    }
    table.choices.clear();
    return std::move(table);
  }

private:
  std::string asked(const LaunchChoice &choice) const {
    return fmt::format("{}(\"{}\", {})", choicePrefix, choice.name, replaced(choice.rule, values));
  }

  bool isUsed(const std::string &variable) const {
    const auto names = [&](const std::string &text) {
      return replaced(text, {{variable, ""}}) != text;
    };
    return std::any_of(table.workspaces.begin(), table.workspaces.end(),
                       [&](const Workspace &one) { return names(one.elements); }) ||
           std::any_of(table.kernels.begin(), table.kernels.end(), [&](const LaunchEntry &kernel) {
             return names(kernel.grid) ||
                    std::any_of(kernel.constexprs.begin(), kernel.constexprs.end(),
                                [&](const NamedExpression &one) { return names(one.value); });
           });
  }

  /// "reduce_held" of "reduce.HELD", or a name that no size has.
  std::string freshName(std::string name) const {
    for (char &c : name) {
      c = c == '.' ? '_' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
    auto isTaken = [&](const std::string &one) {
      auto isIt = [&](const auto &known) { return known.name == one; };
      return std::find(table.symbols.begin(), table.symbols.end(), one) != table.symbols.end() ||
             std::any_of(table.derived.begin(), table.derived.end(), isIt) ||
             std::any_of(table.strides.begin(), table.strides.end(), isIt) ||
             std::any_of(table.workspaces.begin(), table.workspaces.end(), isIt);
    };
    while (isTaken(name)) {
      name += "_choice";
    }
    return name;
  }

  void open(LaunchEntry &kernel) {
    for (const LaunchChoice &choice : kernel.choices) {
      values[choiceVariable(choice.name)] = asked(choice);
      const bool isPassed =
          std::any_of(kernel.constexprs.begin(), kernel.constexprs.end(),
                      [&](const NamedExpression &one) { return one.name == choice.constant; });
      if (!isPassed) {
        kernel.constexprs.push_back({choice.constant, choiceVariable(choice.name)});
      }
    }
    for (NamedExpression &one : kernel.constexprs) {
      one.value = replaced(one.value, values);
    }
    kernel.grid = replaced(kernel.grid, values);
    kernel.choices.clear();
    kernel.dims.clear();
    kernel.accesses.clear();
    kernel.role.clear();
    kernel.share = TileShare::Each;
    kernel.tiles.clear();
  }

  LaunchTable table;
  std::map<std::string, std::string> values;
};

} // namespace

std::map<std::string, int64_t> sizeClass(const LaunchTable &table,
                                         const std::map<std::string, int64_t> &symbols) {
  std::map<std::string, int64_t> result;
  for (const std::string &name : table.symbols) {
    auto found = symbols.find(name);
    const int64_t size = found == symbols.end() ? 1 : found->second;
    result[name] =
        static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(std::max<int64_t>(size, 1))));
  }
  return result;
}

ChosenValues chosenBy(const Schedule &schedule) {
  return {schedule.constants.begin(), schedule.constants.end()};
}

bool isOfForms(const LaunchChoice &choice) {
  return choice.kind == LaunchChoice::Kind::Form || choice.kind == LaunchChoice::Kind::Held;
}

Schedule scheduleOf(const LaunchTable &table, const std::vector<BoundLaunch> &launches,
                    const ChosenValues &chosen) {
  Schedule shown;
  std::set<std::string> told; // kernels may have constants in common
  auto tell = [&](const std::string &name, int64_t value) {
    if (told.insert(name).second) {
      shown.constants.emplace_back(name, value);
    }
  };
  for (size_t i = 0; i < launches.size(); ++i) {
    for (const auto &[name, value] : launches[i].constants) {
      if (launches[i].programs > 0 && !isOfSizes(name)) {
        tell(table.kernels[i].role + "." + name, value);
      }
    }
  }
  for (const LaunchChoice &choice : table.choices) {
    if (auto own = chosen.find(choice.name); own != chosen.end() && isOfForms(choice)) {
      tell(own->first, own->second);
    }
  }
  return shown;
}

LaunchTable withTuning(LaunchTable table) { return Opening(std::move(table)).run(); }

} // namespace nereid::generator
