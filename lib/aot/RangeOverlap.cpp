// SPDX-License-Identifier: Apache-2.0
#include "lib/aot/RangeOverlap.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>

namespace nereid::aot {
namespace {

struct Interval {
  int64_t least = INT64_MIN, most = INT64_MAX;
};

/// The conditions of a specialization, ranges by parameter and apart from the others.
struct Split {
  std::map<int64_t, Interval> ranges;
  std::vector<Condition> others;
};

Split split(const std::vector<Condition> &conditions) {
  Split result;
  for (const Condition &condition : conditions) {
    if (condition.kind == ConditionKind::AtLeast) {
      result.ranges[condition.slot].least = condition.value;
    } else if (condition.kind == ConditionKind::AtMost) {
      result.ranges[condition.slot].most = condition.value;
    } else {
      result.others.push_back(condition);
    }
  }
  return result;
}

std::string rangeText(const std::string &name, const Interval &both) {
  if (both.least == INT64_MIN) {
    return fmt::format("{} is at most {}", name, both.most);
  }
  return both.most == INT64_MAX ? fmt::format("{} is at least {}", name, both.least)
                                : fmt::format("{} is from {} to {}", name, both.least, both.most);
}

/// "n is from 3 to 5": what fits both; nothing when some parameter's ranges are disjoint.
std::string commonValues(const Interface &interface, const Split &a, const Split &b) {
  std::map<int64_t, Interval> both = a.ranges;
  for (const auto &[slot, range] : b.ranges) {
    Interval &common = both[slot];
    common = {std::max(common.least, range.least), std::min(common.most, range.most)};
  }
  std::string text;
  for (const auto &[slot, range] : both) {
    if (range.least > range.most) {
      return "";
    }
    text += (text.empty() ? "" : " and ") +
            rangeText(interface.parameters[static_cast<size_t>(slot)].name, range);
  }
  return text;
}

} // namespace

std::optional<Diagnostic> findOverlap(const Interface &interface) {
  const std::vector<SpecializationPlan> &plans = interface.specializations;
  for (size_t i = 0; i < plans.size(); ++i) {
    for (size_t j = i + 1; j < plans.size(); ++j) {
      const Split a = split(plans[i].conditions), b = split(plans[j].conditions);
      // The more specific one comes first: then it is clear which one is meant.
      if (implies(plans[i].conditions, plans[j].conditions) || !implies(a.others, b.others) ||
          !implies(b.others, a.others)) {
        continue;
      }
      const std::string common = commonValues(interface, a, b);
      if (!common.empty()) {
        return makeError("E0026",
                         fmt::format("two specializations are meant when {}: '{}' and '{}'", common,
                                     plans[i].signature, plans[j].signature))
            .withHelp("end one range where the other begins, or put one inside the other");
      }
    }
  }
  return std::nullopt;
}

} // namespace nereid::aot
