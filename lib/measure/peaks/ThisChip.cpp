// SPDX-License-Identifier: Apache-2.0
#include "lib/measure/peaks/ThisChip.h"

#include "lib/measure/peaks/Calibrate.h"
#include "lib/measure/results/SystemState.h"
#include "lib/support/AtomicFile.h"
#include "lib/support/DiskCache.h"
#include "lib/support/Hash.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <thread>

#include <sys/resource.h>
#include <unistd.h>

namespace nereid::measure {

namespace {

/// Others may use this share of the processors on a quiet machine.
constexpr double mostDisturbed = 0.05;
/// Repetitions of a figure are this far apart at most when nothing disturbs it.
constexpr double mostSpread = 0.1;
/// What is uncertain is measured again after this time at the earliest, twice as long after each
/// attempt, as some machines are never quiet; what is not, on some days.
constexpr int64_t repairSeconds = 600, againSeconds = 86400;
constexpr int days = 5;

/// Processor time of this process, in seconds.
double ownSeconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  auto seconds = [](const timeval &time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

/// What others did between two calls; nothing where the system does not tell.
class Watch {
public:
  Disturbance operator()() {
    const auto times = readProcessorTimes();
    const double own = ownSeconds();
    const double wall =
        std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
    Disturbance result;
    if (times && formerTimes && times->total > formerTimes->total && wall > formerWall) {
      const double total = times->total - formerTimes->total;
      // All processors together pass `total` ticks in the time that one passes in `wall` seconds.
      const auto processors = static_cast<double>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)));
      const double ownShare = (own - formerOwn) / (wall - formerWall) / processors;
      result.others = std::max(0.0, (times->busy - formerTimes->busy) / total - ownShare);
      result.stolen = std::max(0.0, (times->stolen - formerTimes->stolen) / total);
    }
    formerTimes = times;
    formerOwn = own;
    formerWall = wall;
    return result;
  }

private:
  std::optional<ProcessorTimes> formerTimes;
  double formerOwn = 0, formerWall = 0;
};

/// What was measured before, if it is of this chip and such as a machine can have.
std::optional<Machine> knownChip(const Machine &chip, const std::string &path) {
  auto known = path.empty() ? Result<Machine>(makeError("E0701", "")) : loadMachine(path);
  const bool isUsable =
      known && known->fingerprint == chip.fingerprint && known->isCalibrated && hasRates(*known);
  return isUsable ? std::optional(std::move(*known)) : std::nullopt;
}

bool isDue(const Calibration &calibration, int64_t now) {
  const int64_t age = now - calibration.lastSeconds;
  // A clock that was put back must not keep what is uncertain for ever.
  if (age < 0) {
    return true;
  }
  const int attempts = std::clamp(calibration.times - 1, 0, 8);
  return calibration.uncertainty.empty() ? calibration.times < days && age >= againSeconds
                                         : age >= (repairSeconds << attempts);
}

bool isQuietNow(const CalibrationSeams &seams, int waits) {
  for (int i = 0; i < waits; ++i) {
    (void)seams.disturbance();
    seams.waitAWhile();
    if (seams.disturbance().text().empty()) {
      return true;
    }
  }
  return false;
}

/// Measures now, and says of the rates what is to be thought of them.
Machine measured(Machine chip, const CalibrationSeams &seams) {
  (void)seams.disturbance();
  double spread = seams.calibrate(chip);
  if (!hasRates(chip)) {
    spread = seams.calibrate(chip); // a clock that jumped, or memory that was short for a moment
  }
  Calibration &calibration = chip.calibration;
  calibration = {1, seams.now(), seams.disturbance().text()};
  if (calibration.uncertainty.empty() && spread > mostSpread) {
    calibration.uncertainty =
        fmt::format("repetitions of one figure were {:.0f} % apart", 100 * spread);
  }
  if (!hasRates(chip)) {
    calibration.uncertainty = "not all rates could be measured";
  }
  return chip;
}

double better(double known, double now, bool isNowCertain) {
  constexpr double unbelievable = 4;
  return isNowCertain && known > unbelievable * now ? now : std::max(known, now);
}

} // namespace

std::string chipPath(const Machine &chip, const std::string &folder) {
  const std::string hash = toHex(sha256(std::string_view(chip.fingerprint))).substr(0, 16);
  return folder.empty() ? "" : folder + "/chip-" + hash + ".json";
}

std::string Disturbance::text() const {
  if (stolen > mostDisturbed) {
    return fmt::format("other guests of the host took {:.0f} % of the processors", 100 * stolen);
  }
  if (others > mostDisturbed) {
    return fmt::format("other processes used {:.0f} % of the processors", 100 * others);
  }
  return "";
}

