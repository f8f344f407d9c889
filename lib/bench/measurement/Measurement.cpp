// SPDX-License-Identifier: Apache-2.0
#include "lib/bench/measurement/Measurement.h"

#include "lib/eager/baseline/Eager.h"
#include "lib/measure/peers/FloorPeers.h"
#include "lib/support/Interrupt.h"

#include <memory>
#include <random>
#include <utility>

namespace nereid::bench {

namespace {

/// The first failure stays.
void note(std::string &failure, std::string wrong) {
  failure = failure.empty() ? std::move(wrong) : failure;
}

/// The copy, else arithmetic: what the machine itself was like beside the kernel.
struct Yardsticks {
  std::optional<measure::FloorPeer> copy, arithmetic;
  bool isPeak = false; ///< the arithmetic is what binds the kernel

  Yardsticks(const Bench &bench, const Machine &chip) {
    const Row &row = bench.row;
    if (!bench.isHere) {
      return;
    }
    if (bench.copy) {
      copy = measure::copyPeer(chip, bench.copy->to, bench.copy->from);
    }
    if (copy) {
      copy->version.prepare = bench.copy->prepare ? bench.copy->prepare : copy->version.run;
    }
    isPeak = !measure::roofline(chip, row.bytes, row.flops, row.peakType).isMemoryBound();
    arithmetic = isPeak ? measure::peakPeer(row.flops, row.peakType)
                 : copy ? std::nullopt
                        : measure::clockPeer();
  }

  void addTo(std::vector<measure::Version> &versions) const {
    for (const auto *peer : {&copy, &arithmetic}) {
      if (*peer) {
        versions.push_back((*peer)->version);
      }
    }
  }

  /// `own` begins with their timings. The row has its kernel's.
  void record(Row &row, const measure::Timing *own) const {
    const measure::Timing *arithmeticTiming = own + (copy ? 1 : 0);
    if (copy) {
      row.copySeconds = copy->secondsFor(row.bytes, *own, row.kernel);
    }
    if (arithmetic && isPeak) {
      row.peakSeconds = arithmetic->secondsFor(row.flops, *arithmeticTiming, row.kernel);
    }
    if (copy || arithmetic) {
      row.yardstick = *own;
      row.yardstickAmount = copy ? copy->amount : arithmetic->amount;
    }
  }
};

measure::Version versionOf(const TimedLaunch &launch, std::string &failure) {
  measure::Version version;
  version.name = launch.name;
  version.prepare = launch.prepare;
  version.run = [&launch, &failure] {
    std::string wrong = launch.run();
    if (!wrong.empty()) {
      note(failure, std::move(wrong));
    }
  };
  if (launch.timedRuns) {
    // Each run alone, as the kernel's: several queued at once would hide what it takes to begin.
    version.renew = std::exchange(version.prepare, [] {});
    version.timedRuns = [&launch, &failure](int runs) {
      double seconds = 0;
      note(failure, launch.timedRuns(runs, seconds));
      return seconds;
    };
  }
  return version;
}

/// What one of the samples left is verified, and nobody knows which.
measure::Version kernelVersion(const TimedLaunch &launch, Bench &bench, std::string &failure) {
  measure::Version version = versionOf(launch, failure);
  version.renew = [&bench, &launch, &failure] {
    bench.renew();
    note(failure, launch.send());
  };
  const auto chosen =
      static_cast<int>(std::random_device()() % measure::TimerOptions().minimumSamples);
  version.finish = [&bench, &launch, &failure, chosen, taken = 0]() mutable {
    if (taken++ != chosen || !failure.empty()) {
      return;
    }
    note(failure, launch.fetch());
    if (std::string wrong = bench.check.verify(); !wrong.empty()) {
      note(failure, "a timed launch: " + wrong);
    }
  };
  return version;
}

std::string verifyLaunch(Bench &bench, const TimedLaunch &launch) {
  bench.renew();
  std::string wrong;
  for (const auto *step : {&launch.send, &launch.run, &launch.fetch}) {
    wrong = wrong.empty() ? (*step)() : wrong;
  }
  return wrong.empty() ? bench.check.verify() : wrong;
}

double timeEmpty(const TimedLaunch &launch) {
  measure::TimerOptions options;
  options.secondsBudget = 0.05;
  options.leastSpan = 0; // a median of quick runs; nothing is claimed of its spread
  return measure::timeInterleaved({{"launch", launch.runEmpty}}, options)[0].summary.median;
}

/// A case's part of the turns: what it has timed, and what its rows take of that.
class Part {
public:
  Part(const Contestant &contestant, const Machine &chip)
      : bench(*contestant.bench), launches(contestant.launches), chip(chip),
        rows(launches.size(), bench.row) {}

