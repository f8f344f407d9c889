// SPDX-License-Identifier: Apache-2.0
// Choices as expressions, see Choices.h.
#include "lib/generator/launch/Choices.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cctype>

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

/// Sizes of the class: above half of each bound, up to it.
std::string conditionOf(const CaseClass &caseClass) {
  std::string text;
  for (const auto &[name, size] : caseClass.sizesUpTo) {
    const char *times = text.empty() ? "" : "*";
    text += size > 1 ? fmt::format("{0}({1} > {2})*({1} <= {3})", times, name, size / 2, size)
                     : fmt::format("{}({} <= 1)", times, name);
  }
  return text.empty() ? "1" : text;
}

class Inlining {
public:
  Inlining(LaunchTable table, DType dtype, const ScheduleTable &schedules)
      : table(std::move(table)) {
    for (const ScheduleTable::Entry &entry : schedules.entries) {
      if (entry.caseClass.dtype == dtype && entry.schedule.isOfProgram &&
          !entry.schedule.constants.empty()) {
        tuned.push_back({variable(), chosenBy(entry.schedule)});
        this->table.derived.push_back({tuned.back().variable, conditionOf(entry.caseClass)});
      }
    }
  }

  LaunchTable run() {
    for (const LaunchChoice &choice : table.choices) {
      values[choiceVariable(choice.name)] = valueOf(choice);
    }
    for (Workspace &one : table.workspaces) {
      one.elements = replaced(one.elements, values);
    }
    for (LaunchEntry &kernel : table.kernels) {
      inlineInto(kernel);
    }
    table.choices.clear();
    return std::move(table);
  }

private:
  struct Tuned {
    std::string variable; ///< is 1 in its class
    ChosenValues chosen;
  };

  /// A name that no size has.
  std::string variable() const {
    auto isTaken = [&](const std::string &name) {
      return std::find(table.symbols.begin(), table.symbols.end(), name) != table.symbols.end() ||
             std::any_of(table.derived.begin(), table.derived.end(),
                         [&](const NamedExpression &one) { return one.name == name; });
    };
    std::string name = "tuned";
    for (int i = 2; isTaken(name); ++i) {
      name = fmt::format("tuned_{}", i);
    }
    return name;
  }

  std::string valueOf(const LaunchChoice &choice) const {
    std::string value = "(" + replaced(choice.rule, values) + ")";
    for (const Tuned &one : tuned) {
      auto own = one.chosen.find(choice.name);
      if (own != one.chosen.end()) {
        value = fmt::format("({} if {} else {})", own->second, one.variable, value);
      }
    }
    return value;
  }

  void inlineInto(LaunchEntry &kernel) {
    for (const LaunchChoice &choice : kernel.choices) {
      values[choiceVariable(choice.name)] = valueOf(choice);
      const bool isPassed =
          std::any_of(kernel.constexprs.begin(), kernel.constexprs.end(),
                      [&](const NamedExpression &one) { return one.name == choice.constant; });
      const bool isChosen = std::any_of(tuned.begin(), tuned.end(), [&](const Tuned &one) {
        return one.chosen.contains(choice.name);
      });
      if (!isPassed && isChosen) {
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
  }

  LaunchTable table;
  std::vector<Tuned> tuned;
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
  return schedule.isOfProgram ? ChosenValues(schedule.constants.begin(), schedule.constants.end())
                              : ChosenValues();
}

LaunchTable withSchedules(LaunchTable table, DType dtype, const ScheduleTable &schedules) {
  return Inlining(std::move(table), dtype, schedules).run();
}

} // namespace nereid::generator
