// SPDX-License-Identifier: Apache-2.0
// What rounds do with what a comparison says, on comparisons whose truth is known: a gain reaches
// the files, the patterns and the next choice; noise reaches nothing.
#include "lib/definition/Graph.h"
#include "lib/develop/Optimization.h"
#include "lib/develop/edits/LineDiff.h"
#include "lib/generator/call/CallPlan.h"
#include "lib/support/AtomicFile.h"

#include <gtest/gtest.h>

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <set>

namespace nereid::develop {
namespace {

using generator::Schedule;

class Rounds : public testing::Test {
protected:
  explicit Rounds(const std::string &definition = "broadcast_add")
      : folder(testing::TempDir() + "/nereid_rounds_" + std::to_string(::getpid())),
        text(*readTextFile(NEREID_SOURCE_DIR "/operators/" + definition + ".toml")) {
    std::filesystem::remove_all(folder);
    Diagnostics diags;
    auto op = definition::parseOperator(definition + ".toml", text, diags);
    EXPECT_TRUE(bool(op)) << diags.render();
    chip.cores = 2;
    chip.name = "a chip";
    generation = *generator::generate(*op, chip, nullptr);
    project.emplace(*generator::Project::create(folder, *op, text));
    PerformanceRow row;
    row.caseName = op->performanceCases.front().name;
    row.dtype = DType::F32;
    row.schedule = shown(generation, generation.scheduleFor(firstBinding(), DType::F32, chip));
    row.speedup = 1;
    row.floor.memorySeconds = 0.3e-3;
    row.isBeyondCache = true;
    row.kernel.summary.median = 1e-3; // a fifth of it for launching asks for larger programs
    row.launchSeconds = 2e-4;
    row.kernel.summary.count = row.peer.summary.count = 20;
    rows = {row};
    options.rounds = 1;
    options.compare = [this](auto &, auto &, DType, const Schedule &before, const Schedule &after,
                             auto &, const PerformanceOptions &, int tries) {
      EXPECT_EQ(tries, static_cast<int>(project->manifest.rounds.size()) + 1);
      Duel duel;
      duel.before = duel.after = rows.front();
      duel.before.schedule = before;
      duel.after.schedule = after;
      duel.after.speedup = duel.before.speedup * evidence.at(compared).gain;
      duel.after.isVerified = true;
      duel.evidence = evidence.at(compared++);
      return duel;
    };
    options.verifyAll = [this] {
      ++verified;
      return wrong;
    };
  }
  ~Rounds() override { std::filesystem::remove_all(folder); }

  OptimizationResult run() {
    auto result = optimize(*project, generation, rows, chip, patterns, options);
    EXPECT_TRUE(bool(result));
    return *result;
  }

  static measure::Evidence clear(double gain) { return {gain, 1.005, 1e-6}; }

  const definition::Binding &firstBinding() const {
    return generation.op().performanceCases.front().binding;
  }
  /// With the blocks of the case, as a measurement has it.
  Schedule shown(const generator::Generation &of, const Schedule &schedule) const {
    return generator::planCall(of, schedule, firstBinding(), DType::F32)->schedule;
  }
  Schedule naive() const {
    return shown(generation, generator::naiveSchedule(generation.program.tables.at(DType::F32)));
  }

  /// What `generate` chooses for the case with what was learned.
  Schedule nextChoice() {
    auto next = *generator::generate(generation.op(), chip, &patterns);
    return shown(next, next.scheduleFor(firstBinding(), DType::F32, chip, &patterns));
  }

