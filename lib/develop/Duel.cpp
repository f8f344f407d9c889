// SPDX-License-Identifier: Apache-2.0
#include "lib/develop/Duel.h"

#include "lib/develop/Bench.h"
#include "lib/eager/Eager.h"

#include <algorithm>

namespace nereid::develop {

using generator::Schedule;

Duel duel(generator::Generation &generation, const definition::Case &testCase, DType dtype,
          const Schedule &before, const Schedule &after, const measure::Chip &chip,
          const PerformanceOptions &options, int tries) {
  Duel result;
  Bench bench = Bench::make(generation, testCase, dtype, chip, options);
  result.before = result.after = bench.row;
  result.before.schedule = before;
  result.after.schedule = after;
  if (!bench.row.skipped.empty()) {
    result.failure = bench.row.skipped;
    return result;
  }
  auto prepare = [&](const Schedule &schedule) {
    return PreparedLaunch::prepare(options.source, generation.fused, schedule, bench.tensors.inputs,
                                   bench.tensors.outputs);
  };
  auto first = prepare(before), second = prepare(after);
  if (!first || !second) {
    result.failure = !first ? first.error().message : second.error().message;
    return result;
  }
  auto version = [&](const char *name, const PreparedLaunch &launch) {
    return kernelVersion(name, launch, generation, bench, result.failure);
  };
  std::vector<measure::Version> versions = {version("before", *first), version("after", *second),
                                            version("again", *first)};
  // Nothing unverified is timed.
  versions[1].renew();
  versions[1].run();
  if (result.failure.empty()) {
    result.failure = verifyOutputs(generation, bench);
  }
  if (!result.failure.empty()) {
    return result;
  }
  constexpr size_t kernels = 3; // The last versions.
  const auto yardstick = Yardstick::make(bench, chip);
  yardstick.insert(versions, 0);
  versions.insert(versions.begin(), baselineVersion(generation, bench, result.failure));
  const auto timings = measure::timeInterleaved(versions, timerOptions(options));
  eager::releaseCachedMemory();
  const measure::Timing *times = &timings[timings.size() - kernels];
  result.before.kernel = times[0];
  result.after.kernel = times[1];
  for (PerformanceRow *row : {&result.before, &result.after}) {
    yardstick.record(*row, timings[1]);
    fillSpeedup(*row, timings.front());
    fillRates(*row, chip);
  }
  result.evidence = measure::weigh(times[0], times[2], times[1], tries);
  for (const std::string &wrong :
       {result.before.failure, result.after.failure, verifyOutputs(generation, bench)}) {
    result.failure = result.failure.empty() ? wrong : result.failure;
  }
  result.after.isVerified = result.failure.empty();
  fillLaunchCosts(result.after, *second);
  fillLaunchCosts(result.before, *first);
  return result;
}

} // namespace nereid::develop
