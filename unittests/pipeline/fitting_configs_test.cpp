// SPDX-License-Identifier: Apache-2.0
// What is near a specialization that does not fit, and what is said of it.
#include "lib/pipeline/kernel/FittingConfigs.h"

#include "lib/language/host/KernelDecorators.h"

#include <gtest/gtest.h>

namespace nereid::pipeline {
namespace {

using language::KernelConfig;
using language::ParamType;
using language::Signature;

ParamType constant(std::string name, int64_t value) {
  ParamType param;
  param.name = std::move(name);
  param.kind = ParamType::Kind::Constexpr;
  param.constant = value;
  return param;
}

int64_t valueIn(const Signature &signature, size_t param) {
  return std::get<int64_t>(signature.params[param].constant);
}

/// A pointer, two sizes, a number that is no size.
Signature product(int64_t rows, int64_t columns, int64_t stages) {
  Signature signature;
  ParamType pointer;
  pointer.name = "x";
  pointer.kind = ParamType::Kind::Pointer;
  signature.params = {pointer, constant("ROWS", rows), constant("COLUMNS", columns),
                      constant("SEED", 7)};
  signature.options.numStages = stages;
  return signature;
}

KernelConfig config(int64_t rows, int64_t stages) {
  KernelConfig one;
  one.values = {{"ROWS", rows}};
  one.options.numStages = stages;
  return one;
}

/// 256 bytes a stage, of a row and column each.
std::optional<bool> fits(const Signature &signature) {
  return (valueIn(signature, 1) + valueIn(signature, 2)) * signature.options.stages() <= 512;
}

TEST(FittingConfigs, AreOneStepAwayFirst) {
  std::vector<std::string> texts;
  for (const NearbySignature &one : smallerSignatures(product(128, 128, 3), 7)) {
    texts.push_back(one.text);
  }
  EXPECT_EQ(texts, (std::vector<std::string>{"num_stages=2", "ROWS=64", "COLUMNS=64",
                                             "num_stages=1", "ROWS=64,num_stages=2",
                                             "COLUMNS=64,num_stages=2", "ROWS=32"}));
}

TEST(FittingConfigs, TheNearestThatFitsIsNamed) {
  EXPECT_EQ(fittingText(product(128, 128, 3), {}, false, fits), "num_stages=2 fits");
  EXPECT_EQ(fittingText(product(128, 256, 2), {}, false, fits), "num_stages=1 fits");
  EXPECT_EQ(fittingText(product(1024, 32, 1), {}, false, fits), "ROWS=256 fits");
}

TEST(FittingConfigs, WarpsAreDoubledBeforeASizeIsHalvedAsOften) {
  std::vector<std::string> texts;
  Signature four = product(4, 2, 1);
  four.options.numWarps = 8;
  for (const NearbySignature &one : scaledSignatures(four)) {
    texts.push_back(one.text);
  }
  EXPECT_EQ(texts, (std::vector<std::string>{"num_warps=16", "ROWS=2", "COLUMNS=1", "num_warps=32",
                                             "ROWS=1"}));
  const auto spread = [](const Signature &one) -> std::optional<bool> {
    return valueIn(one, 1) / one.options.warps() <= 16;
  };
  EXPECT_EQ(fittingText(product(256, 2, 3), {}, true, spread), "num_warps=16 fits");
  EXPECT_EQ(fittingText(product(256, 2, 3), {}, false, spread), "ROWS=64 fits");
  // Farther than all combinations that are looked at.
  EXPECT_EQ(fittingText(product(1 << 20, 2, 3), {}, true, spread), "ROWS=64 fits");
  EXPECT_EQ(fittingText(product(1 << 20, 2, 3), {}, false, spread), "");
}

TEST(FittingConfigs, NothingIsSaidWhereNothingFits) {
  const auto never = [](const Signature &) -> std::optional<bool> { return false; };
  EXPECT_EQ(fittingText(product(128, 128, 3), {config(64, 3)}, false, never), "");
  size_t asked = 0;
  const auto count = [&](const Signature &) -> std::optional<bool> {
    ++asked;
    return false;
  };
  (void)fittingText(product(1 << 20, 1 << 20, 8), {}, false, count);
  EXPECT_LE(asked, 12U);
}

TEST(FittingConfigs, DeclaredOnesComeFirstAndAreCounted) {
  const std::vector<KernelConfig> configs = {config(128, 3), config(16, 2), config(64, 3),
                                             config(64, 2), config(128, 2)};
  // The first one is what does not fit. ROWS=64 is one step, as num_stages=2 is.
  EXPECT_EQ(fittingText(product(128, 128, 3), configs, false, fits),
            "num_stages=2 fits; 3 of the 4 other configs fit");
  EXPECT_EQ(fittingText(product(128, 128, 3), {config(128, 3), config(256, 3), config(32, 3)},
                        false, fits),
            "ROWS=32 fits; 1 of the 2 other configs fits");
}

TEST(FittingConfigs, AConfigThatCannotBeIsNotCounted) {
  std::vector<KernelConfig> configs = {config(128, 3), config(64, 2)};
  configs.back().problem = makeError("E0235", "num_stages expects less");
  EXPECT_TRUE(otherConfigs(product(128, 128, 3), configs, 10).empty());
}

TEST(FittingConfigs, WithoutTimeWhatIsKnownIsSaid) {
  int left = 1;
  const auto once = [&](const Signature &signature) -> std::optional<bool> {
    return left-- > 0 ? fits(signature) : std::nullopt;
  };
  const std::vector<KernelConfig> configs = {config(128, 3), config(128, 2), config(64, 2)};
  EXPECT_EQ(fittingText(product(128, 128, 3), configs, false, once),
            "num_stages=2 fits; 1 of the 1 nearest other configs fits");
}

} // namespace
} // namespace nereid::pipeline
