// SPDX-License-Identifier: Apache-2.0
// The operator's folder: what is written reads back, and damage is a diagnostic.
#include "unittests/generator/Making.h"

#include "lib/generator/Manifest.h"
#include "lib/generator/OptimizationLog.h"
#include "lib/support/AtomicFile.h"

#include <filesystem>
#include <unistd.h>

namespace nereid::generator {
namespace {

class ProjectFolder : public testing::Test {
protected:
  ProjectFolder() : folder(testing::TempDir() + "/nereid_project_" + std::to_string(::getpid())) {
    std::filesystem::remove_all(folder);
  }
  ~ProjectFolder() override { std::filesystem::remove_all(folder); }
  std::string folder;
};

RoundRecord keptRound() {
  RoundRecord round;
  round.round = 1;
  round.caseName = "large";
  round.dtype = "float32";
  round.change = "BLOCK_N 512 -> 1024";
  round.reason = "longer runs";
  round.scheduleBefore = "tiles:BLOCK_M=4,BLOCK_N=512";
  round.scheduleAfter = "tiles:BLOCK_M=4,BLOCK_N=1024";
  round.speedupBefore = 1.5;
  round.speedupAfter = 1.8;
  round.expectedGain = 1.1;
  round.before = {.bandwidthFraction = 0.5,
                  .computeFraction = 0.1,
                  .isBeyondCache = true,
                  .launchFraction = 0.2,
                  .idleFraction = 0.3,
                  .programs = 12};
  round.after = {.bandwidthFraction = 0.6,
                 .computeFraction = 0.12,
                 .isBeyondCache = true,
                 .launchFraction = 0.04,
                 .idleFraction = 0.28,
                 .programs = 6};
  round.sizes = "D = 1024, ... = 8x2048";
  round.outcome = RoundOutcome::Kept;
  round.isVerified = round.isKept = true;
  return round;
}

TEST_F(ProjectFolder, ManifestReadsBack) {
  definition::Operator op = shipped("softmax");
  auto generation = generate(op, testChip(), nullptr);
  auto project = Project::create(folder, op, "name = \"π\"\n");
  ASSERT_TRUE(bool(project)) << render(project.error());
  project->manifest.table = generation->table;
  project->manifest.chip = "test";
  project->manifest.environmentJson = "{\"cores\":2}";
  StageRecord &stage = project->manifest.stage("verify");
  stage.isDone = stage.isPassed = true;
  stage.inputHash = "abc";
  stage.resultJson = "{\"cases\":31}";
  project->manifest.rounds.push_back(keptRound());
  ASSERT_TRUE(bool(project->saveManifest()));

  auto again = Project::open(folder);
  ASSERT_TRUE(bool(again)) << render(again.error());
  EXPECT_EQ(manifestText(again->manifest), manifestText(project->manifest));
  EXPECT_EQ(again->manifest.table.entries.size(), generation->table.entries.size());
  EXPECT_TRUE(again->manifest.isCurrent("verify", "abc"));
  EXPECT_FALSE(again->manifest.isCurrent("verify", "abd"));
  EXPECT_FALSE(again->manifest.isCurrent("bench", "abc"));
  EXPECT_EQ(*readTextFile(again->definitionFile()), "name = \"π\"\n");
}

TEST_F(ProjectFolder, EveryTruncationOfAManifestIsADiagnostic) {
  auto project = Project::create(folder, shipped("softmax"), "x");
  ASSERT_TRUE(bool(project));
  std::string text = manifestText(project->manifest);
  for (size_t length = 0; length + 2 < text.size(); length += 7) {
    auto read = readManifest("nereid.json", text.substr(0, length));
    ASSERT_FALSE(bool(read));
    EXPECT_EQ(read.error().code, "E0611");
  }
}

TEST_F(ProjectFolder, MissingOrForeignFoldersAreDiagnostics) {
  EXPECT_EQ(Project::open(folder).error().code, "E0611");
  EXPECT_FALSE(bool(Project::create("/dev/null/x", shipped("softmax"), "x")));
}

TEST_F(ProjectFolder, UnchangedFilesAreNotTouched) {
  auto project = Project::create(folder, shipped("softmax"), "x");
  ASSERT_TRUE(bool(project->writeFile({"a.txt", "one"})));
  std::filesystem::path file = project->path("a.txt");
  auto old = std::filesystem::file_time_type::clock::now() - std::chrono::hours(5);
  std::filesystem::last_write_time(file, old);
  ASSERT_TRUE(bool(project->writeFile({"a.txt", "one"})));
  EXPECT_EQ(std::filesystem::last_write_time(file), old);
  ASSERT_TRUE(bool(project->writeFile({"a.txt", "two"})));
  EXPECT_NE(std::filesystem::last_write_time(file), old);
}

TEST(OptimizationLog, TellsEveryRoundAndTheOutcome) {
  Manifest manifest;
  manifest.operatorName = "softmax";
  manifest.rounds.push_back(keptRound());
  RoundRecord lost = keptRound();
  lost.round = 2;
  lost.change = "STREAMING 0 -> 1";
  lost.isKept = false;
  lost.speedupBefore = 1.8;
  lost.speedupAfter = 1.6;
  lost.outcome = RoundOutcome::Loss;
  lost.after = lost.before;
  manifest.rounds.push_back(lost);
  std::string text =
      writeOptimizationLog(manifest, {1.7, 1.75, "no neighbour left", {"another layout"}});
  for (const char *part :
       {"## Round 1: BLOCK_N 512 -> 1024",
        "- BLOCK_N=512\n+ BLOCK_N=1024",
        "class parameter",
        "**Version** softmax.1, case `large` (D = 1024, ... = 8x2048), float32; target 1.70x",
        "**Before** 1.500x the baseline, 50 % of the copy bandwidth, 10 % of the peak arithmetic",
        "**Parallelism** 12 programs, threads without one 30 % of the time, 20 % of it spent "
        "launching",
        "**Problem** ",
        "**Idea** ",
        "**Expected effect** 1.10 times as fast by the cost model, 1.500x -> 1.650x the baseline",
        "**Result** 1.800x the baseline; the target is reached in this case",
        "**Why** it worked: share of the bandwidth 50 % -> 60 %, time spent launching 20 % -> 4 "
        "%\n",
        "the target is not reached in this case",
        "**Why** it costs more than it saves: no share that was measured moved by 5 points\n",
        "What worked:\n- BLOCK_N 512 -> 1024 (large, float32): it worked: share",
        "What to try next:\n- another layout\n",
        "## Round 2: STREAMING 0 -> 1",
        "**Result** 1.600x the baseline",
        "taken back",
        "| large | float32 | 1.500x | 1.800x | 1 of 2 |",
        "Target 1.70x: reached, 1.750x on average over the cases",
        "no neighbour left"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  }
}

TEST(OptimizationLog, SaysWhereTheTargetIsMissedOrNotTold) {
  auto summaryOf = [](std::optional<double> speedup) {
    Manifest manifest;
    return writeOptimizationLog(manifest, {1.7, speedup, "all rounds used", {}});
  };
  EXPECT_NE(summaryOf(1.69).find("Target 1.70x: not reached, 1.690x"), std::string::npos);
  EXPECT_NE(summaryOf(std::nullopt).find("Target 1.70x: not told"), std::string::npos);
}

TEST(OptimizationLog, DiffShowsOnlyWhatChanged) {
  EXPECT_EQ(diffSnippet("a\nb\nc\nd\n", "a\nb\nx\nd\n"), "```diff\n  a\n  b\n- c\n+ x\n  d\n```\n");
  EXPECT_EQ(diffSnippet("a\n", "a\n"), "");
  EXPECT_EQ(diffSnippet("", "a\n"), "```diff\n+ a\n```\n");
}

} // namespace
} // namespace nereid::generator
