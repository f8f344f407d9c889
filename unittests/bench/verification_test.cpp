// SPDX-License-Identifier: Apache-2.0
// The parts that every verification is made of: data that a type can bear, the case that is kept.
#include "lib/bench/verification/Verification.h"

#include <gtest/gtest.h>

namespace nereid::bench {
namespace {

/// Of 100 elements.
VerifiedCase verified(int64_t unverifiable) {
  VerifiedCase row;
  row.comparison.elements = 100;
  row.comparison.unverifiable = unverifiable;
  return row;
}

TEST(Verification, MagnitudesAreHalvedUntilEnoughCanBeVerified) {
  definition::Data data{definition::DataKind::Scaled, -0.8};
  int tried = 0;
  auto attempt = [&](int) {
    ++tried;
    return Result<VerifiedCase>(verified(data.range < -0.3 ? 50 : 5));
  };
  auto row = untilVerifiable(data, attempt, std::identity());
  ASSERT_TRUE(bool(row));
  EXPECT_EQ(tried, 3);
  EXPECT_EQ(data.range, -0.2);
  row->requireVerifiable();
  EXPECT_EQ(row->failure, "");
}

TEST(Verification, WhatOrdinaryNumbersCanBearIsVerifiedWhereverMagnitudesBegin) {
  // One element that all others meet through exp(exp(it)): in float32 it may be 4.48 at most.
  auto shared = runtime::Tensor::empty({1}, DType::F32);
  auto normal = runtime::Tensor::empty({1}, DType::F32);
  *static_cast<float *>(normal.data()) = 3.5F;
  for (double begin = 1; begin > 0.01; begin *= 0.97) {
    definition::Data data{definition::DataKind::Scaled, begin};
    auto attempt = [&](int) {
      fillData(shared, data, 1, {}, &normal);
      const float value = *static_cast<const float *>(shared.data());
      const bool isFinite = std::isfinite(std::exp(std::exp(value)));
      return Result<VerifiedCase>(verified(isFinite ? 0 : 100));
    };
    auto row = untilVerifiable(data, attempt, std::identity());
    ASSERT_TRUE(bool(row));
    EXPECT_TRUE(row->isVerifiable()) << begin << " ended at " << data.range;
  }
}

TEST(Verification, SpecialNumbersAreDrawnAnew) {
  definition::Data data{definition::DataKind::Special, 0, 1};
  int last = -1, enough = 3;
  auto attempt = [&](int drawn) {
    EXPECT_EQ(drawn, ++last);
    return Result<VerifiedCase>(verified(drawn < enough ? 50 : 0));
  };
  auto row = untilVerifiable(data, attempt, std::identity());
  ASSERT_TRUE(bool(row));
  EXPECT_TRUE(row->isVerifiable());
  EXPECT_EQ(last, 3);
  last = -1;
  enough = 100;
  row = untilVerifiable(data, attempt, std::identity());
  EXPECT_FALSE(row->isVerifiable());
  EXPECT_EQ(last + 1, verify::mostDraws);
}

TEST(Verification, WhatStaysUnverifiableFails) {
  definition::Data data{definition::DataKind::Scaled, 0.8};
  auto row = untilVerifiable(
      data, [&](int) { return Result<VerifiedCase>(verified(6)); }, std::identity());
  ASSERT_TRUE(bool(row));
  EXPECT_LT(data.range, verify::smallestRange);
  row->requireVerifiable();
  EXPECT_EQ(row->failure.substr(0, 39), "6 of 100 elements cannot be verified: a");
}

TEST(Verification, AFailureEndsTheTries) {
  definition::Data data{definition::DataKind::Scaled, 0.8};
  VerifiedCase wrong = verified(50);
  wrong.failure = "wrong";
  (void)untilVerifiable(data, [&](int) { return Result<VerifiedCase>(wrong); }, std::identity());
  EXPECT_EQ(data.range, 0.8);
}

TEST(KeptChoice, TheFirstFailureIsKept) {
  VerificationOptions options;
  EXPECT_FALSE(KeptChoice(options).wants(true)) << "nobody asked";
  options.keepIn = "folder";
  KeptChoice choice(options);
  EXPECT_FALSE(choice.wants(false));
  EXPECT_TRUE(choice.wants(true));
  choice.choose("a", true);
  EXPECT_FALSE(choice.wants(true));
  EXPECT_EQ(choice.name(), "a");
}

TEST(KeptChoice, ACaseByNameIsKeptUntilOneFails) {
  VerificationOptions options;
  options.keepIn = "folder";
  options.onlyCase = "a";
  KeptChoice choice(options);
  EXPECT_TRUE(choice.wants(false));
  choice.choose("a on zeros", false);
  EXPECT_FALSE(choice.wants(false));
  EXPECT_TRUE(choice.wants(true));
}

/// 16 numbers that a launch sets to one, or the one behind them, with a check that finds `finding`.
struct Inspected {
  verify::TrialTensor out{"out", runtime::Tensor::empty({16}, DType::F32), verify::Role::Output};
  int checks = 0, launches = 0;

  Result<verify::TrialResult> inspect(int64_t count, const std::string &finding, bool isDone,
                                      int64_t largest = verify::largestChecked) {
    auto launch = [&](std::span<const runtime::Tensor> tensors, const verify::LaunchWay &) {
      ++launches;
      for (int64_t i = 0; i < count; ++i) {
        static_cast<float *>(tensors[0].data())[i] = 1;
      }
      return Status(Done{});
    };
    auto check = [&] {
      ++checks;
      return Result<std::string>(finding);
    };
    return inspectLaunch(std::span(&out, 1), launch, {}, {check, isDone, largest});
  }
};

TEST(InspectLaunch, SmallLaunchesAreCheckedAndThoseThatGoOutside) {
  Inspected here;
  EXPECT_EQ(here.inspect(16, "", false)->text, "");
  EXPECT_EQ(here.inspect(16, "", true)->text, "");
  EXPECT_EQ(here.inspect(16, "", false, 15)->text, "");
  EXPECT_EQ(here.checks, 1);
  EXPECT_EQ(here.launches, 6) << "two for each trial";
  auto outside = here.inspect(17, "found", true);
  ASSERT_TRUE(bool(outside));
  EXPECT_EQ(here.checks, 2);
  EXPECT_EQ(outside->fault, verify::Fault::Outside);
  EXPECT_EQ(outside->text.substr(outside->text.size() - 7), "; found");
}

TEST(InspectLaunch, WhatTheCheckFindsIsNotLaunched) {
  Inspected here;
  auto found = here.inspect(16, "found", false);
  ASSERT_TRUE(bool(found));
  EXPECT_EQ(found->fault, verify::Fault::Found);
  EXPECT_EQ(found->text, "found");
  EXPECT_TRUE(found->tensors.empty());
  EXPECT_EQ(here.launches, 0);
}

} // namespace
} // namespace nereid::bench
