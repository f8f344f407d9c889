// SPDX-License-Identifier: Apache-2.0
// Schedules as values: text forms, classes of cases, the table of chosen ones.
#include "lib/generator/Schedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>

namespace nereid::generator {
namespace {

constexpr std::pair<KernelVariant, std::string_view> variantNames[] = {
    {KernelVariant::Flat, "flat"},
    {KernelVariant::Tiles, "tiles"},
    {KernelVariant::Rows, "rows"},
    {KernelVariant::LoopedRows, "looped_rows"},
};

constexpr std::string_view programName = "program";

std::optional<KernelVariant> parseVariant(std::string_view name) {
  for (const auto &[variant, text] : variantNames) {
    if (text == name) {
      return variant;
    }
  }
  return std::nullopt;
}

std::optional<int64_t> parseInteger(std::string_view text) {
  int64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) {
    return std::nullopt;
  }
  return value;
}

} // namespace

std::string_view variantName(KernelVariant variant) {
  return variantNames[static_cast<size_t>(variant)].second;
}

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

std::string Schedule::constantsText() const {
  std::string text;
  for (const auto &[key, value] : constants) {
    text += fmt::format("{}{}={}", text.empty() ? "" : ",", key, value);
  }
  return text;
}

std::string Schedule::text() const {
  return fmt::format("{}:{}", isOfProgram ? programName : variantName(variant), constantsText());
}

std::optional<Schedule> parseSchedule(std::string_view text) {
  size_t colon = text.find(':');
  if (colon == std::string_view::npos) {
    return std::nullopt;
  }
  Schedule schedule;
  schedule.isOfProgram = text.substr(0, colon) == programName;
  auto variant = parseVariant(text.substr(0, colon));
  if (!variant && !schedule.isOfProgram) {
    return std::nullopt;
  }
  schedule.variant = variant.value_or(schedule.variant);
  text.remove_prefix(colon + 1);
  while (!text.empty()) {
    std::string_view entry = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), entry.size() + 1));
    size_t equals = entry.find('=');
    if (equals == std::string_view::npos || equals == 0) {
      return std::nullopt;
    }
    auto value = parseInteger(entry.substr(equals + 1));
    if (!value) {
      return std::nullopt;
    }
    schedule.constants.emplace_back(entry.substr(0, equals), *value);
  }
  return schedule;
}

CaseSizes sizesOf(const FusedOperator &fused, const definition::Binding &binding, DType dtype) {
  CaseSizes sizes;
  sizes.rows = fused.rows.evaluate(binding);
  sizes.columns = fused.columns.evaluate(binding);
  for (const Operand &operand : fused.operands) {
    double bytes = static_cast<double>(sizeInBytes(operandType(operand, dtype)));
    for (size_t i = 0; i < operand.rowGroups.size(); ++i) {
      bytes *= operand.rowGroups[i] ? static_cast<double>(fused.rowGroups[i].evaluate(binding)) : 1;
    }
    for (size_t i = 0; i < operand.columnGroups.size(); ++i) {
      bytes *= operand.columnGroups[i]
                   ? static_cast<double>(fused.columnGroups[i].evaluate(binding))
                   : 1;
    }
    sizes.bytes += bytes;
    sizes.outputBytes += operand.isOutput ? bytes : 0;
  }
  return sizes;
}

std::string CaseClass::text() const {
  std::string sizes = sizesUpTo.empty() ? fmt::format(",columns<={}", columnsUpTo) : "";
  for (const auto &[name, size] : sizesUpTo) {
    sizes += fmt::format(",{}<={}", name, size);
  }
  return fmt::format("{}{}{}", torchName(dtype), sizes,
                     !sizesUpTo.empty() ? ""
                     : isBeyondCache    ? ",beyond-cache"
                                        : ",in-cache");
}

CaseClass classify(const FusedOperator &fused, const definition::Binding &binding, DType dtype,
                   const Machine &chip) {
  CaseSizes sizes = sizesOf(fused, binding, dtype);
  CaseClass result;
  result.dtype = dtype;
  result.columnsUpTo = static_cast<int64_t>(
      std::bit_ceil(static_cast<uint64_t>(std::max<int64_t>(sizes.columns, 1))));
  result.isBeyondCache = sizes.bytes > static_cast<double>(chip.lastCacheBytes());
  return result;
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
    auto key = [](const CaseClass &one) {
      return std::tie(one.dtype, one.sizesUpTo, one.columnsUpTo, one.isBeyondCache);
    };
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

std::string_view changeClassName(ChangeClass changeClass) {
  switch (changeClass) {
  case ChangeClass::Parameter:
    return "parameter";
  case ChangeClass::Interface:
    return "interface";
  case ChangeClass::Logic:
    return "logic";
  }
  return "parameter";
}

std::string changeKey(const Schedule &before, const Schedule &after) {
  if (before.variant != after.variant) {
    return fmt::format("variant={}", variantName(after.variant));
  }
  std::string key;
  for (const auto &[name, value] : after.constants) {
    if (before.get(name, value - 1) != value) {
      key += fmt::format("{}{}={}", key.empty() ? "" : ",", name, value);
    }
  }
  return key;
}

} // namespace nereid::generator
