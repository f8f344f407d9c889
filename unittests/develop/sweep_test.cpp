// SPDX-License-Identifier: Apache-2.0
// The arithmetic of a sweep's summary, against numbers that are worked out by hand beside it.
#include "lib/develop/sweep/FindDefinitions.h"
#include "lib/develop/sweep/Summary.h"
#include "lib/develop/sweep/SummaryText.h"
#include "lib/develop/sweep/SweepRecord.h"
#include "lib/support/AtomicFile.h"
#include "lib/support/TemporaryFolder.h"

#include <gtest/gtest.h>

#include <filesystem>

using namespace nereid;
using namespace nereid::develop;
using Json = nlohmann::ordered_json;

namespace {

OperatorResult result(OperatorState state, std::optional<double> speedup = std::nullopt,
                      std::optional<double> share = std::nullopt) {
  OperatorResult made;
  made.name = "op";
  made.operatorClass = "pointwise";
  made.state = state;
  made.speedup = speedup;
  made.rooflineShare = share;
  made.timedCases = made.decisiveCases = speedup ? 1 : 0;
  if (speedup) {
    made.isTargetMet = *speedup >= made.target;
  }
  return made;
}

Json timed(double speedup, bool isNoisy = false) {
  const Json timing = {{"median", 1.0}, {"noisy", isNoisy}, {"few_samples", false}};
  return {{"case", "one"},      {"dtype", "float32"}, {"kernel", timing},
          {"baseline", timing}, {"speedup", speedup}, {"roofline_fraction", speedup / 10}};
}

Json failedTiming() {
  return {{"case", "two"}, {"dtype", "float16"}, {"speedup", 0.0}, {"failure", "differs"}};
}

Json development(Json accuracy, Json performance) {
  return {
      {"accuracy", std::move(accuracy)}, {"performance", std::move(performance)}, {"target", 1.5}};
}

TEST(SweepResult, CountsCasesByType) {
  const Json rows = {{{"case", "a"}, {"dtype", "float32"}},
                     {{"case", "b"}, {"dtype", "float32"}, {"skipped", "too large"}},
                     {{"case", "a"}, {"dtype", "float16"}},
                     {{"case", "c"}, {"dtype", "float16"}, {"failure", "3 differ"}},
                     {{"case", "d"}, {"dtype", "float16"}, {"failure", "4 differ"}}};
  OperatorResult one;
  takeDevelopment(one, development(rows, Json::array()));
  ASSERT_EQ(one.types.size(), 2u);
  EXPECT_EQ(one.types[0].correct, 1);
  EXPECT_EQ(one.types[0].skipped, 1);
  EXPECT_EQ(one.types[1].failed, 2);
  EXPECT_EQ(one.cases().total, 5);
  EXPECT_EQ(one.cases().correct, 2); // a skipped one is not known to be right
  EXPECT_EQ(one.message, "c (float16): 3 differ");
  EXPECT_FALSE(one.speedup || one.unsteadySpeedup || one.isTargetMet);
}

TEST(SweepResult, TakesTheGeometricMeanOfDecisiveCases) {
  OperatorResult one;
  takeDevelopment(one, development(Json::array(), {timed(2), timed(8), timed(1000, true)}));
  EXPECT_EQ(one.timedCases, 3);
  EXPECT_EQ(one.decisiveCases, 2);
  ASSERT_TRUE(one.speedup);
  EXPECT_NEAR(*one.speedup, 4, 1e-12); // sqrt(2 * 8)
  EXPECT_FALSE(one.unsteadySpeedup);
  EXPECT_TRUE(one.isTargetMet.value()); // 4 >= 1.5
  // (0.2 * 0.8 * 100)^(1/3) = 16^(1/3)
  EXPECT_NEAR(one.rooflineShare.value(), 2.5198420997897464, 1e-12);
}

TEST(SweepResult, CountsAFailedCaseAsZero) {
  OperatorResult one;
  takeDevelopment(one, development(Json::array(), {timed(2), failedTiming()}));
  EXPECT_EQ(one.decisiveCases, 2);
  EXPECT_EQ(one.speedup.value(), 0);
  EXPECT_FALSE(one.isTargetMet.value());
  EXPECT_EQ(one.message, "two (float16), timed: differs");
}

TEST(SweepResult, KeepsUnsteadyTimesApart) {
  OperatorResult one;
  takeDevelopment(one, development(Json::array(), {timed(2, true), timed(8, true)}));
  EXPECT_FALSE(one.speedup || one.isTargetMet);
  EXPECT_NEAR(one.unsteadySpeedup.value(), 4, 1e-12);
  EXPECT_EQ(speedupText(one), "~4.00x");
}

TEST(SweepResult, LeavesSkippedCasesOut) {
  OperatorResult one;
  takeDevelopment(one,
                  development(Json::array(), {timed(3), {{"case", "x"}, {"skipped", "large"}}}));
  EXPECT_EQ(one.timedCases, 1);
  EXPECT_NEAR(one.speedup.value(), 3, 1e-12);
}

TEST(SweepResult, SaysWhyNothingIsTimed) {
  OperatorResult one;
  takeDevelopment(one,
                  development(Json::array(), Json::array({{{"case", "x"}, {"skipped", "large"}}})));
  EXPECT_EQ(one.message, "not timed: large");
  OperatorResult two;
  Json elsewhere = development(Json::array(), Json::array());
  elsewhere["predicted_for"] = "a chip";
  takeDevelopment(two, elsewhere);
  EXPECT_EQ(two.message, "not timed: predicted for a chip");
}

TEST(SweepTotals, CountEveryOperatorOnce) {
  OperatorResult quick = result(OperatorState::Right, 2, 0.9);
  quick.types = {{"float32", 10, 9, 0, 1}};
  quick.seconds = 1.5;
  OperatorResult wrong = result(OperatorState::Wrong);
  wrong.types = {{"float32", 10, 7, 3, 0}};
  wrong.seconds = 2;
  const Totals totals =
      totalsOf({quick, result(OperatorState::Right, 0.5, 0.4), result(OperatorState::Right), wrong,
                result(OperatorState::Refused), result(OperatorState::LeftOut),
                result(OperatorState::Pending)});
  EXPECT_EQ(totals.operators, 6);
  EXPECT_EQ(totals.right, 3);
  EXPECT_EQ(totals.failed, 2);
  EXPECT_EQ(totals.pending, 1);
  EXPECT_EQ(totals.leftOut, 1);
  EXPECT_EQ(totals.cases, 20);
  EXPECT_EQ(totals.correctCases, 16);
  EXPECT_EQ(totals.measured, 2);
  EXPECT_EQ(totals.unmeasured, 1);
  EXPECT_NEAR(totals.speedupOfRight.value(), 1, 1e-12); // sqrt(2 * 0.5)
  EXPECT_NEAR(totals.meanOfAll.value(), 0.625, 1e-12);  // (2 + 0.5 + 0 + 0) / 4
  EXPECT_EQ(totals.geometricMeanOfAll.value(), 0);
  EXPECT_EQ(totals.asQuick, 1);
  EXPECT_EQ(totals.targetsMet, 1);
  EXPECT_NEAR(totals.rooflineShare.value(), 0.6, 1e-12); // sqrt(0.9 * 0.4)
  EXPECT_EQ(totals.withRoofline, 2);
  EXPECT_NEAR(totals.seconds, 3.5, 1e-12);
}

TEST(SweepTotals, HaveNoMeanOfNothing) {
  const Totals none = totalsOf({result(OperatorState::Pending), result(OperatorState::Right)});
  EXPECT_FALSE(none.speedupOfRight || none.meanOfAll || none.geometricMeanOfAll);
  // Nothing is known of the quick ones, so that 0 would be no mean of all.
  const Totals unknown = totalsOf({result(OperatorState::Wrong), result(OperatorState::Right)});
  EXPECT_FALSE(unknown.meanOfAll || unknown.geometricMeanOfAll);
  const Totals failed =
      totalsOf({result(OperatorState::Crashed), result(OperatorState::Malformed)});
  EXPECT_FALSE(failed.speedupOfRight);
  EXPECT_EQ(failed.meanOfAll.value(), 0);
}

TEST(SweepTotals, AgreeWithTheGeometricMeanWhereNothingFails) {
  const Totals totals =
      totalsOf({result(OperatorState::Right, 2), result(OperatorState::Right, 4.5)});
  EXPECT_NEAR(totals.speedupOfRight.value(), 3, 1e-12);
  EXPECT_NEAR(totals.geometricMeanOfAll.value(), 3, 1e-12);
  EXPECT_NEAR(totals.meanOfAll.value(), 3.25, 1e-12);
}

TEST(SweepTotals, SayWhatTheMeansAreOf) {
  const std::string text =
      totalsText({result(OperatorState::Right, 2), result(OperatorState::Right, 4.5),
                  result(OperatorState::Wrong), result(OperatorState::Refused)});
  EXPECT_NE(text.find("operators: 2 of 4 right (1 wrong, 1 no kernel)"), std::string::npos) << text;
  EXPECT_NE(text.find("3.00x, geometric mean of the 2 of 4 operators"), std::string::npos) << text;
  EXPECT_NE(text.find("a failure as 0: 1.62x on average"), std::string::npos)
      << text; // 6.5 / 4 = 1.625, to even
}

TEST(SweepSummary, ComesBackFromItsFile) {
  const TemporaryFolder folder;
  Summary summary;
  summary.definitions = "operators";
  summary.target = "cpu";
  summary.words = {"--seed", "1"};
  OperatorResult one = result(OperatorState::OutOfTime, 1.25, 0.5);
  one.types = {{"float32", 3, 1, 1, 1}};
  one.message = "a \"quoted\"\nmessage | with a bar";
  one.isKept = true;
  one.seconds = 0.25;
  summary.results = {one, result(OperatorState::LeftOut)};
  const std::string path = folder.path + "/summary.json";
  ASSERT_TRUE(writeFileAtomically(path, summaryJson(summary)));
  auto read = readSummary(path);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(summaryJson(*read), summaryJson(summary));
  // In a table of Markdown no cell may end early.
  const std::string markdown = summaryMarkdown(summary);
  EXPECT_EQ(markdown.find("\nmessage |"), std::string::npos) << markdown;
}

TEST(SweepSummary, RefusesOtherFiles) {
  const TemporaryFolder folder;
  const std::string path = folder.path + "/summary.json";
  EXPECT_EQ(readSummary(path).error().code, "E0001");
  for (const char *text :
       {"", "[]", "{}", "{\"operators\": 3}", "{\"schema\": 99, \"operators\": []}",
        "{\"schema\": 1, \"operators\": [{}]}", "{\"schema\": 1, \"operators\": []}"}) {
    ASSERT_TRUE(writeFileAtomically(path, std::string_view(text)));
    auto read = readSummary(path);
    ASSERT_FALSE(read) << text;
    EXPECT_EQ(read.error().code, "E0703") << text;
  }
}

TEST(SweepRecords, AreUsableOrNone) {
  const TemporaryFolder folder;
  EXPECT_FALSE(readSweepRecord(folder.path));
  const SweepRecord record = {"digest", true, result(OperatorState::Right, 2)};
  ASSERT_TRUE(writeSweepRecord(folder.path, record));
  auto read = readSweepRecord(folder.path);
  ASSERT_TRUE(read);
  EXPECT_TRUE(read->isFresh && read->isFinished("digest"));
  EXPECT_FALSE(read->isFinished("another"));
  ASSERT_TRUE(writeFileAtomically(folder.path + "/sweep.json", std::string_view("{\"schema\": 1")));
  EXPECT_FALSE(readSweepRecord(folder.path));
}

TEST(SweepRecords, TellWhatIsDoneAgain) {
  EXPECT_TRUE(result(OperatorState::Wrong).isFinished());
  EXPECT_TRUE(result(OperatorState::Refused).isFinished());
  EXPECT_FALSE(result(OperatorState::Failed).isFinished()); // without a device, say
  EXPECT_FALSE(result(OperatorState::Crashed).isFinished());
  EXPECT_FALSE(result(OperatorState::OutOfTime).isFinished());
  EXPECT_FALSE(result(OperatorState::Pending).isFinished());
}

class FoundDefinitions : public ::testing::Test {
protected:
  void write(const std::string &file, const std::string &text) {
    const std::filesystem::path path = folder.path + "/" + file;
    std::filesystem::create_directories(path.parent_path());
    ASSERT_TRUE(writeFileAtomically(path.string(), text));
  }
  static std::string named(const std::string &name) {
    return "[operator]\nname = \"" + name +
           "\"\nsummary = \"s\"\ndtypes = [\"float32\"]\nbody = \"out = x + x\"\n[inputs.x]\nshape "
           "= "
           "[\"D\"]\n[outputs.out]\nshape = [\"D\"]\n[performance]\ncases = [{ D = 4 }]\n";
  }
  TemporaryFolder folder;
  Diagnostics diags;
};

TEST_F(FoundDefinitions, AreSortedByNameAndFoundInFolders) {
  write("z.toml", named("alpha"));
  write("deep/er/a.toml", named("zeta"));
  write("b r.toml", "not a definition");
  write("notes.txt", "no");
  write(".hidden/h.toml", named("hidden"));
  write("made/nereid.json", "{}");
  write("made/copy.toml", named("alpha"));
  auto found = findDefinitions(folder.path, diags);
  ASSERT_TRUE(found) << diags.render();
  ASSERT_EQ(found->size(), 3u);
  EXPECT_EQ((*found)[0].name, "alpha");
  EXPECT_EQ((*found)[1].name, "b_r"); // of the file
  EXPECT_FALSE((*found)[1].op);
  EXPECT_TRUE((*found)[1].problems.hasErrors());
  EXPECT_EQ((*found)[2].name, "zeta");
}

TEST_F(FoundDefinitions, HaveNamesOfTheirOwn) {
  write("a.toml", named("same"));
  write("b.toml", named("same"));
  EXPECT_FALSE(findDefinitions(folder.path, diags));
  ASSERT_EQ(diags.all().size(), 1u);
  EXPECT_EQ(diags.all()[0].code, "E0626");
}

TEST_F(FoundDefinitions, AreThere) {
  EXPECT_FALSE(findDefinitions(folder.path, diags));
  EXPECT_FALSE(findDefinitions(folder.path + "/none", diags));
  std::filesystem::create_symlink("nowhere", folder.path + "/x.toml");
  EXPECT_FALSE(findDefinitions(folder.path, diags));
  ASSERT_EQ(diags.all().size(), 3u);
  EXPECT_EQ(diags.all()[0].code, "E0625");
  EXPECT_EQ(diags.all()[1].code, "E0001");
  EXPECT_EQ(diags.all()[2].code, "E0001");
}

} // namespace
