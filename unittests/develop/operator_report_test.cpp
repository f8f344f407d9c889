// SPDX-License-Identifier: Apache-2.0
// report.md against rows that are written out here.
#include "lib/develop/OperatorReport.h"

#include <gmock/gmock.h>

using namespace nereid::develop;
using testing::HasSubstr;
using testing::Not;
using Json = nlohmann::ordered_json;

namespace {

Json checked(const char *name, const char *type, int finite, double largest, double mean) {
  return {{"case", name},
          {"dtype", type},
          {"seed", 7},
          {"checked", finite + 1},
          {"unverifiable", 0},
          {"finite", finite},
          {"error_of_bound", 0.5},
          {"max_absolute_error", largest},
          {"mean_absolute_error", mean}};
}

ReportedOperator reported() {
  ReportedOperator made;
  made.name = "softmax";
  made.target = "cpu";
  made.chip = "a chip";
  made.targetSpeedup = 1.5;
  made.accuracy = {checked("odd", "float32", 10, 0.25, 0.125),
                   checked("even", "float32", 30, 1, 0.5), checked("odd", "float16", 10, 2, 1)};
  return made;
}

} // namespace

TEST(OperatorReport, CountsWithSharesAndErrors) {
  const std::string text = operatorReport(reported());
  EXPECT_THAT(text, HasSubstr("# softmax: right\n"));
  EXPECT_THAT(text, HasSubstr("3 of 3 cases right (100.00 %), 0 failed, 0 skipped"));
  EXPECT_THAT(text, HasSubstr("Cases of `--seed 7`."));
  // (10 * 0.125 + 30 * 0.5) / 40
  EXPECT_THAT(text, HasSubstr("| float32 | 2 | 2 | 0 | 0 | 100.00 % | 42 | 1 | 0.41 | 50 % |"));
  EXPECT_THAT(text, HasSubstr("| all | 3 | 3 | 0 | 0 | 100.00 % | 53 | 2 | 0.53 | 50 % |"));
  EXPECT_THAT(text, HasSubstr("Not measured"));
}

TEST(OperatorReport, NothingIsRoundedUpToAllRight) {
  ReportedOperator one = reported();
  one.accuracy = Json::array();
  for (int i = 0; i < 20'001; ++i) {
    one.accuracy.push_back(checked("odd", "float32", 1, 0, 0));
  }
  one.accuracy.back()["failure"] = "element 0 expects 1,\nbut got 2";
  const std::string text = operatorReport(one);
  EXPECT_THAT(text, HasSubstr("# softmax: wrong\n"));
  EXPECT_THAT(text, HasSubstr("20000 of 20001 cases right (99.99 %), 1 failed"));
  EXPECT_THAT(text, HasSubstr("Failed:\n\n- `odd` (float32): element 0 expects 1, but got 2\n"));
  EXPECT_THAT(text, HasSubstr("Left out: nothing is timed before it is right."));
}

TEST(OperatorReport, TimesWithWhatIsWrongOfThem) {
  ReportedOperator one = reported();
  auto timing = [](double median, bool isNoisy) {
    return Json{{"median", median}, {"noisy", isNoisy}, {"few_samples", false}};
  };
  one.performance = {
      {{"case", "a|b"},
       {"dtype", "float32"},
       {"shape", "8x8"},
       {"kernel", timing(1e-6, false)},
       {"baseline", timing(2e-6, false)},
       {"speedup", 2.0},
       {"roofline_fraction", 0.5}},
      {{"case", "noisy"},
       {"dtype", "float32"},
       {"shape", "4x4"},
       {"kernel", timing(1e-6, true)},
       {"baseline", timing(9e-6, false)},
       {"speedup", 9.0},
       {"roofline_fraction", nullptr}},
      {{"case", "large"}, {"dtype", "float32"}, {"shape", "9x9"}, {"skipped", "memory"}}};
  one.criteria = {"speed-up at least 1.50x: reached, 2.00x"};
  const std::string text = operatorReport(one);
  EXPECT_THAT(text, HasSubstr("speed-up 2.00x, the target is 1.50x"));
  EXPECT_THAT(text, HasSubstr("| a\\|b | float32 | 8x8 | 1.00 µs | 2.00 µs | 2.00x | 50 % |  |"));
  EXPECT_THAT(text,
              HasSubstr("| noisy | float32 | 4x4 | 1.00 µs | 9.00 µs | 9.00x | - | unsteady |"));
  EXPECT_THAT(text, HasSubstr("| large | float32 | 9x9 | - | - | - | - | skipped: memory |"));
  EXPECT_THAT(text, HasSubstr("\n- speed-up at least 1.50x: reached, 2.00x\n"));
  one.performance[0]["failure"] = "element 3 is wrong";
  EXPECT_THAT(operatorReport(one), HasSubstr("# softmax: wrong"));
  EXPECT_THAT(operatorReport(one), Not(HasSubstr("Left out")));
}
