// SPDX-License-Identifier: Apache-2.0
// Which form is chosen, by mode and threshold, on times that are known.
#include "lib/develop/performance/Mode.h"

#include <gtest/gtest.h>

namespace nereid::develop {
namespace {

measure::Timing timing(double seconds) {
  measure::Timing result;
  result.samples.assign(20, seconds);
  result.summary = measure::summarize(result.samples);
  return result;
}

Choice choice(double eager, double launches, std::optional<double> graph, Mode mode,
              double least = 1.2) {
  Choice result;
  result.mode = mode;
  result.leastSpeedup = least;
  result.eagerSeconds = eager;
  result.launchSeconds = launches;
  if (graph) {
    result.graph = timing(*graph);
  }
  return result;
}

TEST(Mode, NamesAreTorchCompiles) {
  EXPECT_EQ(*parseMode("default"), Mode::Default);
  EXPECT_EQ(*parseMode("reduce-overhead"), Mode::ReduceOverhead);
  EXPECT_EQ(*parseMode("max-autotune"), Mode::MaxAutotune);
  EXPECT_EQ(*parseMode("max-autotune-no-graphs"), Mode::MaxAutotuneNoGraphs);
  const auto unknown = parseMode("max-autotun");
  ASSERT_FALSE(bool(unknown));
  EXPECT_EQ(unknown.error().code, "E0013");
  EXPECT_EQ(unknown.error().notes.front(), "nearest mode: 'max-autotune'");
}

TEST(Choice, CompiledFromTheThresholdOn) {
  EXPECT_TRUE(choice(1.2e-3, 1e-3, {}, Mode::Default).isCompiled());
  EXPECT_FALSE(choice(1.19e-3, 1e-3, {}, Mode::Default).isCompiled());
  EXPECT_TRUE(choice(1.19e-3, 1e-3, {}, Mode::Default, 1).isCompiled());
  EXPECT_FALSE(choice(0.99e-3, 1e-3, {}, Mode::Default, 1).isCompiled());
  EXPECT_FALSE(choice(0, 1e-3, {}, Mode::Default, 1).isCompiled()) << "nothing to compare with";
  EXPECT_FALSE(choice(1, 0, {}, Mode::Default, 1).isCompiled()) << "nothing timed";
  EXPECT_EQ(choice(1.1e-3, 1e-3, {}, Mode::Default).text(),
            "eager: compiled is 1.10x of it, 1.20x are asked");
}

TEST(Choice, ReducedOverheadIsTheGraphWhateverItTakes) {
  const Choice slow = choice(2e-3, 1e-3, 1.9e-3, Mode::ReduceOverhead);
  EXPECT_TRUE(slow.isGraph());
  EXPECT_FALSE(slow.isCompiled());
  EXPECT_TRUE(choice(2e-3, 1e-3, 0.5e-3, Mode::ReduceOverhead).isCompiled());
}

TEST(Choice, MaxAutotuneTakesTheQuickerOfBoth) {
  EXPECT_FALSE(choice(2e-3, 1e-3, 1.9e-3, Mode::MaxAutotune).isGraph());
  EXPECT_TRUE(choice(2e-3, 1e-3, 1.9e-3, Mode::MaxAutotune).isCompiled());
  EXPECT_TRUE(choice(2e-3, 1e-3, 0.9e-3, Mode::MaxAutotune).isGraph());
}

TEST(Choice, NoiseIsSaid) {
  Choice noisy = choice(2e-3, 1e-3, {}, Mode::Default);
  EXPECT_EQ(noisy.text(), "compiled: 2.00x the eager form");
  noisy.isNoisy = true;
  EXPECT_EQ(noisy.text(), "compiled: 2.00x the eager form, noisy");
}

TEST(Choice, AFailureChoosesNothing) {
  Choice failed = choice(2e-3, 1e-3, {}, Mode::Default);
  failed.failure = "wrong result";
  EXPECT_FALSE(failed.isCompiled());
  EXPECT_EQ(failed.text(), "none: wrong result");
}

} // namespace
} // namespace nereid::develop