std::string uncertaintyNote(const Machine &chip) {
  const std::string &why = chip.calibration.uncertainty;
  return why.empty()
             ? ""
             : fmt::format("the machine's rates are uncertain, and with them its roofline: {} "
                           "when they were measured\n",
                           why);
}

bool isImpossibleHere(const Machine &chip, const TimedWork &work, const CalibrationSeams &seams) {
  auto isBelowFloor = [&](const Machine &by) {
    const Roofline floor = roofline(by, work.bytes, work.flops, work.type);
    return isImpossible(by, floor, work.beside, work.seconds);
  };
  const bool isBelow = isBelowFloor(chip);
  if (!isBelow || chip.calibration.uncertainty.empty() || chip.isDevice) {
    return isBelow;
  }
  // What an earlier time asked for may be enough.
  return isBelowFloor(thisChip(false, seams)) && isBelowFloor(thisChip(true, seams));
}

CalibrationSeams systemSeams() {
  CalibrationSeams seams;
  seams.folder = cacheDirectory();
  seams.detect = detectMachine;
  seams.calibrate = measure::calibrate;
  seams.disturbance = [watch = std::make_shared<Watch>()] { return (*watch)(); };
  seams.waitAWhile = [] { std::this_thread::sleep_for(std::chrono::milliseconds(100)); };
  seams.now = [] {
    return std::chrono::duration_cast<std::chrono::seconds>(
               std::chrono::system_clock::now().time_since_epoch())
        .count();
  };
  seams.say = [](const std::string &line) { fmt::print(stderr, "{}\n", line); };
  return seams;
}

Machine betterRates(const Machine &known, const Machine &now) {
  const bool isCertain = now.calibration.uncertainty.empty();
  auto rate = [&](double first, double second) { return better(first, second, isCertain); };
  Machine result = now;
  for (auto [mine, theirs] : {std::pair(&result.peakFlops, &known.peakFlops),
                              std::pair(&result.peakFlopsOneCore, &known.peakFlopsOneCore)}) {
    for (auto &[type, value] : *mine) {
      const auto found = theirs->find(type);
      value = found == theirs->end() ? value : rate(found->second, value);
    }
  }
  for (size_t i = 0; i < std::min(result.caches.size(), known.caches.size()); ++i) {
    CacheLevel &mine = result.caches[i];
    mine.bytesPerSecond = rate(known.caches[i].bytesPerSecond, mine.bytesPerSecond);
    mine.allBytesPerSecond = rate(known.caches[i].allBytesPerSecond, mine.allBytesPerSecond);
  }
  result.copyBandwidth = rate(known.copyBandwidth, now.copyBandwidth);
  result.bestCopy = result.copyBandwidth == now.copyBandwidth ? now.bestCopy : known.bestCopy;
  result.copyBandwidthOneCore = rate(known.copyBandwidthOneCore, now.copyBandwidthOneCore);
  result.readBandwidth = rate(known.readBandwidth, now.readBandwidth);
  result.writeBandwidth = rate(known.writeBandwidth, now.writeBandwidth);
  result.calibration.times = known.calibration.times + 1;
  // What was certain once stays so: only better rates take its place.
  if (known.calibration.uncertainty.empty()) {
    result.calibration.uncertainty.clear();
  }
  return result;
}

Machine thisChip(bool recalibrate, const CalibrationSeams &seams) {
  const Machine chip = seams.detect();
  const std::string path = chipPath(chip, seams.folder);
  const std::optional<Machine> known = knownChip(chip, path);
  const bool isAsked = recalibrate || !known;
  if (!isAsked && !isDue(known->calibration, seams.now())) {
    return *known;
  }
  // Rates that are there can wait for a quiet moment; those that are not cannot wait for long.
  if (!isQuietNow(seams, isAsked ? 10 : 1) && !isAsked) {
    return *known;
  }
  seams.say(fmt::format("measuring what this machine can do{}, some seconds; kept in {}",
                        !known        ? ""
                        : recalibrate ? " again"
                                      : " again, to keep the best of several times",
                        path.empty() ? "no file, as there is no cache folder" : path));
  Machine now = measured(chip, seams);
  if (!now.calibration.uncertainty.empty()) {
    seams.say(fmt::format("its rates are uncertain: {}; they are measured again when it is quiet",
                          now.calibration.uncertainty));
  }
  if (known) {
    now = betterRates(*known, now);
  }
  // Without a usable cache folder the next run measures again; nothing else depends on it.
  if (!path.empty() && createFolders(seams.folder)) {
    (void)writeFileAtomically(path, toJson(now));
  }
  return now;
}

} // namespace nereid::measure
