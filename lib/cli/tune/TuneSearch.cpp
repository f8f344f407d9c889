// SPDX-License-Identifier: Apache-2.0
#include "lib/cli/tune/TuneSearch.h"

#include "lib/report/Table.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace nereid::cli {

using Json = nlohmann::ordered_json;
using bench::SearchPoint;

/// Less is no reason to go on: noise would lead the way.
static constexpr double leastGain = 1.02;
static constexpr size_t mostRounds = 12;

/// The quickest of a round; nothing where all were refused.
static std::optional<size_t> quickestOf(const Json &configs) {
  std::optional<size_t> best;
  for (size_t i = 0; i < configs.size(); ++i) {
    if (configs[i].contains("median") &&
        (!best || configs[i]["median"] < configs[*best]["median"])) {
      best = i;
    }
  }
  return best;
}

std::vector<SearchPoint> TuneSearch::next() {
  while (!isOver && factor > 1) {
    asked.clear();
    for (SearchPoint &point : bench::pointsAround(space, center, factor)) {
      if (asked.empty() || !seen.contains(point)) {
        asked.push_back(std::move(point));
      }
    }
    if ((asked.size() > 1 || seen.empty()) && rounds.size() < mostRounds) {
      return asked;
    }
    factor /= 2;
  }
  asked = {space.start, center};
  return isOver || !isRight || center == space.start ? std::vector<SearchPoint>() : asked;
}

void TuneSearch::goOn(const Json &round) {
  const Json &configs = round["configs"];
  seen.insert(asked.begin(), asked.end());
  const auto best = quickestOf(configs);
  if (!best) {
    isOver = seen.size() == asked.size(); // in the first round: there is nowhere to stand
    factor /= 2;
    return;
  }
  isRight = true;
  const bool isCenterRight = configs[0].contains("median");
  const bool isQuicker = !isCenterRight || configs[0]["median"].get<double>() >
                                               leastGain * configs[*best]["median"].get<double>();
  if (*best != 0 && isQuicker) {
    center = asked[*best];
  } else {
    factor /= 2;
  }
}

void TuneSearch::finish(const Json &duel) {
  const Json &last = duel["configs"][1];
  isOver = true;
  if (last.contains("beside_first")) {
    gain = last["beside_first"];
  }
  if (gain < 1 || !last.contains("median")) { // what was seen on the way does not hold
    center = space.start;
    gain = 1;
  }
}

void TuneSearch::take(const Json &round) {
  const bool isDuel = factor == 1;
  factor > 1 ? goOn(round) : finish(round);
  rounds.push_back(round);
  rounds.back()["case"] =
      fmt::format("{}, {}", round["case"].get<std::string>(),
                  isDuel ? "start and finish" : fmt::format("round {}", rounds.size()));
  rounds.back()["kept"] = isRight ? Json(kept()) : Json();
}

Json TuneSearch::json(const std::string &caseName) const {
  return {{"case", caseName},
          {"start", bench::pointText(space.start)},
          {"rounds", rounds},
          {"kept", isRight ? Json(kept()) : Json()},
          {"gain", isRight ? Json(gain) : Json()}};
}

std::string searchText(const Json &search) {
  std::string text;
  for (const Json &round : search["rounds"]) {
    text += tunedText(round) + "\n";
  }
  if (search["kept"].is_null()) {
    return text + "no config is right\n";
  }
  const std::string start = search["start"], kept = search["kept"];
  if (kept == start) {
    return text + fmt::format("{} stays: nothing around it is quicker by 2 %\n", start);
  }
  return text + fmt::format("{} is kept: {} as fast as {} in the same turns; nereid bench takes it "
                            "where the signature gives none of them\n",
                            kept, report::formatRatio(search["gain"]), start);
}

} // namespace nereid::cli
