// SPDX-License-Identifier: Apache-2.0
#include "lib/measure/statistics/Gate.h"

#include <fmt/format.h>

#include <algorithm>

namespace nereid::measure {

namespace {

Diagnostic incomparable(const std::string &message, const std::string &help) {
  return makeError("E0704", message).withHelp(help);
}

bool haveOneYardstick(const RecordedCase &before, const RecordedCase &now) {
  return !before.yardstick.samples.empty() && !now.yardstick.samples.empty() &&
         before.yardstick.name == now.yardstick.name &&
         before.yardstickAmount == now.yardstickAmount;
}

/// What the machine took for the case's yardstick, now over then; 0 = unknown.
double driftOf(const RecordedCase &before, const RecordedCase &now) {
  return haveOneYardstick(before, now)
             ? now.yardstick.summary.median / before.yardstick.summary.median
             : 0;
}

/// Why a pair is not told apart although its medians differ.
std::string noteOf(const RecordedCase &before, const RecordedCase &now, const Evidence &evidence) {
  std::vector<std::string> notes;
  for (const auto &[one, when] : {std::pair(&before, "then"), std::pair(&now, "now")}) {
    if (one->timing.isNoisy) {
      notes.push_back(fmt::format("noisy {}", when));
    }
    if (one->timing.isShort) {
      notes.push_back(fmt::format("few samples {}", when));
    }
  }
  const double drift = driftOf(before, now);
  if (drift == 0) {
    notes.emplace_back("the machine's own drift is not known");
  } else if (drift >= leastGain || drift * leastGain <= 1) {
    notes.push_back(fmt::format("the machine itself took {:.2f}x of its time then", drift));
  }
  const double change = std::max(evidence.gain, evidence.gain > 0 ? 1 / evidence.gain : 0);
  if (!evidence.isShort && !evidence.isNoisy() && change >= leastGain && change <= evidence.noise) {
    notes.push_back(
        fmt::format("each run differs from itself by {:.0f} %", 100 * (evidence.noise - 1)));
  }
  return fmt::format("{}", fmt::join(notes, ", "));
}

GateRow rowOf(const RecordedCase &before, const RecordedCase &now, int tries) {
  GateRow row;
  row.name = now.name;
  row.before = before.timing.summary.median;
  row.now = now.timing.summary.median;
  if (!now.failure.empty()) {
    row.verdict = Verdict::Failed;
    row.note = now.failure;
    return row;
  }
  if (!now.isTimed()) {
    row.note = "skipped now: " + now.skipped;
    return row;
  }
  if (!before.isTimed()) {
    row.verdict = Verdict::New;
    row.note = before.failure.empty() ? "was skipped then" : "failed then";
    return row;
  }
  const Timing none;
  const bool isChecked = haveOneYardstick(before, now);
  const Evidence evidence = weighRuns({before.timing, isChecked ? before.yardstick : none},
                                      {now.timing, isChecked ? now.yardstick : none}, tries);
  row.pValue = evidence.pValue;
  row.verdict = evidence.isLoss(leastGain, mostChance)   ? Verdict::Slower
                : evidence.isGain(leastGain, mostChance) ? Verdict::Quicker
                                                         : Verdict::NotToldApart;
  row.note = noteOf(before, now, evidence);
  return row;
}

} // namespace

int GateResult::count(Verdict verdict) const {
  return static_cast<int>(std::count_if(
      rows.begin(), rows.end(), [verdict](const auto &row) { return row.verdict == verdict; }));
}

Status checkComparable(const ResultFile &before, const ResultFile &now) {
  if (before.subject != now.subject) {
    return incomparable(fmt::format("'{}' has times of '{}', but '{}' is measured", before.path,
                                    before.subject, now.subject),
                        "name a file of the same operator or folder");
  }
  if (before.fingerprint != now.fingerprint) {
    return incomparable(fmt::format("'{}' was measured on another machine: '{}', but this is '{}'",
                                    before.path, before.fingerprint, now.fingerprint),
                        "measure the version before on this machine as well");
  }
  if (before.threads != now.threads) {
    return incomparable(fmt::format("'{}' was measured with {} threads, but now there are {}",
                                    before.path, before.threads, now.threads),
                        "set NEREID_THREADS to the same number");
  }
  return Done{};
}

Result<GateResult> judge(const ResultFile &before, const ResultFile &now) {
  if (auto comparable = checkComparable(before, now); !comparable) {
    return comparable.error();
  }
  int common = 0, timed = 0;
  for (const RecordedCase &one : now.cases) {
    const RecordedCase *then = before.find(one.name);
    common += then != nullptr ? 1 : 0;
    timed += then != nullptr && then->isTimed() && one.isTimed() ? 1 : 0;
  }
  if (common == 0) {
    return incomparable(fmt::format("'{}' has none of the {} cases and types that are measured",
                                    before.path, now.cases.size()),
                        "measure the same cases and types as then");
  }
  GateResult result;
  result.path = before.path;
  result.date = before.date;
  std::vector<double> drifts;
  for (const RecordedCase &one : now.cases) {
    const RecordedCase *then = before.find(one.name);
    if (then == nullptr) {
      GateRow row;
      row.name = one.name;
      row.now = one.timing.summary.median;
      row.note = one.failure.empty() ? one.skipped : one.failure;
      row.verdict = one.failure.empty() ? Verdict::New : Verdict::Failed;
      result.rows.push_back(std::move(row));
      continue;
    }
    result.rows.push_back(rowOf(*then, one, timed));
    if (const double drift = driftOf(*then, one); drift > 0) {
      drifts.push_back(drift);
    }
  }
  for (const RecordedCase &one : before.cases) {
    if (now.find(one.name) == nullptr) {
      GateRow row;
      row.name = one.name;
      row.before = one.timing.summary.median;
      row.verdict = Verdict::Gone;
      result.rows.push_back(std::move(row));
    }
  }
  result.drift = geometricMean(drifts);
  return result;
}

void confirm(GateResult &result, const GateResult &again) {
  for (GateRow &row : result.rows) {
    const auto second = std::find_if(again.rows.begin(), again.rows.end(),
                                     [&](const auto &other) { return other.name == row.name; });
    if (row.verdict != Verdict::Slower || second == again.rows.end()) {
      continue;
    }
    const bool isConfirmed = second->verdict == Verdict::Slower;
    row.verdict =
        isConfirmed || second->verdict == Verdict::Failed ? second->verdict : Verdict::NotToldApart;
    row.note += row.note.empty() ? "" : ", ";
    row.note += second->verdict == Verdict::Failed
                    ? "failed when measured again"
                    : fmt::format("{:.2f}x when measured again", second->now / second->before);
  }
}

std::string_view name(Verdict verdict) {
  switch (verdict) {
  case Verdict::Slower:
    return "slower";
  case Verdict::Quicker:
    return "quicker";
  case Verdict::NotToldApart:
    return "not told apart";
  case Verdict::Failed:
    return "failed";
  case Verdict::New:
    return "new";
  case Verdict::Gone:
    return "gone";
  }
  return "";
}

} // namespace nereid::measure
