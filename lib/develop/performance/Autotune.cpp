// SPDX-License-Identifier: Apache-2.0
#include "lib/develop/performance/Autotune.h"

#include "lib/bench/verification/Verification.h"
#include "lib/develop/Optimization.h"
#include "lib/develop/performance/Bench.h"
#include "lib/develop/performance/Duel.h"
#include "lib/launch/LostDevice.h"
#include "lib/report/Table.h"
#include "lib/support/Interrupt.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace nereid::develop {

using generator::Generation;
using generator::Schedule;
using runtime::Tensor;

namespace {

/// Of the quickest at a glance, so many are looked at closely.
constexpr size_t finalists = 3;

struct Candidate {
  Schedule schedule;
  std::optional<PreparedLaunch> launch; ///< none: it does not compile
  double seconds = std::numeric_limits<double>::infinity();
};

/// The tensors where the kernels run; they must outlive the launches.
Result<std::vector<Tensor>> placed(const std::vector<Tensor> &tensors, runtime::Device *device) {
  std::vector<Tensor> there;
  for (const Tensor &tensor : tensors) {
    if (device == nullptr) {
      there.push_back(tensor);
      continue;
    }
    auto copy = tensor.copyTo(*device);
    if (const auto *error = std::get_if<runtime::LaunchError>(&copy)) {
      return makeError(error->code, error->message);
    }
    there.push_back(std::get<Tensor>(std::move(copy)));
  }
  return there;
}

/// The median of a few runs; what cannot be launched is infinitely slow.
double glanceAt(const PreparedLaunch &launch, const PerformanceOptions &options) {
  std::string wrong;
  const bench::TimedLaunch timed = timedLaunch("candidate", launch, options);
  measure::Version version;
  version.run = [&] { wrong = wrong.empty() ? timed.run() : wrong; };
  if (timed.timedRuns) {
    version.timedRuns = [&](int runs) {
      double seconds = 0;
      const std::string said = timed.timedRuns(runs, seconds);
      wrong = wrong.empty() ? said : wrong;
      return seconds;
    };
  }
  measure::TimerOptions timer;
  timer.minimumSamples = 5;
  timer.maximumSamples = 10;
  timer.secondsBudget = 0.03;
  timer.leastSpan = 0;
  timer.isStopped = isInterrupted;
  const double median = measure::timeInterleaved({version}, timer).front().summary.median;
  return wrong.empty() ? median : std::numeric_limits<double>::infinity();
}

/// E0421 where the schedule that was run last has taken the device from this process: what comes
/// behind it would only seem to be slow.
Status askDevice(const PerformanceOptions &options, const Schedule &last,
                 const std::string &caseName) {
  if (options.device == nullptr) {
    return Done{};
  }
  const runtime::LaunchError lost = launch::lossOf(*options.device);
  if (!lost) {
    return Done{};
  }
  Diagnostic error = makeError(lost.code, lost.message);
  error.note(fmt::format("case '{}' was timed with schedule {}; no schedule behind it was tried",
                         caseName, last.text()));
  return error.withHelp("run the command again with '--mode default', which tries no schedules");
}

/// The space, compiled several at a time and timed one after the other; the quickest first.
class Screening {
public:
  Screening(Generation &generation, const PerformanceOptions &options)
      : generation(generation), options(options) {}

  Status run(const std::vector<Schedule> &space, const CaseTensors &tensors,
             const std::string &caseName) {
    auto in = placed(tensors.inputs, options.device);
    auto out = in ? placed(tensors.outputs, options.device) : in;
    if (!out) {
      return out.error();
    }
    inputs = std::move(*in);
    outputs = std::move(*out);
    candidates.resize(space.size());
    bench::forEachAtOnce(space.size(), [&](size_t i) {
      candidates[i].schedule = space[i];
      auto launch = PreparedLaunch::prepare(options.source, generation, space[i], inputs, outputs);
      // A schedule that these tensors turn into another one is tried as that one.
      if (launch && launch->isOf(space[i]) && !launch->isEmpty()) {
        candidates[i].launch.emplace(std::move(*launch));
      }
      return true;
    });
    for (Candidate &one : candidates) {
      if (one.launch && !isInterrupted()) {
        one.seconds = glanceAt(*one.launch, options);
        Status there =
            std::isinf(one.seconds) ? askDevice(options, one.schedule, caseName) : Done{};
        if (!there) {
          return there;
        }
      }
    }
    std::stable_sort(candidates.begin(), candidates.end(),
                     [](const Candidate &a, const Candidate &b) { return a.seconds < b.seconds; });
    return Done{};
  }

  std::vector<Candidate> candidates;

private:
  Generation &generation;
  const PerformanceOptions &options;
  std::vector<Tensor> inputs, outputs;
};

std::string figuresOf(const Duel &duel) {
  return fmt::format("{} -> {}, {}", report::formatSeconds(duel.before.kernel.summary.median),
                     report::formatSeconds(duel.after.kernel.summary.median),
                     report::formatRatio(duel.evidence.gain));
}

} // namespace

Result<Tuning> autotune(Generation &generation, const definition::Case &testCase, DType dtype,
                        const Machine &chip, const PerformanceOptions &options) {
  Tuning tuning;
  tuning.caseName = testCase.name;
  tuning.dtype = dtype;
  tuning.before = tuning.after = generation.scheduleFor(testCase.binding, dtype, chip);
  definition::GridCase grid{testCase.name, testCase.binding};
  grid.seed = options.seed;
  auto tensors = makeTensors(generation, grid, dtype);
  if (!tensors) {
    return tensors.error();
  }
  Screening screening(generation, options);
  if (Status screened =
          screening.run(generation.space(testCase.binding, dtype, chip), *tensors, testCase.name);
      !screened) {
    return screened.error();
  }
  *tensors = {}; // each comparison makes its own
  for (const Candidate &one : screening.candidates) {
    ++(one.launch ? tuning.tried : tuning.refused);
  }
  PerformanceOptions performance = options;
  performance.withBaseline = false;
  auto compare = [&](const Schedule &candidate, uint64_t seed) {
    performance.seed = seed;
    return duel(generation, testCase, dtype, tuning.after, candidate, chip, performance,
                static_cast<int>(tuning.tried));
  };
  tuning.conclusion = "no schedule is quicker at a glance";
  for (size_t i = 0; i < std::min(finalists, screening.candidates.size()); ++i) {
    const Schedule &candidate = screening.candidates[i].schedule;
    if (isInterrupted() || !screening.candidates[i].launch || candidate == tuning.after) {
      break; // what comes behind the present one was slower
    }
    const Duel first = compare(candidate, options.seed);
    if (!first.failure.empty()) {
      if (Status there = askDevice(options, candidate, testCase.name); !there) {
        return there.error();
      }
      tuning.conclusion = fmt::format("{} is refused: {}", candidate.text(), first.failure);
      continue;
    }
    const Duel second = isGain(first.evidence) ? compare(candidate, options.seed + 1) : first;
    if (!second.failure.empty()) {
      if (Status there = askDevice(options, candidate, testCase.name); !there) {
        return there.error();
      }
    }
    const bool isKept = second.failure.empty() && isGain(second.evidence);
    tuning.conclusion = fmt::format("{} is {}: {}", candidate.text(),
                                    isKept ? "kept" : "not told apart", figuresOf(second));
    if (isKept) {
      tuning.after = candidate;
      break;
    }
  }
  return tuning;
}

} // namespace nereid::develop
