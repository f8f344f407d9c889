// SPDX-License-Identifier: Apache-2.0
#include "lib/report/GateReport.h"

#include "lib/report/Table.h"

#include <fmt/format.h>

#include <algorithm>

namespace nereid::report {

using measure::GateResult;
using measure::GateRow;
using measure::Verdict;

static bool isPair(const GateRow &row) { return row.before > 0 && row.now > 0; }

static std::string timeText(double seconds) { return seconds > 0 ? formatSeconds(seconds) : "-"; }

std::string gateTable(const GateResult &result) {
  Table table({"case", ">before", ">now", ">ratio", ">p", "verdict", "note"});
  for (const GateRow &row : result.rows) {
    table.add({row.name, timeText(row.before), timeText(row.now),
               isPair(row) ? formatRatio(row.now / row.before) : "-",
               isPair(row) ? fmt::format("{:.2g}", row.pValue) : "-",
               std::string(measure::name(row.verdict)), row.note});
  }
  return table.text();
}

std::string gateSummary(const GateResult &result) {
  const auto compared = std::count_if(result.rows.begin(), result.rows.end(), isPair);
  std::string text = fmt::format(
      "against {} of {}: {} of {} cases slower, {} quicker, {} not told apart, {} new, {} gone",
      result.path, result.date, result.count(Verdict::Slower), compared,
      result.count(Verdict::Quicker), result.count(Verdict::NotToldApart),
      result.count(Verdict::New), result.count(Verdict::Gone));
  if (const int failed = result.count(Verdict::Failed); failed > 0) {
    text += fmt::format(", {} failed", failed);
  }
  text += fmt::format("; slower or quicker is {} at least, with p below {} for all cases together",
                      formatPercent(measure::leastGain - 1), formatPercent(measure::mostChance));
  return text + (result.drift > 0 ? fmt::format("; the machine itself took {} of its time then",
                                                formatRatio(result.drift))
                                  : std::string("; the machine's own drift is not known"));
}

nlohmann::ordered_json gateJson(const GateResult &result) {
  auto rows = nlohmann::ordered_json::array();
  for (const GateRow &row : result.rows) {
    nlohmann::ordered_json entry = {{"case", row.name}, {"verdict", measure::name(row.verdict)}};
    if (row.before > 0) {
      entry["before"] = row.before;
    }
    if (row.now > 0) {
      entry["now"] = row.now;
    }
    if (isPair(row)) {
      entry["ratio"] = row.now / row.before;
      entry["p_value"] = row.pValue;
    }
    if (!row.note.empty()) {
      entry["note"] = row.note;
    }
    rows.push_back(std::move(entry));
  }
  nlohmann::ordered_json json = {{"file", result.path},
                                 {"date", result.date},
                                 {"passed", result.passed()},
                                 {"least_ratio", measure::leastGain},
                                 {"most_chance", measure::mostChance}};
  json["drift"] = result.drift > 0 ? nlohmann::ordered_json(result.drift) : nullptr;
  json["rows"] = std::move(rows);
  return json;
}

} // namespace nereid::report
