// SPDX-License-Identifier: Apache-2.0
// Kernels that misbehave, as C++ functions.
#include "lib/verify/Trial.h"

#include "runtime/ThreadPool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <set>

namespace nereid::verify {
namespace {

using runtime::Tensor;

Tensor numbers(std::vector<int64_t> shape) {
  Tensor tensor = Tensor::empty(std::move(shape), DType::F32);
  for (int64_t i = 0; i < tensor.elementCount(); ++i) {
    tensor.set(i, static_cast<double>(i) - 3);
  }
  return tensor;
}

/// x [5, 7] and out of the same shape.
std::vector<TrialTensor> plain() {
  return {{"x", numbers({5, 7}), Role::Input}, {"out", numbers({5, 7}), Role::Output}};
}

/// Rows of 7 elements that are 10 apart.
std::vector<TrialTensor> strided() {
  static Tensor storage = numbers({50});
  std::vector<TrialTensor> tensors = plain();
  for (TrialTensor &tensor : tensors) {
    tensor.content = std::get<Tensor>(storage.view(0, {5, 7}, {10, 1}));
  }
  return tensors;
}

void twice(std::span<const Tensor> tensors) {
  for (int64_t i = 0; i < tensors[1].elementCount(); ++i) {
    tensors[1].set(i, 2 * tensors[0].at(i));
  }
}

/// The result of `plain` or other tensors under a kernel that doubles and then does `more`.
template <class More>
TrialResult tryKernel(const std::vector<TrialTensor> &tensors, More more,
                      const TrialOptions &options = {}) {
  auto result = runTrial(
      tensors,
      [&](std::span<const Tensor> given, const LaunchWay &way) -> Status {
        twice(given);
        more(given, way);
        return Done{};
      },
      options);
  EXPECT_TRUE(result);
  return std::move(*result);
}

TEST(Trial, AKernelThatIsRight) {
  for (const auto &tensors : {plain(), strided()}) {
    TrialResult result = tryKernel(tensors, [](auto, auto &) {});
    EXPECT_EQ(result.fault, Fault::None) << result.text;
    ASSERT_EQ(result.tensors.size(), 2u);
    EXPECT_TRUE(result.tensors[1].isContiguous());
    EXPECT_EQ(result.tensors[1].at(8), 2 * tensors[0].content.at(8));
  }
}

TEST(Trial, ItSeesTwoWays) {
  std::vector<int> threads;
  std::vector<runtime::ProgramOrder> orders;
  std::vector<uintptr_t> addresses;
  tryKernel(plain(), [&](std::span<const Tensor> tensors, const LaunchWay &way) {
    threads.push_back(way.pool->threadCount());
    orders.push_back(way.order);
    addresses.push_back(reinterpret_cast<uintptr_t>(tensors[0].data()));
  });
  ASSERT_EQ(threads.size(), 2u);
  EXPECT_NE(threads[0], threads[1]);
  EXPECT_NE(orders[0], orders[1]);
  EXPECT_NE(addresses[0], addresses[1]);
}

TEST(Trial, AnInputThatIsZeroed) {
  TrialResult result = tryKernel(plain(), [](std::span<const Tensor> tensors, auto &) {
    std::memset(tensors[0].data(), 0, tensors[0].byteCount());
  });
  EXPECT_EQ(result.fault, Fault::Input);
  EXPECT_EQ(result.text, "input 'x' is changed: element 0 was -3 and is 0");
}

/// The contents that the reference is computed from are out of the kernel's reach.
TEST(Trial, TheContentStaysAsItWas) {
  std::vector<TrialTensor> tensors = plain();
  tryKernel(tensors, [](std::span<const Tensor> given, auto &) { given[0].set(0, 99); });
  EXPECT_EQ(tensors[0].content.at(0), -3);
}

TEST(Trial, WhatMayBeChanged) {
  std::vector<TrialTensor> tensors = plain();
  tensors[0].role = Role::InOut;
  TrialResult result = tryKernel(
      tensors, [](std::span<const Tensor> given, auto &) { given[0].set(4, given[0].at(4) + 1); });
  EXPECT_EQ(result.fault, Fault::None) << result.text;
  EXPECT_EQ(result.tensors[0].at(4), 2);
}

TEST(Trial, AWorkspaceIsNotJudgedButItsBordersAre) {
  std::vector<TrialTensor> tensors = plain();
  tensors.push_back(
      {.name = "sums", .content = numbers({4}), .role = Role::InOut, .isWorkspace = true});
  std::atomic<int> launches = 0;
  auto differs = [&](std::span<const Tensor> given, auto &) {
    EXPECT_EQ(given[2].at(1), -2); // what it held before each launch
    given[2].set(1, ++launches);
  };
  EXPECT_EQ(tryKernel(tensors, differs).fault, Fault::None);
  tensors[2].isWorkspace = false;
  launches = 0;
  EXPECT_EQ(tryKernel(tensors, differs).fault, Fault::Varies);
  tensors[2].isWorkspace = true;
  auto passes = [](std::span<const Tensor> given, auto &) { given[2].as<float>()[4] = 1; };
  EXPECT_EQ(tryKernel(tensors, passes).fault, Fault::Outside);
}

TEST(Trial, OneByteBehind) {
  for (bool isWrite : {false, true}) {
    TrialResult result = tryKernel(plain(), [&](std::span<const Tensor> tensors, auto &) {
      // 35 elements leave 4 bytes to the next multiple of 16.
      volatile uint8_t *behind = tensors[0].as<uint8_t>() + 35 * 4 + 4;
      isWrite ? static_cast<void>(*behind = 1) : static_cast<void>(*behind);
    });
    EXPECT_EQ(result.fault, Fault::Outside);
    EXPECT_NE(result.text.find("4 bytes behind its 140 bytes"), std::string::npos) << result.text;
  }
}

TEST(Trial, OneElementInFront) {
  TrialResult result = tryKernel(plain(), [&](std::span<const Tensor> tensors, auto &) {
    *static_cast<volatile float *>(tensors[1].as<float>() - 1) = 0;
  });
  EXPECT_EQ(result.fault, Fault::Outside);
  EXPECT_EQ(result.text.find("'out' is "), 0u) << result.text;
}

TEST(Trial, AGapThatIsWritten) {
  TrialResult result = tryKernel(
      strided(), [&](std::span<const Tensor> tensors, auto &) { tensors[1].as<float>()[8] = 0; });
  EXPECT_EQ(result.fault, Fault::Outside);
  EXPECT_EQ(result.text, "'out' is written between its elements, at byte 32");
}

TEST(Trial, AGapThatIsRead) {
  TrialResult result = tryKernel(strided(), [&](std::span<const Tensor> tensors, auto &) {
    tensors[1].set(6, tensors[0].as<float>()[7] * 0);
  });
  EXPECT_EQ(result.fault, Fault::Varies);
}

/// Also where poison, zeros or the last result would be the right one.
TEST(Trial, AnElementThatIsNotWritten) {
  auto launch = [](std::span<const Tensor> given, const LaunchWay &) -> Status {
    const uint32_t kept = given[1].as<uint32_t>()[17];
    twice(given);
    given[1].as<uint32_t>()[17] = kept;
    return Done{};
  };
  for (bool mayVary : {false, true}) {
    auto result = runTrial(plain(), launch, {.mayVary = mayVary});
    ASSERT_TRUE(result);
    EXPECT_EQ(result->fault, Fault::Unwritten);
    EXPECT_EQ(result->text, "element 17 of 'out' holds what stood in memory before the "
                            "launch");
  }
}

TEST(Trial, WhatDependsOnTheLaunch) {
  std::atomic<int> launches{0};
  auto count = [&](std::span<const Tensor> tensors, auto &) { tensors[1].set(3, ++launches); };
  TrialResult result = tryKernel(plain(), count);
  EXPECT_EQ(result.fault, Fault::Varies);
  EXPECT_EQ(result.text, "not deterministic: element 3 of 'out' is 1 in one launch and 2 in "
                         "another one");
}

/// A kernel that knows both patterns could tell memory that was not written from results.
TEST(Trial, WhatStandsInMemoryIsDrawn) {
  auto patternsOf = [](uint64_t seed) {
    std::vector<uint32_t> patterns;
    tryKernel(plain(),
              [&](std::span<const Tensor> given, const LaunchWay &) {
                patterns.push_back(*(given[1].as<uint32_t>() + given[1].elementCount()));
              },
              {.seed = seed});
    return patterns;
  };
  std::set<uint32_t> second;
  for (uint64_t seed = 0; seed < 16; ++seed) {
    second.insert(patternsOf(seed).back());
  }
  EXPECT_GT(second.size(), 8u);
  EXPECT_EQ(patternsOf(7), patternsOf(7));
}

/// Which of two launches a caller happens to judge does not decide.
TEST(Trial, WhatMayVaryIsKeptOfBothLaunches) {
  std::atomic<int> launches{0};
  auto count = [&](std::span<const Tensor> tensors, auto &) { tensors[1].set(3, ++launches); };
  TrialResult result = tryKernel(plain(), count, {.mayVary = true});
  EXPECT_EQ(result.fault, Fault::None) << result.text;
  ASSERT_EQ(result.others.size(), 2u);
  EXPECT_EQ(result.tensors[1].at(3), 1);
  EXPECT_EQ(result.others[1].at(3), 2);
  EXPECT_EQ(result.others[1].at(4), result.tensors[1].at(4));
  result = tryKernel(plain(), [](auto, auto &) {}, {.mayVary = true});
  EXPECT_TRUE(result.others.empty()) << "they agree";
}

TEST(Trial, NothingAtAll) {
  std::vector<TrialTensor> tensors = {{"x", numbers({0, 7}), Role::Input},
                                      {"out", numbers({0, 7}), Role::Output}};
  EXPECT_EQ(tryKernel(tensors, [](auto, auto &) {}).fault, Fault::None);
  TrialResult result = tryKernel(tensors, [](std::span<const Tensor> given, auto &) {
    static_cast<void>(*static_cast<volatile float *>(given[0].as<float>()));
  });
  EXPECT_EQ(result.fault, Fault::Outside);
}

TEST(Trial, ALaunchThatIsRefused) {
  auto result = runTrial(plain(), [](auto, auto &) -> Status { return makeError("E0405", "no"); });
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, "E0405");
}

} // namespace
} // namespace nereid::verify
