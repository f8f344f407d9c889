// SPDX-License-Identifier: Apache-2.0
// Result files from anywhere: read back what was written, and refused whatever is wrong with them.
#include "lib/measure/results/ResultFile.h"
#include "lib/measure/results/SummaryJson.h"

#include <gtest/gtest.h>

using namespace nereid::measure;
using Json = nlohmann::ordered_json;

namespace {

Timing timing() {
  Timing result;
  result.name = "copy";
  for (int i = 0; i < 20; ++i) {
    result.samples.push_back(1e-3 + 1e-6 * i);
  }
  judgeSamples(result, TimerOptions());
  return result;
}

/// What a folder of kernels has.
Json written() {
  Json row = {{"case", "small"}, {"kernel", "relu.py:relu"}};
  addTiming(row, timing());
  row["yardstick"] = yardstickJson(timing(), 64);
  Json environment = {
      {"chip", "a chip"}, {"fingerprint", "family 1"}, {"date", "today"}, {"threads", 2}};
  return {{"schema", 1},
          {"subject", "relu"},
          {"environment", environment},
          {"rows", Json::array({row})}};
}

std::string problemOf(const std::string &text) {
  auto result = resultsFromJson(text, "x.json");
  EXPECT_FALSE(static_cast<bool>(result)) << text.substr(0, 80);
  return result ? "" : result.error().code + " " + result.error().message;
}

} // namespace

TEST(ResultFile, ReadsBackWhatWasWritten) {
  auto result = resultsFromJson(written().dump(), "x.json");
  ASSERT_TRUE(static_cast<bool>(result)) << result.error().message;
  EXPECT_EQ(result->subject, "relu");
  EXPECT_EQ(result->threads, 2);
  const RecordedCase *one = result->find("small relu.py:relu");
  ASSERT_NE(one, nullptr);
  EXPECT_EQ(one->timing.summary.count, 20);
  EXPECT_NEAR(one->timing.samples[3], 1.003e-3, 1e-12);
  EXPECT_EQ(one->yardstick.name, "copy");
  EXPECT_EQ(one->yardstickAmount, 64);
  EXPECT_TRUE(one->isTimed());
}

TEST(ResultFile, NoisyIsWhatTheSamplesSay) {
  Json json = written();
  for (int i = 0; i < 20; i += 2) {
    json["rows"][0]["sample_nanos"][i] = 2e6;
  }
  json["rows"][0]["noisy"] = false;
  auto result = resultsFromJson(json.dump(), "x.json");
  ASSERT_TRUE(static_cast<bool>(result));
  EXPECT_TRUE(result->cases[0].timing.isNoisy);
}

TEST(ResultFile, FailedAndSkippedCasesNeedNoTimes) {
  Json json = written();
  json["rows"].push_back({{"case", "large"}, {"kernel", "relu.py:relu"}, {"failure", "wrong"}});
  json["rows"].push_back({{"case", "huge"}, {"dtype", "float32"}, {"skipped", "no memory"}});
  auto result = resultsFromJson(json.dump(), "x.json");
  ASSERT_TRUE(static_cast<bool>(result));
  EXPECT_EQ(result->find("large relu.py:relu")->failure, "wrong");
  EXPECT_FALSE(result->find("huge float32")->isTimed());
}

TEST(ResultFile, WhateverIsWrongIsNamed) {
  const std::string whole = written().dump();
  EXPECT_NE(problemOf(whole.substr(0, whole.size() / 2)).find("ends too early"), std::string::npos);
  for (const char *text : {"", "null", "[]", "3", "\"x\"", "{}"}) {
    EXPECT_NE(problemOf(text).find("E0703"), std::string::npos) << text;
  }
  for (const char *key : {"subject", "environment", "rows"}) {
    Json json = written();
    json.erase(key);
    EXPECT_NE(problemOf(json.dump()).find(key), std::string::npos);
    json[key] = 3;
    EXPECT_NE(problemOf(json.dump()).find("E0703"), std::string::npos) << key;
  }
  for (const char *key : {"case", "kernel", "sample_nanos"}) {
    Json json = written();
    json["rows"][0].erase(key);
    EXPECT_NE(problemOf(json.dump()).find("in row 1"), std::string::npos) << key;
    json["rows"][0][key] = Json::object();
    EXPECT_NE(problemOf(json.dump()).find("E0703"), std::string::npos) << key;
  }
  for (const Json &sample : {Json(0), Json(-1), Json("1"), Json(nullptr)}) {
    Json json = written();
    json["rows"][0]["sample_nanos"][4] = sample;
    EXPECT_NE(problemOf(json.dump()).find("above 0"), std::string::npos);
  }
  Json twice = written();
  twice["rows"].push_back(twice["rows"][0]);
  EXPECT_NE(problemOf(twice.dump()).find("twice"), std::string::npos);
}

TEST(ResultFile, DeepNestingIsNoCrash) {
  const std::string deep(2000000, '[');
  (void)problemOf(deep);
  (void)problemOf(deep + std::string(2000000, ']'));
  (void)problemOf("{\"rows\": " + deep + std::string(2000000, ']') + "}");
}
