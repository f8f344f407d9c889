// SPDX-License-Identifier: Apache-2.0
#include "lib/bench/Row.h"

#include "lib/measure/peaks/ThisChip.h"
#include "lib/report/RooflineReport.h"

#include <algorithm>

namespace nereid::bench {

static double shareOf(double floor, const measure::Timing &kernel) {
  const double seconds = kernel.summary.median;
  return seconds > 0 ? floor / seconds : 0;
}

double Row::bandwidthShare() const { return shareOf(floor.memorySeconds, kernel); }
double Row::computeShare() const { return shareOf(floor.computeSeconds, kernel); }
double Row::rooflineShare() const { return std::max(bandwidthShare(), computeShare()); }

std::string Row::rooflineFault() const {
  const bool isTimed = floor.isMemoryBound() ? copySeconds > 0 : peakSeconds > 0;
  return measure::rooflineFault(rooflineShare(), isTimed, isOnDevice);
}

void judgeSpeed(Row &row, const Machine &chip) {
  measure::TimedWork work{row.bytes, row.flops, row.peakType, {}, row.kernel.summary.median};
  work.beside.memorySeconds = row.copySeconds;
  work.beside.computeSeconds = row.peakSeconds;
  row.isOnDevice = chip.isDevice;
  row.floor = measure::roofline(chip, row.bytes, row.flops, row.peakType);
  if (row.copySeconds > 0) {
    row.floor.memorySeconds = row.copySeconds;
  }
  if (row.peakSeconds > 0) {
    row.floor.computeSeconds = row.peakSeconds;
  }
  if (row.failure.empty() && work.seconds > 0 && measure::isImpossibleHere(chip, work)) {
    row.failure = report::impossibleText(work.seconds, row.floor);
  }
}

} // namespace nereid::bench
