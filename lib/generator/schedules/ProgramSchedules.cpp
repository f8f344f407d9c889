// SPDX-License-Identifier: Apache-2.0
// Schedules of programs, see ProgramSchedules.h.
#include "lib/generator/schedules/ProgramSchedules.h"

#include "lib/generator/launch/Choices.h"
#include "lib/measure/statistics/Evidence.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace nereid::generator {
namespace {

const LaunchChoice *findChoice(const LaunchTable &table, const std::string &name) {
  for (const LaunchChoice *one : choicesOf(table)) {
    if (one->name == name) {
      return one;
    }
  }
  return nullptr;
}

} // namespace

std::vector<const LaunchChoice *> choicesOf(const LaunchTable &table) {
  std::vector<const LaunchChoice *> list;
  for (const LaunchChoice &one : table.choices) {
    list.push_back(&one);
  }
  for (const LaunchEntry &entry : table.kernels) {
    for (const LaunchChoice &one : entry.choices) {
      list.push_back(&one);
    }
  }
  return list;
}

Schedule shownSchedule(const ProgramCase &one, const Schedule &schedule) {
  const ChosenValues chosen = chosenBy(schedule);
  auto launches = bindLaunch(*one.table, one.symbols, one.site, chosen);
  return shownSchedule(one, launches ? *launches : std::vector<BoundLaunch>(), chosen);
}

Schedule shownSchedule(const ProgramCase &one, const std::vector<BoundLaunch> &launches,
                       const ChosenValues &chosen) {
  return scheduleOf(*one.table, launches, chosen);
}

Schedule chosenPart(const ProgramCase &one, const Schedule &shown) {
  const Schedule rule = shownSchedule(one, {});
  Schedule part;
  for (const auto &[name, value] : shown.constants) {
    if (rule.get(name, -1) != value && findChoice(*one.table, name)) {
      part.constants.emplace_back(name, value);
    }
  }
  return part;
}

Schedule naiveSchedule(const LaunchTable &table) {
  Schedule naive;
  for (const LaunchChoice *one : choicesOf(table)) {
    if (one->kind != LaunchChoice::Kind::Option) {
      naive.constants.emplace_back(one->name, std::clamp(one->naive, one->least, one->most));
    }
  }
  return naive;
}

std::string roleOfChange(const std::string &key) { return key.substr(0, key.find('.')); }

CaseSizes sizesOf(const ProgramCase &one, const std::string &role) {
  CaseSizes sizes;
  sizes.bytes = one.bytes;
  auto extents = bindExtents(*one.table, one.symbols, one.site);
  for (size_t i = 0; extents && i < extents->size(); ++i) {
    const bool isIt =
        one.table->kernels[i].role == role || one.table->kernels[i].role.starts_with(role + "_");
    if (!isIt || (*extents)[i].empty()) {
      continue;
    }
    sizes.columns = (*extents)[i].back();
    for (size_t dim = 0; dim + 1 < (*extents)[i].size(); ++dim) {
      sizes.rows *= (*extents)[i][dim];
    }
    break;
  }
  return sizes;
}

FirstChoice firstSchedule(const ProgramCase &one, const Machine &chip, const Patterns *patterns) {
  FirstChoice choice;
  choice.origin = "rule";
  choice.reason = "blocks and forms by the rules of the launch table";
  std::set<std::string> roles;
  std::map<std::string, std::set<int64_t>> had; // values of each choice that a pattern decided
  for (const LaunchChoice *each : choicesOf(*one.table)) {
    roles.insert(roleOfChange(each->name));
  }
  /// Whether the pattern begins where this launch is; then it is followed.
  auto follow = [&](const Pattern &pattern) {
    const std::string name = pattern.change.substr(0, pattern.change.find('='));
    const auto change = parseSchedule(pattern.change);
    const auto from = parseSchedule(pattern.from);
    const LaunchChoice *known = findChoice(*one.table, name);
    const bool isFitting = pattern.gain > measure::leastGain && known && change && from &&
                           change->constants.size() == 1;
    if (!isFitting) {
      return false;
    }
    const int64_t value = change->constants[0].second;
    const int64_t now = shownSchedule(one, choice.schedule).get(name, -1);
    const bool isFromHere =
        from->constants.empty() ? !had.contains(name) : now == from->get(name, -2);
    const bool isBack = had.contains(name) && had[name].contains(value);
    if (!isFromHere || isBack || value < known->least || value > known->most) {
      return false;
    }
    had[name].insert({now, value});
    choice.schedule = choice.schedule.choosing(name, value);
    choice.reason =
        fmt::format("{}'{}' gained {:.2f}x in {} observation{}",
                    choice.origin == "pattern" ? choice.reason + "; " : "", pattern.change,
                    pattern.gain, pattern.count, pattern.count == 1 ? "" : "s");
    choice.origin = "pattern";
    return true;
  };
  for (const std::string &role : patterns ? roles : std::set<std::string>()) {
    const auto list = patterns->lookup(role, sizesOf(one, role), one.dtype, chip);
    // Best gain first, and from there on what gained once more.
    while (std::any_of(list.begin(), list.end(),
                       [&](const Pattern *pattern) { return follow(*pattern); })) {
    }
  }
  return choice;
}

} // namespace nereid::generator
