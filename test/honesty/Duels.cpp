// SPDX-License-Identifier: Apache-2.0
// How often a schedule is taken for quicker than itself: duels of a generated kernel against the
// same kernel, decided as optimisation rounds decide. Best beside busy loops, as `./dev honesty
// --duels` runs it.
#include "lib/develop/Optimization.h"
#include "lib/measure/peaks/ThisChip.h"
#include "lib/support/AtomicFile.h"
#include "lib/targets/Targets.h"

#include <fmt/format.h>

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <thread>

using namespace nereid;

namespace {

struct Counts {
  int kept = 0, seeming = 0, noisy = 0, failed = 0;
};

Counts fight(generator::Generation &generation, const std::string &file, int duels) {
  const Machine chip = measure::thisChip();
  const definition::Case &one = generation.op().performanceCases.front();
  const generator::Schedule schedule = generation.scheduleFor(one.binding, DType::F32, chip);
  develop::PerformanceOptions options;
  options.source = {file};
  options.secondsPerCase = 0.05;
  Counts counts;
  for (int i = 0; i < duels; ++i) {
    bool isGain = true;
    for (int turn = 0; turn < 2 && isGain; ++turn) {
      options.seed = static_cast<uint64_t>(2 * i + turn);
      const develop::Duel duel =
          develop::duel(generation, one, DType::F32, schedule, schedule, chip, options, 1);
      counts.failed += duel.failure.empty() ? 0 : 1;
      counts.noisy += duel.evidence.isNoisy() || duel.evidence.isShort ? 1 : 0;
      isGain = duel.failure.empty() && develop::isGain(duel.evidence);
      counts.seeming += isGain && turn == 0 ? 1 : 0;
    }
    counts.kept += isGain ? 1 : 0;
  }
  return counts;
}

} // namespace

int main(int argc, char **argv) {
  const int duels = argc > 1 ? std::atoi(argv[1]) : 0, loops = argc > 2 ? std::atoi(argv[2]) : 0;
  if (duels < 1 || loops < 0) {
    fmt::print(stderr, "usage: duels COUNT [BUSY-LOOPS]\n");
    return 2;
  }
  registerTargets();
  Diagnostics diags;
  auto op = definition::loadOperator(NEREID_SOURCE_DIR "/test/honesty/duel.toml", diags);
  if (!op) {
    fmt::print(stderr, "{}", diags.render());
    return 2;
  }
  auto generation = generator::generate(*op, measure::thisChip(), nullptr);
  const std::string file =
      (std::filesystem::temp_directory_path() / fmt::format("nereid_duels_{}.py", ::getpid()))
          .string();
  if (!generation || !writeFileAtomically(file, generator::writeTriton(*generation))) {
    fmt::print(stderr, "the kernel cannot be written to {}\n", file);
    return 2;
  }
  std::vector<std::jthread> busy;
  for (int i = 0; i < loops; ++i) {
    busy.emplace_back([](const std::stop_token &stop) {
      volatile double sum = 0;
      while (!stop.stop_requested()) {
        sum = sum + 1;
      }
    });
  }
  const Counts counts = fight(*generation, file, duels);
  std::filesystem::remove(file);
  fmt::print(
      "{} duels of a kernel against itself beside {} busy loops: {} kept, {} seemed a gain at "
      "first; {} comparisons were noisy, {} failed\n",
      duels, loops, counts.kept, counts.seeming, counts.noisy, counts.failed);
  return counts.kept > duels / 1000 || counts.failed > 0 ? 1 : 0;
}