  std::string folder, text, wrong;
  Machine chip;
  generator::Generation generation;
  std::optional<generator::Project> project;
  generator::Patterns patterns;
  std::vector<PerformanceRow> rows;
  OptimizationOptions options;
  std::vector<measure::Evidence> evidence;
  size_t compared = 0;
  int verified = 0;
};

TEST_F(Rounds, AGainReachesFilesPatternsAndTheNextChoice) {
  const Schedule before = rows.front().schedule;
  const std::string codeBefore = generator::writeTriton(generation);
  evidence = {clear(1.3), clear(1.25)};
  const OptimizationResult result = run();
  ASSERT_EQ(result.rounds.size(), 1u);
  EXPECT_TRUE(result.rounds.front().isKept) << result.rounds.front().conclusion;
  EXPECT_EQ(verified, 1);
  const Schedule after = rows.front().schedule;
  EXPECT_NE(after.text(), before.text());
  EXPECT_NEAR(rows.front().speedup, 1.25, 1e-12); // as the second comparison measured it
  ASSERT_EQ(patterns.all().size(), 1u);
  EXPECT_NEAR(patterns.all().front().gain, 1.25, 1e-12);
  // Through the file, as another run reads it.
  ASSERT_TRUE(bool(patterns.save(folder + "/patterns.json")));
  patterns = *generator::Patterns::load(folder + "/patterns.json");
  EXPECT_EQ(nextChoice().text(), after.text());
  EXPECT_NE(readTextFile(project->path("optimization_log.md"))->find("kept"), std::string::npos);
  const generator::RoundRecord &round = result.rounds.front();
  EXPECT_EQ(round.outcome, generator::RoundOutcome::Kept);
  EXPECT_NEAR(round.before.launchFraction, 0.2, 1e-12); // 0.2 ms of 1 ms
  EXPECT_GT(round.before.programs, 0);
  EXPECT_NE(round.sizes.find(" = "), std::string::npos);
  // The code that the log shows is what became of the kernel's file.
  const std::string code = *readTextFile(project->path(generation.op().name + "_triton.py"));
  EXPECT_NE(code, codeBefore);
  EXPECT_EQ(round.codeDifference, diffText(codeBefore, code, 60));
  EXPECT_NE(readTextFile(project->path("optimization_log.md"))
                ->find("_triton.py`:\n\n```diff\n" + round.codeDifference + "```"),
            std::string::npos);
  EXPECT_EQ(generator::Project::open(folder)->manifest.rounds.front().codeDifference,
            round.codeDifference);
}

/// What was reached in several steps is where the next operator begins.
TEST_F(Rounds, GainsOfOneChoiceAfterAnotherAreTheNextChoiceTogether) {
  options.rounds = 4;
  evidence.assign(20, clear(1.2));
  const OptimizationResult result = run();
  std::multiset<std::string> choices;
  for (const generator::RoundRecord &round : result.rounds) {
    EXPECT_TRUE(round.isKept) << round.conclusion;
    choices.insert(round.change.substr(0, round.change.find(' ')));
  }
  EXPECT_TRUE(std::any_of(choices.begin(), choices.end(), [&](const std::string &each) {
    return choices.count(each) > 1;
  })) << "no choice was changed twice";
  EXPECT_EQ(nextChoice().text(), rows.front().schedule.text());
  // Two that contradict each other lead nowhere for ever.
  generator::Pattern back = patterns.all().front();
  std::swap(back.change, back.from);
  patterns.record(back);
  EXPECT_FALSE(nextChoice().text().empty());
}

/// The same of a product.
class ProgramRounds : public Rounds {
protected:
  ProgramRounds() : Rounds("products/matmul") {}
};

TEST_F(ProgramRounds, AGainReachesFilesPatternsAndTheNextChoice) {
  const definition::Binding &binding = firstBinding();
  evidence = {clear(1.3), clear(1.25)};
  const OptimizationResult result = run();
  ASSERT_EQ(result.rounds.size(), 1u) << result.stopReason;
  const generator::RoundRecord &round = result.rounds.front();
  EXPECT_TRUE(round.isKept) << round.conclusion;
  EXPECT_NE(round.before.bottleneck, generator::Bottleneck::Unknown);
  EXPECT_GT(round.before.runBytes, 0);
  // What the rules do not say is in the table, and the files launch it.
  const Schedule kept = generation.scheduleFor(binding, DType::F32, chip);
  EXPECT_EQ(kept.constants.size(), 1u) << kept.text();
  EXPECT_EQ(generator::planCall(generation, kept, binding, DType::F32)->schedule.text(),
            rows.front().schedule.text());
  EXPECT_NE(
      readTextFile(project->path("matmul_triton.py"))->find("SCHEDULES = {\n    (torch.float32, "),
      std::string::npos);
  EXPECT_NE(readTextFile(project->path("matmul_triton.py"))
                ->find("# by round 1: " + round.reason + "; expected "),
            std::string::npos);
  // Another type of the same sizes stays as it was.
  EXPECT_TRUE(generation.scheduleFor(binding, DType::F16, chip).constants.empty());
  ASSERT_TRUE(bool(patterns.save(folder + "/patterns.json")));
  patterns = *generator::Patterns::load(folder + "/patterns.json");
  EXPECT_EQ(nextChoice().text(), shown(generation, kept).text());
  // Through the manifest, as another run reads it.
  ASSERT_TRUE(bool(project->saveManifest()));
  EXPECT_EQ(generator::Project::open(folder)
                ->manifest.table.find(generation.classOf(binding, DType::F32))
                ->schedule.text(),
            kept.text());
}

/// What was learned of one operator's template is the first choice of another one's.
TEST_F(ProgramRounds, PatternsAreOfTemplates) {
  evidence = {clear(1.3), clear(1.25)};
  ASSERT_TRUE(run().rounds.front().isKept);
  ASSERT_EQ(patterns.all().size(), 1u);
  EXPECT_EQ(patterns.all().front().operatorKind, "contract");
  Diagnostics diags;
  const std::string path = NEREID_SOURCE_DIR "/operators/products/linear_gelu.toml";
  auto other = definition::parseOperator(path, *readTextFile(path), diags);
  ASSERT_TRUE(bool(other)) << diags.render();
  auto next = generator::generate(*other, chip, &patterns);
  ASSERT_TRUE(bool(next));
  EXPECT_TRUE(std::any_of(next->table.entries.begin(), next->table.entries.end(),
                          [](const auto &entry) { return entry.origin.starts_with("pattern: "); }));
}

TEST_F(ProgramRounds, TheNaiveStartIsLeftStepByStep) {
  generation = *generator::generate(generation.op(), chip, nullptr, generator::Start::Naive);
  rows.front().schedule =
      generation.scheduleFor(generation.op().performanceCases.front().binding, DType::F32, chip);
  EXPECT_EQ(rows.front().schedule.get("contract.BLOCK_M"), 32);
  options.rounds = 3;
  for (int i = 0; i < 6; ++i) {
    evidence.push_back(clear(1.2));
  }
  const OptimizationResult result = run();
  EXPECT_EQ(result.rounds.size(), 3u) << result.stopReason;
  for (const generator::RoundRecord &round : result.rounds) {
    EXPECT_TRUE(round.isKept) << round.conclusion;
    EXPECT_GE(round.expectedGain, 1.02);
  }
}

/// A cache can do so much that its rows seem far away, and rounds would never reach the others.
TEST_F(Rounds, RowsInACacheComeLast) {
  const std::vector<definition::Case> &cases = generation.op().performanceCases;
  ASSERT_GT(cases.size(), 1u);
  PerformanceRow cached = rows.front();
  cached.caseName = cases[1].name;
  cached.isBeyondCache = false;
  cached.speedup = 0.5; // short of the target
  cached.floor.memorySeconds = 1e-5;
  rows.insert(rows.begin(), cached);
  evidence = {clear(1.01)};
  const OptimizationResult result = run();
  ASSERT_EQ(result.rounds.size(), 1u);
  EXPECT_EQ(result.rounds.front().caseName, cases[0].name);
}

TEST_F(Rounds, NoiseChangesNothing) {
  const std::string before = rows.front().schedule.text();
  for (const measure::Evidence &one :
       {measure::Evidence{1.3, 1.005, 1e-6, 0.2, false},
        measure::Evidence{1.3, 1.005, 1e-6, 0.01, true},
        measure::Evidence{1.3, 1.4, 1e-6, 0.01, false},
        measure::Evidence{1.3, 1.005, 0.3, 0.01, false}, clear(1.01)}) {
    evidence = {one};
    compared = 0;
    project->manifest.rounds.clear();
    const OptimizationResult result = run();
    ASSERT_EQ(result.rounds.size(), 1u);
    EXPECT_FALSE(result.rounds.front().isKept);
    const std::string &said = result.rounds.front().conclusion;
    EXPECT_NE(said.find("not told apart"), std::string::npos);
    EXPECT_EQ(said.find("noisy: samples deviate by 20 %") != said.npos, one.deviation == 0.2);
    EXPECT_EQ(said.find("too few samples") != said.npos, one.isShort);
  }
  EXPECT_EQ(rows.front().schedule.text(), before);
  EXPECT_EQ(verified, 0);
  EXPECT_TRUE(patterns.all().empty());
  EXPECT_EQ(nextChoice().text(), before);
}

TEST_F(Rounds, NoisyRowsAreWorkedOnAndDecideNoTarget) {
  rows.front().kernel.isNoisy = true;
  EXPECT_FALSE(overallSpeedup(rows));
  evidence = {clear(1.01)};
  EXPECT_EQ(run().rounds.size(), 1u);
  rows.front().skipped = "no memory";
  EXPECT_EQ(run().stopReason, "nothing measured to improve");
}

TEST_F(Rounds, AGainThatIsNotConfirmedIsNotKept) {
  evidence = {clear(1.3), clear(0.99)};
  const OptimizationResult result = run();
  EXPECT_FALSE(result.rounds.at(0).isKept);
  EXPECT_EQ(compared, 2u);
  EXPECT_TRUE(patterns.all().empty());
}

TEST_F(Rounds, ALossIsRememberedAndNotKept) {
  const std::string before = rows.front().schedule.text();
  evidence = {clear(0.8)};
  const OptimizationResult result = run();
  EXPECT_FALSE(result.rounds.at(0).isKept);
  ASSERT_EQ(patterns.all().size(), 1u);
  EXPECT_NEAR(patterns.all().front().gain, 0.8, 1e-12);
  EXPECT_EQ(nextChoice().text(), before);
}

TEST_F(Rounds, AVersionThatIsWrongSomewhereIsTakenBack) {
  const std::string before = rows.front().schedule.text();
  const std::string table = generation.table.entries.front().schedule.text();
  evidence = {clear(1.3), clear(1.3)};
  wrong = "odd 5x129 (float16): element 3 expects 1, but got 2";
  const OptimizationResult result = run();
  EXPECT_FALSE(result.rounds.at(0).isKept);
  EXPECT_NE(result.rounds.at(0).conclusion.find("rejected: odd 5x129"), std::string::npos);
  EXPECT_EQ(rows.front().schedule.text(), before);
  EXPECT_EQ(generation.table.entries.front().schedule.text(), table);
  EXPECT_TRUE(patterns.all().empty());
  // The files are those of the version before.
  EXPECT_EQ(*readTextFile(project->tritonFile()), generator::writeTriton(generation));
}

TEST_F(Rounds, AllRunsTogetherHaveSoManyRounds) {
  evidence.assign(9, clear(1.01));
  EXPECT_EQ(run().rounds.size(), 1u);
  const OptimizationResult second = run();
  EXPECT_EQ(second.rounds.size(), 0u);
  EXPECT_EQ(second.earlier, 1);
  EXPECT_EQ(second.most, 1);
  EXPECT_EQ(second.stopReason, "all rounds used");
}

TEST_F(Rounds, NoneAreNotAllUsed) {
  options.rounds = 0;
  EXPECT_EQ(run().stopReason, "no rounds are asked for");
}

TEST_F(Rounds, ChangesThatShouldNotGainAreNotTried) {
  // Near the limit of the memory, every core busy, launches free: few changes should gain.
  rows.front().floor.memorySeconds = 0.84e-3;
  rows.front().launchSeconds = 0;
  options.rounds = 9;
  evidence.assign(9, clear(1.01));
  const OptimizationResult result = run();
  EXPECT_LT(result.rounds.size(), 4u);
  for (const generator::RoundRecord &round : result.rounds) {
    EXPECT_GE(round.expectedGain, 1.02);
  }
  EXPECT_EQ(result.stopReason, "no change is left that should gain");
  ASSERT_EQ(result.next.size(), 1u); // the definition asks for more
  EXPECT_NE(result.next.front().find("no schedule of this kernel is left"), std::string::npos)
      << result.next.front();
}

/// From a naive start. What should gain most loses here, so that rounds come to the grid and to two
/// constants at once where they may.
TEST_F(ProgramRounds, CarefulOnesChangeOneParameterAndNeitherFormNorGrid) {
  generation = *generator::generate(generation.op(), chip, nullptr, generator::Start::Naive);
  project->manifest.start = generator::Start::Naive;
  const auto changedByRounds = [&](bool isConservative) {
    rows.front().schedule = naive();
    rows.front().launchSeconds = 0;
    project->manifest.rounds.clear();
    patterns = {};
    options.isConservative = isConservative;
    options.rounds = 5;
    compared = 0;
    evidence.assign(20, clear(0.9));
    int most = 0;
    for (const generator::RoundRecord &round : run().rounds) {
      const auto before = generator::parseSchedule(round.scheduleBefore);
      const auto after = generator::parseSchedule(round.scheduleAfter);
      int changed = 0;
      for (const auto &[name, value] : after->constants) {
        changed += before->get(name, -1) == value ? 0 : 1;
      }
      most = std::max(most, changed);
    }
    return most;
  };
  EXPECT_GT(changedByRounds(false), 1);
  EXPECT_EQ(changedByRounds(true), 1);
}

TEST_F(Rounds, SayWhatIsLeftToTry) {
  options.rounds = 0;
  const OptimizationResult none = run();
  ASSERT_EQ(none.next.size(), 1u);
  EXPECT_NE(none.next.front().find("expected to gain"), std::string::npos) << none.next.front();
  rows.front().kernel.isNoisy = true;
  EXPECT_NE(run().next.at(0).find("--seconds-per-case"), std::string::npos);
  rows.front().failure = "3 elements differ";
  EXPECT_NE(run().next.at(0).find("3 elements differ"), std::string::npos);
  rows.front().skipped = "too large";
  EXPECT_TRUE(run().next.empty());
}

/// A comparison measures anew, and what it finds is not what the change was made for.
TEST_F(Rounds, TheLogNamesTheFindingThatTheChangeAnswers) {
  rows.front().launchSeconds = 3e-4;
  const auto compare = options.compare;
  options.compare = [compare](auto &&...all) {
    Duel duel = compare(std::forward<decltype(all)>(all)...);
    duel.before.kernel.summary.median = duel.after.kernel.summary.median = 1e-2;
    return duel;
  };
  evidence = {clear(1.01)};
  const generator::RoundRecord round = run().rounds.at(0);
  EXPECT_EQ(round.asked.bottleneck, generator::Bottleneck::Launch);
  EXPECT_NE(round.before.bottleneck, generator::Bottleneck::Launch);
  const std::string log = *readTextFile(project->path("optimization_log.md"));
  EXPECT_NE(log.find("**Problem** launch-bound: launching: 30 % of the time\n"), std::string::npos)
      << log;
  EXPECT_NE(log.find("touches `_triton.py` alone"), std::string::npos) << log;
  EXPECT_NE(log.find("- **Conclusion** not kept, not told apart"), std::string::npos) << log;
  EXPECT_NE(round.next.find("bound by launching: 30 % of the time"), std::string::npos)
      << round.next;
  EXPECT_NE(log.find("- **Next** in this case: " + round.next + "\n"), std::string::npos) << log;
  const generator::RoundRecord read = generator::Project::open(folder)->manifest.rounds.at(0);
  EXPECT_EQ(read.next, round.next);
  EXPECT_EQ(read.asked.bottleneck, round.asked.bottleneck);
}

TEST_F(Rounds, WhatIsNextIsStillToBeTried) {
  options.rounds = 2;
  evidence = {clear(1.01), clear(1.01)};
  const OptimizationResult result = run();
  ASSERT_EQ(result.rounds.size(), 2u);
  EXPECT_TRUE(result.rounds[0].next.starts_with(result.rounds[1].change + ","))
      << result.rounds[0].next;
}

/// From a naive start round by round, each change another one, and never more than five of them.
TEST_F(Rounds, TheNaiveStartIsLeftStepByStep) {
  generation = *generator::generate(generation.op(), chip, nullptr, generator::Start::Naive);
  project->manifest.start = generator::Start::Naive;
  rows.front().schedule = naive();
  const definition::Operator &op = generation.op();
  options.rounds = op.maxRounds;
  evidence.assign(20, clear(1.2));
  const OptimizationResult result = run();
  ASSERT_GE(result.rounds.size(), 3u);
  EXPECT_LE(result.rounds.size(), 5u);
  std::set<std::string> seen = {naive().text()};
  for (const auto &round : result.rounds) {
    EXPECT_TRUE(round.isKept) << round.conclusion;
    EXPECT_FALSE(round.reason.empty());
    EXPECT_TRUE(seen.insert(round.scheduleAfter).second) << round.scheduleAfter;
    EXPECT_NEAR(round.speedupAfter / round.speedupBefore, 1.2, 1e-9);
  }
  const std::string log = *readTextFile(project->path("optimization_log.md"));
  EXPECT_NE(log.find("Start: naive"), std::string::npos);
  EXPECT_NE(log.find("| round | case | type | map.BLOCK_"), std::string::npos) << log;
  EXPECT_NE(log.find("| before its first round | 1.000x | |"), std::string::npos);
  EXPECT_NE(log.find("| 1.000x -> 1.200x | kept |"), std::string::npos);
  // What was learned on the way does not make the rule's choice another one.
  EXPECT_EQ(nextChoice().text(), shown(generation, {}).text());
  // The record says where it began, for the next run.
  ASSERT_TRUE(bool(project->saveManifest()));
  EXPECT_EQ(generator::Project::open(folder)->manifest.start, generator::Start::Naive);
}

} // namespace
} // namespace nereid::develop
