// SPDX-License-Identifier: Apache-2.0
// Laws of schedules, and what experience does to the first choice and the neighbours.
#include "unittests/generator/Making.h"

#include "lib/generator/ScheduleRules.h"
#include "lib/measure/statistics/Evidence.h"
#include "lib/support/AtomicFile.h"

#include <filesystem>
#include <set>
#include <thread>
#include <unistd.h>

namespace nereid::generator {
namespace {

CaseSizes caseOf(const FusedOperator &fused, std::vector<int64_t> rest, int64_t columns) {
  return sizesOf(fused, {{{"D", columns}}, std::move(rest)}, DType::F32);
}

TEST(Schedule, TextReadsBack) {
  Schedule schedule = *parseSchedule("tiles:BLOCK_M=32,BLOCK_N=512,GRID_2D=1,STREAMING=0");
  EXPECT_EQ(parseSchedule(schedule.text()), schedule);
  EXPECT_EQ(schedule.get("BLOCK_N"), 512);
  for (const char *text : {"", "tiles", "round:A=1", "tiles:=1", "tiles:A", "tiles:A=x"}) {
    EXPECT_FALSE(parseSchedule(text).has_value()) << text;
  }
}

TEST(Schedule, SpaceIsValidUniqueAndStartsWithTheRule) {
  for (const std::string &name : {"broadcast_add", "softmax"}) {
    FusedOperator fused = fusedOf(shipped(name));
    for (int64_t columns : {1, 17, 1000, 100000}) {
      CaseSizes sizes = caseOf(fused, {300, 2}, columns);
      std::vector<Schedule> space = scheduleSpace(fused, sizes, DType::F32, testChip());
      ASSERT_FALSE(space.empty());
      EXPECT_EQ(space.front(),
                firstSchedule(fused, sizes, DType::F32, testChip(), nullptr).schedule);
      std::set<std::string> seen;
      for (const Schedule &schedule : space) {
        std::string why;
        EXPECT_TRUE(isValid(schedule, fused, sizes, &why)) << why;
        EXPECT_TRUE(seen.insert(schedule.text()).second);
      }
    }
  }
}

TEST(Schedule, OfADeviceHasWarps) {
  Machine device = testChip();
  device.isDevice = true;
  for (const std::string &name : {"broadcast_add", "softmax"}) {
    FusedOperator fused = fusedOf(shipped(name));
    for (int64_t columns : {17, 1000, 40000}) {
      CaseSizes sizes = caseOf(fused, {300, 2}, columns);
      std::set<std::string> seen;
      std::set<int64_t> warps;
      for (const Schedule &schedule : scheduleSpace(fused, sizes, DType::F32, device)) {
        std::string why;
        EXPECT_TRUE(isValid(schedule, fused, sizes, &why)) << why;
        EXPECT_TRUE(seen.insert(schedule.text()).second);
        EXPECT_EQ(parseSchedule(schedule.text()), schedule);
        warps.insert(schedule.get("num_warps"));
      }
      EXPECT_GE(warps.size(), columns > 100 ? 3u : 1u);
      EXPECT_GE(*warps.begin(), 1);
      EXPECT_LE(*warps.rbegin(), 32);
      std::string why;
      const Schedule rule = firstSchedule(fused, sizes, DType::F32, device, nullptr).schedule;
      EXPECT_FALSE(isValid(rule.with("num_warps", 64), fused, sizes, &why));
      EXPECT_NE(why.find("at most 32"), std::string::npos) << why;
      EXPECT_FALSE(isValid(rule.with("num_warps", 3), fused, sizes, &why));
      auto plan = planLaunch(fused, rule, {{{"D", columns}}, {300, 2}}, DType::F32);
      ASSERT_TRUE(bool(plan)) << plan.error().message;
      const std::string option = "num_warps=" + std::to_string(rule.get("num_warps"));
      EXPECT_TRUE(plan->signature.ends_with(option)) << plan->signature;
    }
  }
}

TEST(Schedule, RuleStreamsOutputsLargerThanTheCache) {
  FusedOperator fused = fusedOf(shipped("broadcast_add"));
  auto choose = [&](int64_t rows) {
    return firstSchedule(fused, caseOf(fused, {rows}, 1024), DType::F32, testChip(), nullptr)
        .schedule;
  };
  EXPECT_EQ(choose(1 << 16).get("STREAMING"), 1);
  EXPECT_EQ(choose(1 << 10).get("STREAMING"), 0);
}

TEST(Schedule, LongRowsAreLooped) {
  FusedOperator fused = fusedOf(shipped("softmax"));
  auto variant = [&](int64_t columns) {
    return firstSchedule(fused, caseOf(fused, {8}, columns), DType::F32, testChip(), nullptr)
        .schedule.variant;
  };
  EXPECT_EQ(variant(4096), KernelVariant::Rows);
  EXPECT_EQ(variant(1 << 20), KernelVariant::LoopedRows);
}

TEST(Schedule, NaiveStartIsValidForEveryCaseAndType) {
  for (const std::string &name : sampledOperators()) {
    const definition::Operator op = shipped(name);
    const Generation generation = *generate(op, testChip(), nullptr, Start::Naive);
    ASSERT_FALSE(generation.table.entries.empty());
    for (const ScheduleTable::Entry &entry : generation.table.entries) {
      EXPECT_EQ(entry.origin, "naive") << name;
    }
    for (const auto *cases : {&op.performanceCases, &op.accuracyCases}) {
      for (const definition::Case &one : *cases) {
        for (DType dtype : op.dtypes) {
          Generation copy = generation;
          const Schedule schedule = copy.scheduleFor(one.binding, dtype, testChip());
          std::string why;
          EXPECT_EQ(schedule, naiveSchedule(generation.fused));
          EXPECT_TRUE(isValid(schedule, generation.fused,
                              sizesOf(generation.fused, one.binding, dtype), &why))
              << name << " " << torchName(dtype) << ": " << why;
          EXPECT_TRUE(bool(planLaunch(generation.fused, schedule, one.binding, dtype))) << name;
        }
      }
    }
  }
  EXPECT_EQ(naiveSchedule(fusedOf(shipped("broadcast_add"))).text(),
            "tiles:BLOCK_M=64,BLOCK_N=256,GRID_2D=0,STREAMING=0");
  for (const std::string &name : startNames()) {
    EXPECT_EQ(startName(*parseStart(name)), name);
  }
  EXPECT_FALSE(parseStart("fast").has_value());
}

Diagnosis waitingForMemory(double fraction) {
  Diagnosis diagnosis;
  diagnosis.bandwidthFraction = fraction;
  diagnosis.isBeyondCache = true;
  return diagnosis;
}

TEST(Neighbours, AnswerFindingsOnly) {
  FusedOperator fused = fusedOf(shipped("broadcast_add"));
  const CaseSizes sizes = caseOf(fused, {1 << 16}, 1024);
  const Schedule naive = naiveSchedule(fused);
  const auto changes = [&](const Schedule &from, const Diagnosis &diagnosis) {
    std::set<std::string> keys;
    for (const Neighbour &n :
         neighbours(fused, from, sizes, DType::F32, testChip(), diagnosis, nullptr, {})) {
      EXPECT_GE(n.expectedGain, measure::leastGain);
      keys.insert(n.key);
    }
    return keys;
  };
  const auto none = std::set<std::string>();
  EXPECT_EQ(changes(naive, {}), none) << "nothing was measured";
  EXPECT_EQ(changes(naive, waitingForMemory(0.9)), none) << "at the limit of memory";
  Diagnosis arithmetic = waitingForMemory(0.3);
  arithmetic.computeFraction = 0.9;
  arithmetic.launchFraction = arithmetic.idleFraction = 0.5;
  EXPECT_EQ(changes(naive, arithmetic), none) << "at the limit of arithmetic";
  const std::set<std::string> slow = changes(naive, waitingForMemory(0.4));
  EXPECT_TRUE(slow.contains("BLOCK_N=512") && slow.contains("STREAMING=1"));
  EXPECT_FALSE(slow.contains("BLOCK_M=32") || slow.contains("BLOCK_N=128"));
  // In the cache only what is computed once per run can be saved.
  Diagnosis cached = waitingForMemory(0.4);
  cached.isBeyondCache = false;
  const std::set<std::string> runs{"BLOCK_N=512", "BLOCK_M=32,BLOCK_N=512"};
  EXPECT_EQ(changes(naive, cached), runs);
  EXPECT_EQ(changes(naive.with("BLOCK_N", 1024), cached), none) << "a run is a row";
  cached.bandwidthFraction = 0.9;
  EXPECT_EQ(changes(naive, cached), none) << "at the limit of the cache";
  // Fewer programs where launching them takes time, more of them where threads were idle.
  Diagnosis launching;
  launching.launchFraction = 0.08;
  EXPECT_EQ(changes(naive, launching), std::set<std::string>{"BLOCK_M=128"});
  launching.launchFraction = 0.4;
  EXPECT_EQ(changes(naive, launching), std::set<std::string>{"BLOCK_M=256"});
  Diagnosis idle;
  idle.idleFraction = 0.3;
  idle.programs = 6;
  EXPECT_EQ(changes(naive, idle), std::set<std::string>{"BLOCK_M=32"});
  idle.programs = 1000;
  EXPECT_EQ(changes(naive, idle), none) << "so many programs are even already";
  idle.programs = 6;
  idle.idleFraction = 0.01;
  EXPECT_EQ(changes(naive, idle), none) << "no thread was idle";
}

TEST(Neighbours, ExpectNoMoreThanThereIsToGain) {
  FusedOperator fused = fusedOf(shipped("broadcast_add"));
  const CaseSizes sizes = caseOf(fused, {1 << 16}, 1024);
  for (double fraction : {0.3, 0.5, 0.7, 0.8}) {
    for (const Neighbour &n : neighbours(fused, naiveSchedule(fused), sizes, DType::F32, testChip(),
                                         waitingForMemory(fraction), nullptr, {})) {
      EXPECT_LE(n.expectedGain, 1 / fraction) << n.key;
    }
  }
}

TEST(Neighbours, DifferInOneThingAndAreNotRepeated) {
  FusedOperator fused = fusedOf(shipped("broadcast_add"));
  CaseSizes sizes = caseOf(fused, {1 << 16}, 1024);
  Schedule start = naiveSchedule(fused);
  std::vector<Schedule> tried = {start};
  const Diagnosis slow = waitingForMemory(0.4);
  auto list = neighbours(fused, start, sizes, DType::F32, testChip(), slow, nullptr, tried);
  ASSERT_GE(list.size(), 3u);
  for (size_t i = 0; i < list.size(); ++i) {
    EXPECT_NE(list[i].schedule, start);
    EXPECT_FALSE(list[i].reason.empty());
    EXPECT_EQ(applyChange(start, list[i].key, sizes), list[i].schedule) << list[i].key;
    EXPECT_TRUE(i == 0 || list[i - 1].expectedGain >= list[i].expectedGain);
  }
  tried.push_back(list[0].schedule);
  auto rest = neighbours(fused, start, sizes, DType::F32, testChip(), slow, nullptr, tried);
  EXPECT_EQ(rest.size(), list.size() - 1);
}

TEST(Neighbours, AnotherOrderOfArithmeticIsAChangeOfLogic) {
  FusedOperator fused = fusedOf(shipped("softmax"));
  CaseSizes sizes = caseOf(fused, {64}, 8192);
  Schedule start = naiveSchedule(fused);
  bool hasLogic = false;
  for (const Neighbour &n :
       neighbours(fused, start, sizes, DType::F32, testChip(), {}, nullptr, {})) {
    bool isOther = n.schedule.variant != start.variant;
    EXPECT_EQ(n.changeClass, isOther ? ChangeClass::Logic : ChangeClass::Parameter);
    hasLogic |= isOther;
  }
  EXPECT_TRUE(hasLogic);
}

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
  Pattern observation(double gain, const std::string &change = "BLOCK_N=256") {
    FusedOperator fused = fusedOf(shipped("broadcast_add"));
    CaseSizes sizes = caseOf(fused, {1 << 16}, 1024);
    Pattern pattern;
    pattern.operatorKind = fused.kind();
    pattern.variant = "tiles";
    pattern.condition = conditionFor(sizes, DType::F32, testChip());
    pattern.change = change;
    pattern.from = "BLOCK_N=1024";
    pattern.gain = gain;
    pattern.pValue = 0.001;
    pattern.lastSeen = "2026-01-01";
    return pattern;
  }
  std::string path;
};

TEST_F(PatternFile, ExperienceDecidesTheNextFirstChoice) {
  FusedOperator fused = fusedOf(shipped("broadcast_add"));
  CaseSizes sizes = caseOf(fused, {1 << 16}, 1024);
  auto before = firstSchedule(fused, sizes, DType::F32, testChip(), nullptr);
  EXPECT_NE(before.schedule.get("BLOCK_N"), 256);
  Patterns patterns;
  patterns.record(observation(1.3));
  ASSERT_TRUE(bool(patterns.save(path)));
  auto loaded = Patterns::load(path);
  ASSERT_TRUE(bool(loaded)) << render(loaded.error());
  auto after = firstSchedule(fused, sizes, DType::F32, testChip(), &*loaded);
  EXPECT_EQ(after.schedule.get("BLOCK_N"), 256);
  EXPECT_EQ(after.origin, "pattern");
  // Another type has no experience, and a loss is none to follow.
  EXPECT_EQ(firstSchedule(fused, sizes, DType::F16, testChip(), &*loaded).origin, "rule");
  Patterns losing;
  losing.record(observation(0.8));
  EXPECT_EQ(firstSchedule(fused, sizes, DType::F32, testChip(), &losing).origin, "rule");
}

/// What was quicker than a naive block is not quicker than the rule's, and the other way round.
TEST_F(PatternFile, ExperienceCountsOnlyFromWhereItStarted) {
  FusedOperator fused = fusedOf(shipped("broadcast_add"));
  CaseSizes sizes = caseOf(fused, {1 << 16}, 1024);
  Pattern seen = observation(1.8, "BLOCK_N=512");
  seen.from = "BLOCK_N=256";
  Patterns patterns;
  patterns.record(seen);
  ASSERT_TRUE(bool(patterns.save(path)));
  patterns = *Patterns::load(path);
  EXPECT_EQ(firstSchedule(fused, sizes, DType::F32, testChip(), &patterns).origin, "rule");
  const auto list =
      neighbours(fused, naiveSchedule(fused), sizes, DType::F32, testChip(), {}, &patterns, {});
  ASSERT_EQ(list.size(), 1u);
  EXPECT_EQ(list.front().key, "BLOCK_N=512");
  EXPECT_NEAR(list.front().expectedGain, 1.8, 1e-9);
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
      patterns.record(observation(1.1, "BLOCK_M=" + std::to_string(1 << i)));
      patterns.record(observation(1.1, "STREAMING=1"));
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
    EXPECT_EQ(pattern.count, pattern.change == "STREAMING=1" ? 8 : 1);
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
