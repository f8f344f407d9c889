// SPDX-License-Identifier: Apache-2.0
// `nereid tune --search`: the way from a case's own block sizes to quicker ones. Each round times
// the config at which the search stands and those around it in the same turns; it goes on from one
// that is clearly quicker, first in steps of four, then of two. In the end start and finish are
// timed beside each other, and that alone says what was gained.
#pragma once

#include "lib/bench/tuning/SearchSpace.h"
#include "lib/cli/tune/TunedCase.h"

#include <nlohmann/json.hpp>

#include <set>
#include <string>
#include <vector>

namespace nereid::cli {

class TuneSearch {
public:
  explicit TuneSearch(const bench::SearchSpace &space) : space(space), center(space.start) {}

  /// What is to be timed now, the config at which the search stands in front; empty at the end.
  std::vector<bench::SearchPoint> next();
  /// Of those, in their order: as TunedCase::json.
  void take(const nlohmann::ordered_json &round);

  /// As printed: "case", "start", "rounds" (each as TunedCase::json, its "kept" where the search
  /// went on from), "kept", null without a right config, and "gain", the time of the start divided
  /// by that of the kept one.
  nlohmann::ordered_json json(const std::string &caseName) const;
  bool hasRight() const { return isRight; }
  /// In the signature's form.
  std::string kept() const { return bench::pointText(center); }

private:
  void goOn(const nlohmann::ordered_json &round);
  void finish(const nlohmann::ordered_json &duel);

  const bench::SearchSpace &space;
  bench::SearchPoint center;
  std::vector<bench::SearchPoint> asked;
  std::set<bench::SearchPoint> seen;
  int64_t factor = 4; ///< of the round that is next; 1 = start and finish
  bool isRight = false, isOver = false;
  double gain = 1;
  nlohmann::ordered_json rounds = nlohmann::ordered_json::array();
};

/// The rounds as tables, and in one sentence what to write into the signature.
std::string searchText(const nlohmann::ordered_json &search);

} // namespace nereid::cli
