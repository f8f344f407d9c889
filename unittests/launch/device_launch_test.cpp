// SPDX-License-Identifier: Apache-2.0
// Kernels of a device whose memory the host cannot reach, launched with tensors in host memory:
// alone, with memory that is shared, and in the trials of kernels that are not trusted.
#include "lib/launch/DeviceArguments.h"
#include "lib/launch/KernelRunning.h"
#include "lib/verify/Trial.h"
#include "unittests/FarDevice.h"
#include "unittests/runtime/ObjectBuilder.h"

#include <gtest/gtest.h>

using namespace nereid;
using namespace nereid::launch;
using namespace nereid::runtime;
using runtime::test::FarDevice;

namespace {

/// y[i] = x[i] + 1, or as `fault` says.
enum class Fault : uint8_t { None, WritesInput, LeavesOne, SecondWins };
Fault fault;

void addOne(const uint64_t *slots, const int32_t *id, const int32_t *count, uint8_t *) {
  float *x = reinterpret_cast<float *>(slots[0]), *y = reinterpret_cast<float *>(slots[1]);
  const int32_t i = id[0];
  if (fault == Fault::LeavesOne && i == count[0] - 1) {
    return;
  }
  y[i] = x[i] + 1;
  if (fault == Fault::WritesInput) {
    x[i] = 0;
  }
  if (fault == Fault::SecondWins) {
    y[0] = static_cast<float>(i);
  }
}

class DeviceLaunch : public testing::Test {
protected:
  DeviceLaunch() {
    fault = Fault::None;
    kernel.info.name = "add_one";
    kernel.info.arguments = {{"x", ArgumentKind::Pointer, DType::F32, 1},
                             {"y", ArgumentKind::Pointer, DType::F32, 1}};
    kernel.code = std::get<0>(far.load(runtime::test::addThousandObject()));
    kernel.entry = addOne;
    for (int64_t i = 0; i < 64; ++i) {
      x.set(i, static_cast<double>(i));
    }
    y.poison();
  }

  LaunchError run(const Tensor &from, const Tensor &to) {
    const ArgumentValue values[] = {&from, &to};
    return launchHere(kernel, {from.elementCount(), 1, 1}, values, pool);
  }
  verify::TrialResult trial() {
    const verify::TrialTensor tensors[] = {{"x", x, verify::Role::Input, 4, 0},
                                           {"y", y, verify::Role::Output, 4, 0}};
    auto launch = [&](std::span<const Tensor> given, const verify::LaunchWay &way) -> Status {
      const ArgumentValue values[] = {&given[0], &given[1]};
      auto error = launchHere(kernel, {64, 1, 1}, values, *way.pool, way.order);
      return error ? Status(makeError(error.code, error.message)) : Done{};
    };
    auto tried = verify::runTrial(tensors, launch, {});
    EXPECT_TRUE(tried);
    return tried ? *tried : verify::TrialResult{};
  }

  FarDevice &far = FarDevice::get();
  Kernel kernel;
  ThreadPool pool{2};
  Tensor x = Tensor::empty({64}, DType::F32), y = Tensor::empty({64}, DType::F32);
};

TEST_F(DeviceLaunch, TensorsGoThereAndBack) {
  const int before = far.launches;
  const size_t allocations = far.allocationCount();
  const LaunchError error = run(x, y);
  EXPECT_FALSE(error) << error.message;
  EXPECT_EQ(far.launches, before + 1);
  EXPECT_EQ(far.allocationCount(), allocations);
  for (int64_t i = 0; i < 64; ++i) {
    ASSERT_EQ(y.at(i), static_cast<double>(i) + 1);
    ASSERT_EQ(x.at(i), static_cast<double>(i));
  }
}

TEST_F(DeviceLaunch, TensorsThatShareMemoryShareItThere) {
  const Tensor head = std::get<Tensor>(x.view(0, {32})), rest = std::get<Tensor>(x.view(16, {32}));
  const ArgumentValue values[] = {&head, &rest};
  auto made = DeviceArguments::make(far, values);
  const std::span<const ArgumentValue> there = std::get<DeviceArguments>(made).values();
  const Tensor &one = *std::get<const Tensor *>(there[0]);
  const Tensor &other = *std::get<const Tensor *>(there[1]);
  EXPECT_EQ(other.as<float>() - one.as<float>(), 16);
  EXPECT_EQ(&one.device(), &far);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(one.data()) % 4096,
            reinterpret_cast<uintptr_t>(head.data()) % 4096);
}

TEST_F(DeviceLaunch, TensorsThatAreThereAndEmptyOnesNeedNoCopy) {
  const Tensor from = std::get<Tensor>(x.copyTo(far)), to = std::get<Tensor>(y.copyTo(far));
  const int copies = far.copies;
  EXPECT_FALSE(run(from, to));
  EXPECT_EQ(far.copies, copies);
  EXPECT_EQ(to.at(63), 64);
  const Tensor none = Tensor::empty({0}, DType::F32);
  EXPECT_FALSE(run(none, none));
}

TEST_F(DeviceLaunch, FailuresAreTold) {
  far.nextError = LaunchError{"E0407", "the cable is out"};
  EXPECT_EQ(run(x, y).message, "the cable is out");
  far.failsAllocations = true;
  EXPECT_EQ(run(x, y).code, "E0506");
  far.failsAllocations = false;
  kernel.info.arguments.pop_back();
  EXPECT_EQ(run(x, y).code, "E0401");
}

/// Nothing is queued any more on memory that is given back.
TEST_F(DeviceLaunch, ACopyThatFailsLeavesNoneBehind) {
  for (int before = 0; before < 2; ++before) {
    far.nextError = LaunchError{"E0407", "the cable is out"};
    far.callsBeforeError = before;
    EXPECT_EQ(run(x, y).message, "the cable is out");
    EXPECT_EQ(far.pending, 0) << before;
  }
}

TEST_F(DeviceLaunch, TrialsFindTheFaultsOfItsKernels) {
  EXPECT_EQ(trial().fault, verify::Fault::None) << trial().text;
  EXPECT_EQ(trial().tensors[1].at(63), 64);
  fault = Fault::WritesInput;
  EXPECT_EQ(trial().fault, verify::Fault::Input);
  fault = Fault::LeavesOne;
  EXPECT_EQ(trial().fault, verify::Fault::Unwritten);
  fault = Fault::SecondWins;
  EXPECT_EQ(trial().fault, verify::Fault::Varies);
}

} // namespace
