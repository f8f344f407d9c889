// SPDX-License-Identifier: Apache-2.0
// Schedules as values: text forms, classes of cases, the table of chosen ones.
#include "lib/generator/Schedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <tuple>

namespace nereid::generator {
namespace {

std::optional<int64_t> parseInteger(std::string_view text) {
  int64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) {
    return std::nullopt;
  }
  return value;
}

/// "map.BLOCK_X".
bool isName(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.';
  });
}

} // namespace

int64_t Schedule::get(std::string_view name, int64_t fallback) const {
  for (const auto &[key, value] : constants) {
    if (key == name) {
      return value;
    }
  }
  return fallback;
}

Schedule Schedule::with(std::string_view name, int64_t value) const {
  Schedule changed = *this;
  for (auto &[key, current] : changed.constants) {
    if (key == name) {
      current = value;
    }
  }
  return changed;
}

Schedule Schedule::choosing(const std::string &name, int64_t value) const {
  Schedule changed = with(name, value);
  const bool isThere = std::any_of(constants.begin(), constants.end(),
                                   [&](const auto &one) { return one.first == name; });
  if (!isThere) {
    changed.constants.emplace_back(name, value);
  }
  return changed;
}

std::string Schedule::text() const {
  std::string text;
  for (const auto &[key, value] : constants) {
    text += fmt::format("{}{}={}", text.empty() ? "" : ",", key, value);
  }
  return text;
}

std::optional<Schedule> parseSchedule(std::string_view text) {
  Schedule schedule;
  while (!text.empty()) {
    std::string_view entry = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), entry.size() + 1));
    const size_t equals = entry.find('=');
    const std::string_view name = entry.substr(0, equals);
    if (equals == std::string_view::npos || !isName(name)) {
      return std::nullopt;
    }
    auto value = parseInteger(entry.substr(equals + 1));
    if (!value) {
      return std::nullopt;
    }
    schedule.constants.emplace_back(name, *value);
  }
  return schedule;
}

std::string CaseClass::text() const {
  std::string text(torchName(dtype));
  for (const auto &[name, size] : sizesUpTo) {
    text += fmt::format(",{}<={}", name, size);
  }
  return text;
}

const ScheduleTable::Entry *ScheduleTable::find(const CaseClass &caseClass) const {
  for (const Entry &entry : entries) {
    if (entry.caseClass == caseClass) {
      return &entry;
    }
  }
  return nullptr;
}

void ScheduleTable::set(const CaseClass &caseClass, const Schedule &schedule, std::string origin) {
  for (Entry &entry : entries) {
    if (entry.caseClass == caseClass) {
      entry.form = entry.schedule == schedule ? entry.form : Form::Unasked;
      entry.schedule = schedule;
      entry.origin = std::move(origin);
      return;
    }
  }
  entries.push_back({caseClass, schedule, std::move(origin), Form::Unasked});
  std::sort(entries.begin(), entries.end(), [](const Entry &a, const Entry &b) {
    auto key = [](const CaseClass &one) { return std::tie(one.dtype, one.sizesUpTo); };
    return key(a.caseClass) < key(b.caseClass);
  });
}

void ScheduleTable::setForm(const CaseClass &caseClass, Form form) {
  for (Entry &entry : entries) {
    entry.form = entry.caseClass == caseClass ? form : entry.form;
  }
}

bool ScheduleTable::hasForm(Form form) const {
  return std::any_of(entries.begin(), entries.end(),
                     [&](const Entry &entry) { return entry.form == form; });
}

std::vector<Form> ScheduleTable::forms() const {
  std::vector<Form> list;
  for (const Entry &entry : entries) {
    list.push_back(entry.form);
  }
  return list;
}

constexpr std::string_view formNames[] = {"", "launches", "graph", "eager"};

std::string_view formName(Form form) { return formNames[static_cast<size_t>(form)]; }

std::optional<Form> parseForm(std::string_view name) {
  const auto *found = std::find(std::begin(formNames), std::end(formNames), name);
  return found == std::end(formNames) ? std::nullopt
                                      : std::optional(static_cast<Form>(found - formNames));
}

} // namespace nereid::generator
