// SPDX-License-Identifier: Apache-2.0
// What experience does to the first choice and the neighbours of schedules, and the file it is kept
// in.
#include "unittests/generator/Making.h"

#include "lib/support/AtomicFile.h"

#include <algorithm>
#include <filesystem>
#include <thread>
#include <unistd.h>

namespace nereid::generator {
namespace {

class PatternFile : public testing::Test {
protected:
  PatternFile()
      : path(testing::TempDir() + "/nereid_patterns_" + std::to_string(::getpid()) + ".json") {
    std::filesystem::remove(path);
  }
  ~PatternFile() override {
    std::filesystem::remove(path);
    std::filesystem::remove(path + ".lock");
  }
  Pattern observation(double gain, const std::string &change = "map.BLOCK_Y=256") const {
    Pattern pattern;
    pattern.operatorKind = "map";
    pattern.condition = conditionFor(sizesOf(large, "map"), DType::F32, testChip());
    pattern.change = change;
    pattern.from = "map.BLOCK_Y=1024";
    pattern.gain = gain;
    pattern.pValue = 0.001;
    pattern.lastSeen = "2026-01-01";
    return pattern;
  }
  /// Of the largest size that an operator of rows and columns has here.
  ProgramCase caseOf(DType dtype) const {
    return {&generation.program.tables.at(dtype),
            {{"rest", 1 << 16}, {"D", 1024}},
            generation.site,
            dtype,
            double{1 << 29}};
  }

  std::string path;
  const Generation generation = *generate(shipped("broadcast_add"), testChip(), nullptr);
  const ProgramCase large = caseOf(DType::F32);
};

TEST_F(PatternFile, ExperienceDecidesTheNextFirstChoice) {
  auto before = firstSchedule(large, testChip(), nullptr);
  EXPECT_EQ(before.origin, "rule");
  EXPECT_EQ(shownSchedule(large, before.schedule).get("map.BLOCK_Y"), 1024);
  Patterns patterns;
  patterns.record(observation(1.3));
  ASSERT_TRUE(bool(patterns.save(path)));
  auto loaded = Patterns::load(path);
  ASSERT_TRUE(bool(loaded)) << render(loaded.error());
  auto after = firstSchedule(large, testChip(), &*loaded);
  EXPECT_EQ(after.schedule.get("map.BLOCK_Y"), 256);
  EXPECT_EQ(after.origin, "pattern");
  // Another type has no experience, and a loss is none to follow.
  EXPECT_EQ(firstSchedule(caseOf(DType::F16), testChip(), &*loaded).origin, "rule");
  Patterns losing;
  losing.record(observation(0.8));
  EXPECT_EQ(firstSchedule(large, testChip(), &losing).origin, "rule");
}

/// What was quicker than a naive block is not quicker than the rule's, and the other way round.
TEST_F(PatternFile, ExperienceCountsOnlyFromWhereItStarted) {
  Pattern seen = observation(1.8, "map.BLOCK_Y=512");
  seen.from = "map.BLOCK_Y=256";
  Patterns patterns;
  patterns.record(seen);
  ASSERT_TRUE(bool(patterns.save(path)));
  patterns = *Patterns::load(path);
  EXPECT_EQ(firstSchedule(large, testChip(), &patterns).origin, "rule");
  const Machine chip = testChip();
  const auto list = Neighbourhood(large, naiveSchedule(*large.table), chip, {}).of({}, &patterns);
  const auto known = std::find_if(list.begin(), list.end(), [](const Neighbour &one) {
    return one.key == "map.BLOCK_Y=512" && one.from == "map.BLOCK_Y=256";
  });
  ASSERT_NE(known, list.end());
  EXPECT_NEAR(known->expectedGain, 1.8, 1e-9);
}

TEST_F(PatternFile, EqualObservationsAreAveragedGeometrically) {
  Patterns patterns;
  patterns.record(observation(2.0));
  patterns.record(observation(0.5));
  ASSERT_EQ(patterns.all().size(), 1u);
  EXPECT_NEAR(patterns.all()[0].gain, 1.0, 1e-12);
  EXPECT_EQ(patterns.all()[0].count, 2);
}

TEST_F(PatternFile, WhatIsNotSignificantIsNotRemembered) {
  Patterns patterns;
  Pattern noise = observation(1.5);
  noise.pValue = patternSignificance;
  patterns.record(noise);
  EXPECT_TRUE(patterns.all().empty());
  // Nor what a version wrote that did not know.
  Patterns sure;
  sure.record(observation(1.5));
  ASSERT_TRUE(bool(sure.save(path)));
  EXPECT_EQ(Patterns::load(path)->all().size(), 1u);
  std::string text = *readTextFile(path);
  const size_t key = text.find("\"pValue\""), end = text.find('\n', key);
  ASSERT_NE(key, std::string::npos);
  ASSERT_TRUE(bool(writeFileAtomically(path, text.erase(key, end - key))));
  auto loaded = Patterns::load(path);
  ASSERT_TRUE(bool(loaded)) << render(loaded.error());
  EXPECT_TRUE(loaded->all().empty());
}

TEST_F(PatternFile, ConcurrentWritersLoseNothing) {
  std::vector<std::thread> writers;
  for (int i = 0; i < 8; ++i) {
    writers.emplace_back([this, i] {
      Patterns patterns;
      patterns.record(observation(1.1, "map.BLOCK_X=" + std::to_string(1 << i)));
      patterns.record(observation(1.1, "map.num_warps=8"));
      EXPECT_TRUE(bool(patterns.save(path)));
    });
  }
  for (std::thread &writer : writers) {
    writer.join();
  }
  auto loaded = Patterns::load(path);
  ASSERT_TRUE(bool(loaded));
  EXPECT_EQ(loaded->all().size(), 9u);
  for (const Pattern &pattern : loaded->all()) {
    EXPECT_EQ(pattern.count, pattern.change == "map.num_warps=8" ? 8 : 1);
  }
}

TEST_F(PatternFile, DamagedFileIsADiagnosticAndIsReplaced) {
  for (const char *text : {"", "[]", "{\"schema\": 99, \"patterns\": []}", "{\"schema\": 1}",
                           "{\"schema\": 1, \"patterns\": [{\"gain\": \"x\"}]}"}) {
    ASSERT_TRUE(bool(writeFileAtomically(path, std::string_view(text))));
    auto loaded = Patterns::load(path);
    ASSERT_FALSE(bool(loaded)) << text;
    EXPECT_EQ(loaded.error().code, "E0611");
  }
  Patterns patterns;
  patterns.record(observation(1.2));
  ASSERT_TRUE(bool(patterns.save(path)));
  EXPECT_EQ(Patterns::load(path)->all().size(), 1u);
}

} // namespace
} // namespace nereid::generator
