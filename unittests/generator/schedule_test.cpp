// SPDX-License-Identifier: Apache-2.0
// Schedules as values, and which one each class of cases gets.
#include "lib/generator/call/CallPlan.h"
#include "unittests/generator/Making.h"

namespace nereid::generator {
namespace {

TEST(Schedule, TextReadsBack) {
  const Schedule schedule = *parseSchedule("map.BLOCK_X=32,map.BLOCK_Y=512,map.num_warps=8");
  EXPECT_EQ(parseSchedule(schedule.text()), schedule);
  EXPECT_EQ(schedule.get("map.BLOCK_Y"), 512);
  EXPECT_EQ(parseSchedule(""), Schedule()) << "the rules decide everything";
  for (const char *text : {"map", "=1", "A", "A=x", "A=1,,B=2", "tiles:BLOCK_M=32"}) {
    EXPECT_FALSE(parseSchedule(text).has_value()) << text;
  }
}

TEST(Schedule, OfTheNaiveStartIsOneForAllCasesAndTypes) {
  for (const std::string &name : sampledOperators()) {
    const definition::Operator op = shipped(name);
    const Generation generation = *generate(op, testChip(), nullptr, Start::Naive);
    ASSERT_FALSE(generation.table.entries.empty());
    for (const ScheduleTable::Entry &entry : generation.table.entries) {
      EXPECT_EQ(entry.origin, "naive") << name;
      EXPECT_EQ(entry.schedule, naiveSchedule(generation.program.tables.at(entry.caseClass.dtype)));
    }
    for (const definition::Case &one : op.performanceCases) {
      Generation copy = generation;
      const DType dtype = op.dtypes.front();
      const Schedule schedule = copy.scheduleFor(one.binding, dtype, testChip());
      EXPECT_TRUE(bool(planCall(generation, schedule, one.binding, dtype))) << name;
    }
  }
  for (const std::string &name : startNames()) {
    EXPECT_EQ(startName(*parseStart(name)), name);
  }
  EXPECT_FALSE(parseStart("fast").has_value());
}

TEST(Schedule, OfAClassIsThatOfItsSizesRoundedUp) {
  Generation generation = *generate(shipped("softmax"), testChip(), nullptr);
  const auto classOf = [&](int64_t columns) {
    return generation.classOf({{{"D", columns}}, {300, 2}}, DType::F32).text();
  };
  EXPECT_EQ(classOf(1000), "float32,D<=1024,rest<=1024");
  EXPECT_EQ(classOf(1024), classOf(1000));
  EXPECT_NE(classOf(1025), classOf(1024));
}

} // namespace
} // namespace nereid::generator
