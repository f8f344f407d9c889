// SPDX-License-Identifier: Apache-2.0
#include "lib/develop/PatternText.h"

#include "lib/measure/statistics/Evidence.h"
#include "lib/report/Table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace nereid::develop {

using generator::Pattern;
using generator::PatternCondition;

namespace {

std::string rangeText(const char *what, int64_t from, int64_t to) {
  return from == to ? fmt::format("{} {}", from, what)
         : to == 0  ? fmt::format("{} {} and more", from, what)
                    : fmt::format("{} to {} {}", from, to, what);
}

/// "reduce, float32, 1025 to 2048 rows, 513 to 1024 columns, from memory".
std::string whenText(const Pattern &pattern) {
  const PatternCondition &c = pattern.condition;
  return fmt::format(
      "{}, {}, {}, {}, {}", pattern.operatorKind, c.dtype.empty() ? "any type" : c.dtype,
      rangeText("rows", c.rowsFrom, c.rowsTo), rangeText("columns", c.columnsFrom, c.columnsTo),
      c.isBeyondCache ? "from memory" : "within the caches");
}

/// What the constants of a change are.
std::string constantsText(const std::string &change) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 15> meanings = {
      {{"BLOCK_M=", "rows of a tile"},
       {"BLOCK_N=", "columns of a tile"},
       {"BLOCK_X=", "lines of a tile"},
       {"BLOCK_Y=", "columns of a tile"},
       {"BLOCK_Z=", "rows of a tile"},
       {"BLOCK_K=", "depth of a tile"},
       {"BLOCK_R=", "piece of a reduced line"},
       {"GROUP_M=", "order of programs"},
       {"HELD=", "longest line in one tile"},
       {"SPLIT=", "reductions in parts"},
       {"PERSISTENT=", "programs that walk over tiles"},
       {"STREAM_K=", "the last wave of tiles, dealt to all programs"},
       {"FUSED=", "one kernel for a chain"},
       {"num_warps=", "warps of a program"},
       {"num_stages=", "stages of copies"}}};
  std::string text;
  for (const auto &[name, meaning] : meanings) {
    if (change.find(name) != std::string::npos) {
      text += (text.empty() ? "" : ", ") + std::string(meaning);
    }
  }
  return text;
}

std::string adviceText(const Pattern &pattern) {
  if (pattern.gain < measure::leastGain) {
    return pattern.gain <= 1 / measure::leastGain
               ? "leave it out: rounds do not try it again here"
               : "too little to count: rounds do not try it again here";
  }
  return pattern.count > 1 ? "begin with it: `generate` does for operators like this"
                           : "begin with it, as `generate` does; it was seen once, so look whether "
                             "it holds";
}

std::string chipOf(const Pattern &pattern) {
  return pattern.condition.chip.empty() ? "any chip" : pattern.condition.chip;
}

} // namespace

std::string patternsPage(const std::string &operatorName, const generator::Patterns &patterns) {
  std::vector<Pattern> all = patterns.all();
  std::stable_sort(all.begin(), all.end(), [](const Pattern &a, const Pattern &b) {
    return std::pair(chipOf(a), -a.gain) < std::pair(chipOf(b), -b.gain);
  });
  std::string text = fmt::format(
      "# Patterns learned with {}\n\nChanges of schedules that optimisation rounds have compared "
      "and "
      "told from noise: gains that two comparisons confirmed, and losses. The gain is old time by "
      "new "
      "time, its geometric mean over the times it was seen; the chance is the largest one that "
      "there "
      "is no difference. They hold where operator, type and sizes are alike, on the chip that is "
      "named. `patterns.json` is the same for the program.\n",
      operatorName);
  if (all.empty()) {
    return text + "\nNothing was learned yet: no change was told from noise.\n";
  }
  for (size_t i = 0; i < all.size();) {
    const std::string chip = chipOf(all[i]);
    report::Table table(
        {"when", "what", "from", "to", ">gain", ">seen", ">chance", "last", "advice"});
    for (; i < all.size() && chipOf(all[i]) == chip; ++i) {
      const Pattern &one = all[i];
      table.add({whenText(one), constantsText(one.change), one.from, one.change,
                 report::formatRatio(one.gain), std::to_string(one.count),
                 fmt::format("{:.2g}", one.pValue), one.lastSeen, adviceText(one)});
    }
    text += fmt::format("\n## {}\n\n{}", chip, table.markdown());
  }
  return text;
}

} // namespace nereid::develop
