// SPDX-License-Identifier: Apache-2.0
// The roofline's floors as peers: what they do in a run, and what their timings are taken for.
#include "lib/measure/peaks/PeakLoops.h"
#include "lib/measure/peers/FloorPeers.h"

#include <gtest/gtest.h>

using namespace nereid;
using namespace nereid::measure;
using runtime::Tensor;

namespace {

Timing timing(std::vector<double> samples) {
  Timing result;
  result.summary = summarize(samples);
  result.samples = std::move(samples);
  return result;
}

} // namespace

TEST(FloorPeers, SecondsAreTakenTurnByTurn) {
  FloorPeer peer;
  peer.amount = 100;
  // In its turn the peer takes half of the kernel's time, however slow both are.
  const Timing kernel = timing({2, 4, 8}), own = timing({1, 2, 4});
  EXPECT_DOUBLE_EQ(peer.secondsFor(300, own, kernel), 0.5 * 4 * 3);
}

TEST(FloorPeers, CopyMovesWholeBlocksOfTheSmallerTensor) {
  Machine chip = detectMachine();
  chip.bestCopy = "memcpy";
  Tensor from = Tensor::empty({1000}, DType::U8), to = Tensor::empty({600}, DType::U8);
  for (int64_t i = 0; i < 1000; ++i) {
    from.set(i, static_cast<double>(i % 251));
  }
  std::fill_n(to.as<uint8_t>(), 600, uint8_t{255});
  auto peer = copyPeer(chip, to, from);
  ASSERT_TRUE(peer);
  EXPECT_EQ(peer->amount, 2 * 512) << "512 bytes read and written";
  peer->version.run();
  for (int64_t i = 0; i < 600; ++i) {
    EXPECT_EQ(to.at(i), i < 512 ? static_cast<double>(i % 251) : 255) << i;
  }
  EXPECT_FALSE(copyPeer(chip, Tensor::empty({255}, DType::U8), from));
}

TEST(FloorPeers, PeakIsAboutAsMuchWorkAsAsked) {
  const auto loops = peakLoops();
#if defined(__x86_64__)
  ASSERT_TRUE(loops.contains("fp32") || !__builtin_cpu_supports("fma"));
#endif
  auto peer = peakPeer(1e8);
  ASSERT_EQ(peer.has_value(), loops.contains("fp32"));
  if (!peer) {
    return;
  }
  EXPECT_NEAR(peer->amount, 1e8, 1e6);
  peer->version.run();
  const double most = peakPeer(1e15)->amount;
  EXPECT_LT(most, 1e12) << "a long kernel's peak takes milliseconds, not seconds";
  EXPECT_GT(most, 1e8);
}

TEST(FloorPeers, DoublesAreHalfAsManyAndPairsTwiceAsMany) {
  const auto loops = peakLoops();
  if (!loops.contains("fp32")) {
    GTEST_SKIP() << "this machine has no loop of its own";
  }
  const double single = loops.at("fp32").flopsPerRound;
  EXPECT_EQ(loops.at("fp64").flopsPerRound, single / 2);
  if (loops.contains("bf16")) {
    EXPECT_EQ(loops.at("bf16").flopsPerRound, single * 2);
  }
}
