// SPDX-License-Identifier: Apache-2.0
// Launching: argument checks, slot packing, grid walk, device assertions, cost of one program.
#include "ObjectBuilder.h"
#include "runtime/Kernel.h"
#include "runtime/ThreadPool.h"
#include "runtime/core/KernelSupport.h"

#include <atomic>
#include <bit>
#include <chrono>
#include <gtest/gtest.h>

using namespace nereid;
using namespace nereid::runtime;

namespace {

Kernel kernelOf(KernelEntry entry, std::vector<ArgumentInfo> arguments, uint64_t scratch = 0) {
  Kernel kernel;
  kernel.info.name = "sample";
  kernel.info.arguments = std::move(arguments);
  kernel.info.scratchBytes = scratch;
  kernel.entry = entry;
  return kernel;
}

void recordId(const uint64_t *slots, const int32_t *id, const int32_t *count, uint8_t *) {
  int32_t *out = reinterpret_cast<int32_t *>(slots[0]);
  const int64_t linear = id[0] + int64_t{count[0]} * (id[1] + int64_t{count[1]} * id[2]);
  ++out[linear];
}

void recordRange(const uint64_t *slots, const int32_t *id, const int32_t *count, uint8_t *scratch) {
  if (id[3] > count[0]) {
    return;
  }
  int32_t each[3] = {id[0], id[1], id[2]};
  for (; each[0] < id[3]; ++each[0]) {
    recordId(slots, each, count, scratch);
  }
}

void copySlots(const uint64_t *slots, const int32_t *, const int32_t *, uint8_t *) {
  uint64_t *out = reinterpret_cast<uint64_t *>(slots[0]);
  for (int i = 1; i < 7; ++i) {
    out[i] = slots[i];
  }
}

void expectEveryProgramOnce(const Kernel &kernel) {
  ThreadPool pool(4);
  for (Grid grid :
       {Grid{1, 1, 1}, Grid{7, 1, 1}, Grid{1, 5, 3}, Grid{33, 17, 9}, Grid{100000, 1, 1}}) {
    Tensor out = Tensor::empty({grid[0] * grid[1] * grid[2]}, DType::I32);
    fillConstant(out, 0);
    for (int repeat = 1; repeat <= 3; ++repeat) {
      const ArgumentValue arguments[] = {&out};
      ASSERT_FALSE(launch(kernel, grid, arguments, pool));
      for (int64_t i = 0; i < out.elementCount(); ++i) {
        ASSERT_EQ(out.as<int32_t>()[i], repeat) << i;
      }
    }
  }
}

TEST(Launch, EveryProgramOfAGridRunsOnce) {
  expectEveryProgramOnce(kernelOf(recordId, {{"out", ArgumentKind::Pointer, DType::I32, 1}}));
}

TEST(Launch, RangesEndWithTheLineOfTheGrid) {
  Kernel kernel = kernelOf(recordRange, {{"out", ArgumentKind::Pointer, DType::I32, 1}});
  expectEveryProgramOnce(kernel); // who does not ask for ranges gets ranges of one
  kernel.info.takesRanges = true;
  expectEveryProgramOnce(kernel);
  static std::vector<std::array<int32_t, 4>> seen;
  seen.clear();
  kernel.entry = [](const uint64_t *, const int32_t *id, const int32_t *, uint8_t *) {
    seen.push_back({id[0], id[1], id[2], id[3]});
  };
  Tensor out = Tensor::empty({1}, DType::I32);
  ThreadPool pool(1);
  const ArgumentValue arguments[] = {&out};
  ASSERT_FALSE(launch(kernel, {3, 2, 1}, arguments, pool));
  EXPECT_EQ(seen, (std::vector<std::array<int32_t, 4>>{{0, 0, 0, 3}, {0, 1, 0, 3}}));
}

TEST(Launch, XIsTheInnermostAxis) {
  static std::vector<std::array<int32_t, 3>> seen;
  seen.clear();
  const Kernel kernel = kernelOf([](const uint64_t *, const int32_t *id, const int32_t *,
                                    uint8_t *) { seen.push_back({id[0], id[1], id[2]}); },
                                 {});
  ThreadPool pool(1);
  ASSERT_FALSE(launch(kernel, {2, 2, 2}, {}, pool));
  ASSERT_EQ(seen.size(), 8u);
  EXPECT_EQ(seen[1], (std::array<int32_t, 3>{1, 0, 0}));
  EXPECT_EQ(seen[2], (std::array<int32_t, 3>{0, 1, 0}));
  EXPECT_EQ(seen[4], (std::array<int32_t, 3>{0, 0, 1}));
}

/// Writes how many programs came before.
void recordTurn(const uint64_t *slots, const int32_t *id, const int32_t *, uint8_t *) {
  int32_t *out = reinterpret_cast<int32_t *>(slots[0]);
  ++out[0];
  out[1 + id[0]] = out[0];
}

TEST(Launch, DescendingProgramsBeginWithTheLast) {
  ThreadPool one(1), four(4);
  for (bool takesRanges : {false, true}) {
    Kernel kernel = kernelOf(recordTurn, {{"out", ArgumentKind::Pointer, DType::I32, 1}});
    kernel.info.takesRanges = takesRanges;
    Tensor out = Tensor::empty({51}, DType::I32);
    fillConstant(out, 0);
    const ArgumentValue arguments[] = {&out};
    ASSERT_FALSE(launch(kernel, {50, 1, 1}, arguments, one, ProgramOrder::Descending));
    for (int32_t i = 0; i < 50; ++i) {
      // A range is written by its first program alone: descending programs come one by one.
      EXPECT_EQ(out.as<int32_t>()[1 + i], 50 - i);
    }
  }
  Tensor out = Tensor::empty({100000}, DType::I32);
  fillConstant(out, 0);
  const ArgumentValue arguments[] = {&out};
  Kernel kernel = kernelOf(recordRange, {{"out", ArgumentKind::Pointer, DType::I32, 1}});
  kernel.info.takesRanges = true;
  ASSERT_FALSE(launch(kernel, {1000, 10, 10}, arguments, four, ProgramOrder::Descending));
  for (int64_t i = 0; i < out.elementCount(); ++i) {
    ASSERT_EQ(out.as<int32_t>()[i], 1) << i;
  }
}

TEST(Launch, PacksScalarsByTheEntryContract) {
  const Kernel kernel = kernelOf(copySlots, {{"out", ArgumentKind::Pointer, DType::U64, 1},
                                             {"i", ArgumentKind::Integer, DType::I32, 1},
                                             {"u", ArgumentKind::Integer, DType::U32, 1},
                                             {"f", ArgumentKind::Float, DType::F32, 1},
                                             {"d", ArgumentKind::Float, DType::F64, 1},
                                             {"h", ArgumentKind::Float, DType::F16, 1},
                                             {"w", ArgumentKind::Integer, DType::U64, 16}});
  Tensor out = Tensor::empty({7}, DType::U64);
  ThreadPool pool(1);
  const ArgumentValue arguments[] = {&out,
                                     int64_t{-3},
                                     int64_t{4294967295},
                                     0.1,
                                     int64_t{7},
                                     0.1,
                                     static_cast<int64_t>(0xFFFFFFFFFFFFFFF0u)};
  ASSERT_FALSE(launch(kernel, {1, 1, 1}, arguments, pool));
  const uint64_t *slots = out.as<uint64_t>();
  EXPECT_EQ(static_cast<int64_t>(slots[1]), -3);
  EXPECT_EQ(slots[2], 4294967295u);
  EXPECT_EQ(slots[3], std::bit_cast<uint32_t>(0.1f));
  EXPECT_EQ(slots[4], std::bit_cast<uint64_t>(7.0));
  EXPECT_EQ(slots[5], std::bit_cast<uint32_t>(0.0999755859375f)); // 0.1 rounded to float16
  EXPECT_EQ(slots[6], 0xFFFFFFFFFFFFFFF0u);
}

class LaunchErrors : public ::testing::Test {
protected:
  ThreadPool pool{1};
  Tensor floats = Tensor::empty({64}, DType::F32);
  Kernel kernel = kernelOf(
      [](const uint64_t *, const int32_t *, const int32_t *, uint8_t *) {},
      {{"x", ArgumentKind::Pointer, DType::F32, 16}, {"n", ArgumentKind::Integer, DType::I32, 8}});
  LaunchError run(std::vector<ArgumentValue> arguments, Grid grid = {1, 1, 1}) {
    return launch(kernel, grid, arguments, pool);
  }
  void expect(const LaunchError &error, const char *code, const char *part) {
    EXPECT_EQ(error.code, code);
    EXPECT_NE(error.message.find(part), std::string::npos) << error.message;
  }
};

TEST_F(LaunchErrors, AcceptsWhatFits) { EXPECT_FALSE(run({&floats, int64_t{8}})); }
TEST_F(LaunchErrors, Count) {
  expect(run({&floats}), "E0401", "expects 2 run-time arguments, but got 1");
}
TEST_F(LaunchErrors, Kind) {
  expect(run({int64_t{1}, int64_t{8}}), "E0409", "but got an integer");
  expect(run({&floats, &floats}), "E0409", "but got a tensor");
  expect(run({&floats, 8.0}), "E0409", "but got a floating-point number");
}
TEST_F(LaunchErrors, ElementType) {
  Tensor doubles = Tensor::empty({4}, DType::F64);
  expect(run({&doubles, int64_t{8}}), "E0410", "'float32', but got 'float64'");
}
TEST_F(LaunchErrors, AlignmentPromise) {
  Tensor shifted = Tensor::borrow(floats.as<float>() + 1, {8}, DType::F32);
  expect(run({&shifted, int64_t{8}}), "E0411", "which leaves 4");
  expect(run({&floats, int64_t{12}}), "E0411",
         "divisible by 8 as its signature promises, but got 12");
}
TEST_F(LaunchErrors, IntegerRange) {
  expect(run({&floats, int64_t{1} << 31}), "E0406", "but got 2147483648");
}
TEST_F(LaunchErrors, Grid) {
  expect(run({&floats, int64_t{8}}, {1, -1, 1}), "E0405", "but got -1");
  expect(run({&floats, int64_t{8}}, {int64_t{1} << 31, 1, 1}), "E0405", "but got 2147483648");
  expect(run({&floats, int64_t{8}}, {2147483647, 2147483647, 2147483647}), "E0405", "programs");
}
TEST_F(LaunchErrors, TensorWithoutMemory) {
  Tensor none = Tensor::borrow(nullptr, {8}, DType::F32);
  expect(run({&none, int64_t{8}}), "E0408", "without");
  expect(run({static_cast<const Tensor *>(nullptr), int64_t{8}}), "E0408", "without");
}
TEST_F(LaunchErrors, NoCode) {
  kernel.entry = nullptr;
  expect(run({&floats, int64_t{8}}), "E0408", "no code");
}
TEST_F(LaunchErrors, Scratch) {
  kernel.info.scratchBytes = uint64_t{1} << 50;
  expect(run({&floats, int64_t{8}}), "E0505", "1125899906842624 bytes");
}

TEST(Launch, AnyZeroInTheGridLaunchesNothing) {
  ThreadPool pool(2);
  const Kernel kernel =
      kernelOf([](const uint64_t *, const int32_t *, const int32_t *, uint8_t *) { FAIL(); }, {});
  EXPECT_FALSE(launch(kernel, {0, 1, 1}, {}, pool));
  EXPECT_FALSE(launch(kernel, {5, 1, 0}, {}, pool));
}

TEST(Launch, DeviceAssertionComesBackAsAnError) {
  ThreadPool pool(3);
  const Kernel kernel = kernelOf(
      [](const uint64_t *slots, const int32_t *id, const int32_t *, uint8_t *) {
        if (id[0] == 41) {
          nereid_rt_assert_fail("x must be positive", id);
          // A failed program must not go on.
          reinterpret_cast<int32_t *>(slots[0])[0] = 1;
        }
      },
      {{"out", ArgumentKind::Pointer, DType::I32, 1}});
  Tensor out = Tensor::empty({1}, DType::I32);
  fillConstant(out, 0);
  const ArgumentValue arguments[] = {&out};
  for (int round = 0; round < 50; ++round) {
    const LaunchError error = launch(kernel, {100, 1, 1}, arguments, pool);
    EXPECT_EQ(error.code, "E0407");
    EXPECT_NE(error.message.find("(41, 0, 0): x must be positive"), std::string::npos)
        << error.message;
    EXPECT_EQ(out.as<int32_t>()[0], 0);
  }
  EXPECT_FALSE(launch(kernel, {40, 1, 1}, arguments, pool)) << "the failure must not linger";
}

TEST(Launch, ScratchIsAlignedAndPrivate) {
  ThreadPool pool(4);
  const Kernel kernel = kernelOf(
      [](const uint64_t *slots, const int32_t *id, const int32_t *, uint8_t *scratch) {
        int32_t *mine = reinterpret_cast<int32_t *>(scratch);
        for (int i = 0; i < 1000; ++i) {
          mine[i] = id[0];
        }
        bool isIntact = reinterpret_cast<uintptr_t>(scratch) % 64 == 0;
        for (int i = 0; i < 1000; ++i) {
          isIntact &= mine[i] == id[0];
        }
        reinterpret_cast<int32_t *>(slots[0])[id[0]] = isIntact;
      },
      {{"out", ArgumentKind::Pointer, DType::I32, 1}}, 4000);
  Tensor out = Tensor::empty({5000}, DType::I32);
  const ArgumentValue arguments[] = {&out};
  ASSERT_FALSE(launch(kernel, {5000, 1, 1}, arguments, pool));
  for (int64_t i = 0; i < 5000; ++i) {
    ASSERT_EQ(out.as<int32_t>()[i], 1);
  }
}

TEST(Launch, LoadedObjectRunsOnThePool) {
  auto loaded = loadObject(test::addThousandObject());
  ASSERT_TRUE(std::holds_alternative<std::shared_ptr<Module>>(loaded));
  Kernel kernel = kernelOf(nullptr, {{"out", ArgumentKind::Pointer, DType::I32, 4}});
  kernel.code = std::get<std::shared_ptr<Module>>(loaded);
  kernel.entry = reinterpret_cast<KernelEntry>(kernel.code->symbol("kernel"));
  ThreadPool pool(2);
  Tensor out = Tensor::empty({4096}, DType::I32);
  const ArgumentValue arguments[] = {&out};
  ASSERT_FALSE(launch(kernel, {4096, 1, 1}, arguments, pool));
  for (int64_t i = 0; i < 4096; ++i) {
    ASSERT_EQ(out.at(i), 1000.0 + static_cast<double>(i));
  }
}

} // namespace