  /// The launches once each; false when one of them is wrong.
  bool isRight();
  void addTo(std::vector<measure::Version> &versions);
  void record(const std::vector<measure::Timing> &timings);
  std::vector<Row> takeRows() { return std::move(rows); }

private:
  Bench &bench;
  const std::vector<TimedLaunch> &launches;
  const Machine &chip;
  std::vector<Row> rows;
  std::optional<Yardsticks> yardsticks;
  std::string peerFailure;
  size_t first = 0, firstYardstick = 0, firstLaunch = 0; ///< of the versions that are its own
};

bool Part::isRight() {
  bool isRight = true;
  for (size_t i = 0; i < launches.size(); ++i) {
    rows[i].failure = verifyLaunch(bench, launches[i]);
    isRight = isRight && rows[i].failure.empty();
  }
  return isRight;
}

void Part::addTo(std::vector<measure::Version> &versions) {
  yardsticks.emplace(bench, chip);
  first = versions.size();
  if (bench.peer) {
    versions.push_back(versionOf(*bench.peer, peerFailure));
    for (const TimedLaunch &other : bench.otherPeers) {
      versions.push_back(versionOf(other, peerFailure));
    }
  }
  // Before the launches: the outputs that are verified afterwards are those of the last one.
  firstYardstick = versions.size();
  yardsticks->addTo(versions);
  firstLaunch = versions.size();
  for (size_t i = 0; i < launches.size(); ++i) {
    versions.push_back(kernelVersion(launches[i], bench, rows[i].failure));
  }
}

void Part::record(const std::vector<measure::Timing> &timings) {
  if (!launches.empty()) {
    note(rows.back().failure, launches.back().fetch());
  }
  const std::string wrong = bench.check.verify();
  const auto at = [&](size_t i) { return timings.begin() + static_cast<ptrdiff_t>(i); };
  for (size_t i = 0; i < launches.size(); ++i) {
    Row &row = rows[i];
    row.kernel = timings[firstLaunch + i];
    if (bench.peer) {
      row.peer = timings[first];
      row.otherPeers.assign(at(first + 1), at(firstYardstick));
    }
    yardsticks->record(row, timings.data() + firstYardstick);
    note(row.failure, peerFailure);
    note(row.failure, wrong);
    row.isVerified = bench.check.hasReference() && row.failure.empty();
    judgeSpeed(row, chip);
    row.launchSeconds = timeEmpty(launches[i]);
  }
}

} // namespace

std::vector<Row> timeLaunches(Bench &bench, const std::vector<TimedLaunch> &launches,
                              const Machine &chip, double secondsBudget) {
  return std::move(timeTogether({{&bench, launches}}, chip, secondsBudget).front());
}

std::vector<std::vector<Row>> timeTogether(const std::vector<Contestant> &contestants,
                                           const Machine &chip, double secondsBudget) {
  std::vector<std::unique_ptr<Part>> parts;
  std::vector<Part *> timed;
  std::vector<measure::Version> versions;
  for (const Contestant &contestant : contestants) {
    parts.push_back(std::make_unique<Part>(contestant, chip));
    if (parts.back()->isRight()) {
      parts.back()->addTo(versions);
      timed.push_back(parts.back().get());
    }
  }
  if (!timed.empty()) {
    measure::TimerOptions timer;
    timer.secondsBudget = secondsBudget;
    timer.isStopped = isInterrupted;
    const std::vector<measure::Timing> timings = measure::timeInterleaved(versions, timer);
    eager::releaseCachedMemory();
    for (Part *part : timed) {
      part->record(timings);
    }
  }
  std::vector<std::vector<Row>> rows;
  rows.reserve(parts.size());
  for (const auto &part : parts) {
    rows.push_back(part->takeRows());
  }
  return rows;
}

} // namespace nereid::bench
