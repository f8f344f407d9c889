// SPDX-License-Identifier: Apache-2.0
#include "lib/develop/performance/Duel.h"

#include "lib/develop/performance/Bench.h"

namespace nereid::develop {

using generator::Schedule;

Duel duel(generator::Generation &generation, const definition::Case &testCase, DType dtype,
          const Schedule &before, const Schedule &after, const Machine &chip,
          const PerformanceOptions &options, int tries) {
  Duel result;
  OperatorBench bench = OperatorBench::make(generation, testCase, dtype, chip, options);
  result.before = bench.rowOf(bench.row, before);
  result.after = bench.rowOf(bench.row, after);
  if (!bench.row.skipped.empty()) {
    result.failure = bench.row.skipped;
    return result;
  }
  auto prepare = [&](const Schedule &schedule) {
    return PreparedLaunch::prepare(options.source, generation, schedule, bench.tensors.inputs,
                                   bench.tensors.outputs);
  };
  auto first = prepare(before), second = prepare(after);
  if (!first || !second) {
    result.failure = !first ? first.error().message : second.error().message;
    return result;
  }
  const std::vector<bench::Row> timed = bench::timeLaunches(bench.bench,
                                                            {timedLaunch("before", *first, options),
                                                             timedLaunch("after", *second, options),
                                                             timedLaunch("again", *first, options)},
                                                            chip, options.secondsPerCase);
  for (const bench::Row &row : timed) {
    result.failure = result.failure.empty() ? row.failure : result.failure;
  }
  result.before = bench.rowOf(timed[0], before);
  result.after = bench.rowOf(timed[1], after);
  result.after.isVerified = result.failure.empty();
  if (timed[0].kernel.samples.empty()) {
    return result;
  }
  result.evidence = measure::weigh(timed[0].kernel, timed[2].kernel, timed[1].kernel, tries);
  result.before.idleFraction = idleFraction(*first);
  result.after.idleFraction = idleFraction(*second);
  return result;
}

} // namespace nereid::develop
