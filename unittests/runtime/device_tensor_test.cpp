// SPDX-License-Identifier: Apache-2.0
// Tensors on a device whose memory the host cannot touch: copies, elements, fills, files, DLPack
// and launches; and who is refused.
#include "runtime/Device.h"
#include "runtime/core/KernelSupport.h"
#include "runtime/elements/IntegerElements.h"
#include "runtime/tensor/Dlpack.h"
#include "unittests/FarDevice.h"
#include "unittests/runtime/ObjectBuilder.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>

using namespace nereid;
using namespace nereid::runtime;
using test::FarDevice;

namespace {

Tensor copied(const Tensor &tensor, Device &device) {
  auto copy = tensor.copyTo(device);
  EXPECT_TRUE(std::holds_alternative<Tensor>(copy));
  return std::holds_alternative<Tensor>(copy) ? std::get<Tensor>(copy) : Tensor();
}

Tensor counted(std::vector<int64_t> shape) {
  Tensor tensor = Tensor::empty(std::move(shape), DType::F32);
  for (int64_t i = 0; i < tensor.elementCount(); ++i) {
    tensor.set(i, static_cast<double>(i));
  }
  return tensor;
}

void expectSame(const Tensor &one, const Tensor &other) {
  ASSERT_EQ(one.shape(), other.shape());
  ASSERT_EQ(one.dtype(), other.dtype());
  for (int64_t i = 0; i < one.elementCount(); ++i) {
    ASSERT_EQ(one.at(i), other.at(i)) << i;
  }
}

TEST(DeviceTensor, KnowsItsDevice) {
  FarDevice &far = FarDevice::get();
  const Tensor here = Tensor::empty({4}, DType::F32);
  const Tensor there = Tensor::empty({4}, DType::F32, far);
  EXPECT_TRUE(here.isOnHost());
  EXPECT_EQ(&here.device(), &cpuDevice());
  ASSERT_TRUE(there.isValid());
  EXPECT_FALSE(there.isOnHost());
  EXPECT_EQ(&there.device(), &far);
  EXPECT_EQ(&there.to(DType::F64).device(), &far);
  EXPECT_EQ(&std::get<Tensor>(there.view(1, {2})).device(), &far);
}

TEST(DeviceTensor, CopiesKeepShapeStridesAndTheBytesBetween) {
  FarDevice &far = FarDevice::get(), &farther = FarDevice::get(1);
  const Tensor all = counted({4, 6});
  const Tensor column = std::get<Tensor>(all.view(1, {3}, {6}));
  const Tensor backwards = std::get<Tensor>(all.view(23, {5}, {-4}));
  const Tensor spread = std::get<Tensor>(all.view(7, {3, 2}, {0, 1}));
  for (const Tensor &given : {all, column, backwards, spread}) {
    const Tensor there = copied(given, far);
    EXPECT_EQ(there.strides(), given.strides());
    expectSame(copied(there, cpuDevice()), given);
    const Tensor beyond = copied(there, farther); // from device to device
    EXPECT_EQ(&beyond.device(), &farther);
    expectSame(copied(beyond, cpuDevice()), given);
  }
  const Tensor there = copied(column, far), back = copied(there, cpuDevice());
  EXPECT_EQ(back.as<float>()[3], all.as<float>()[4]); // between two elements
  EXPECT_TRUE(copied(Tensor::empty({0, 3}, DType::F32), far).isValid());
  const size_t before = far.allocationCount();
  {
    const Tensor forAWhile = copied(all, far);
  }
  EXPECT_EQ(far.allocationCount(), before);
}

TEST(DeviceTensor, CopyFromExpectsTheSameForm) {
  const Tensor there = Tensor::empty({2, 3}, DType::F32, FarDevice::get());
  const Tensor here = counted({2, 3});
  EXPECT_FALSE(there.copyFrom(here));
  expectSame(there, here);
  EXPECT_EQ(there.copyFrom(counted({3, 2})).code, "E0410");
  EXPECT_EQ(there.copyFrom(Tensor::empty({2, 3}, DType::I32)).code, "E0410");
  EXPECT_EQ(there.copyFrom(std::get<Tensor>(here.view(0, {2, 3}, {1, 2}))).code, "E0410");
}

TEST(DeviceTensor, ElementsFillsAndConversionsAreThoseOfTheHost) {
  FarDevice &far = FarDevice::get();
  for (const DType type : {DType::F32, DType::F16, DType::I64, DType::U8}) {
    const Tensor here = Tensor::empty({1025}, type), there = Tensor::empty({1025}, type, far);
    const Tensor pair[] = {here, there};
    for (const Tensor &tensor : pair) {
      EXPECT_FALSE(isFloat(type) ? fillNormal(tensor, 7) : fillIntegers(tensor, 7, 0, 100));
    }
    expectSame(there, here);
    expectSame(there.to(DType::F64), here.to(DType::F64));
    for (const Tensor &tensor : pair) {
      EXPECT_FALSE(fillConstant(tensor, 3));
      tensor.set(1024, 5);
    }
    expectSame(there, here);
    EXPECT_EQ(there.at(1024), 5);
  }
  const Tensor uniform = Tensor::empty({9}, DType::F32, far);
  EXPECT_FALSE(fillUniform(uniform, 1, 2, 3));
  EXPECT_GE(uniform.at(8), 2);
  const Tensor integers = Tensor::empty({2}, DType::I64, far);
  storeInteger(integers, 1, (uint64_t{1} << 62) + 1);
  EXPECT_EQ(loadInteger(integers, 1), (uint64_t{1} << 62) + 1);
}

TEST(DeviceTensor, PoisonSparesTheBytesBetween) {
  const Tensor all = copied(counted({2, 4}), FarDevice::get());
  const Tensor column = std::get<Tensor>(all.view(0, {2}, {4}));
  EXPECT_FALSE(column.poison());
  EXPECT_TRUE(std::isnan(all.at(0)));
  EXPECT_TRUE(std::isnan(all.at(4)));
  EXPECT_EQ(all.at(1), 1);
  EXPECT_FALSE(all.poison());
  EXPECT_TRUE(std::isnan(all.at(1)));
}

/// Bytes between elements may be another's, and what is overwritten need not be read.
TEST(DeviceTensor, FillsMoveTheElementsAlone) {
  FarDevice &far = FarDevice::get();
  const Tensor all = copied(counted({6, 4}), far);
  const Tensor column = std::get<Tensor>(all.view(1, {6}, {4}));
  const Tensor columns = std::get<Tensor>(all.view(23, {6, 2}, {-4, -1}));
  const Tensor windows = std::get<Tensor>(all.view(0, {3, 4}, {2, 1}));
  const std::pair<const Tensor *, uint64_t> fills[] = {
      {&all, 24 * 4}, {&column, 6 * 4}, {&columns, 12 * 4}, {&windows, 8 * 4}};
  for (const auto &[tensor, bytes] : fills) {
    far.bytesIn = far.bytesOut = 0;
    EXPECT_FALSE(tensor->poison());
    EXPECT_FALSE(fillConstant(*tensor, static_cast<double>(bytes)));
    EXPECT_EQ(far.bytesOut, 0u);
    EXPECT_EQ(far.bytesIn, 2 * bytes);
  }
  const Tensor here = copied(all, cpuDevice());
  for (int64_t i = 0; i < 24; ++i) {
    const double expected = i < 8 ? 32 : i % 4 > 1 ? 48 : i % 4 == 1 ? 24 : 96;
    EXPECT_EQ(here.at(i), expected) << i;
  }
}

TEST(DeviceTensor, IsWrittenToAFile) {
  const std::string path = testing::TempDir() + "device_tensor.npy";
  const Tensor given = counted({3, 5});
  EXPECT_EQ(saveNpy(copied(given, FarDevice::get()), path), "");
  auto loaded = loadNpy(path);
  ASSERT_TRUE(std::holds_alternative<Tensor>(loaded));
  expectSame(std::get<Tensor>(loaded), given);
  std::remove(path.c_str());
}

TEST(DeviceTensor, DlpackTellsTheDeviceBothWays) {
  FarDevice &far = FarDevice::get(1);
  const Tensor given = copied(counted({3, 5}), far);
  DLManagedTensor *managed = given.toDlpack();
  EXPECT_EQ(managed->dl_tensor.device.device_type, FarDevice::dlpackType);
  EXPECT_EQ(managed->dl_tensor.device.device_id, 1);
  auto taken = Tensor::fromDlpack(managed);
  ASSERT_TRUE(std::holds_alternative<Tensor>(taken));
  EXPECT_EQ(&std::get<Tensor>(taken).device(), &far);
  expectSame(std::get<Tensor>(taken), given);
}

TEST(DeviceTensor, DlpackOfAnUnknownDeviceIsRefused) {
  float number = 1;
  int64_t size = 1;
  DLTensor given{&number, {kDLVPI, 0}, 1, {kDLFloat, 32, 1}, &size, nullptr, 0};
  auto refused = borrowDlpack(given);
  ASSERT_TRUE(std::holds_alternative<std::string>(refused));
  EXPECT_NE(std::get<std::string>(refused).find("DLPack device type 9"), std::string::npos);
  FarDevice::get();
  given.device = {static_cast<DLDeviceType>(FarDevice::dlpackType), 7};
  refused = borrowDlpack(given);
  ASSERT_TRUE(std::holds_alternative<std::string>(refused));
  EXPECT_NE(std::get<std::string>(refused).find("far:7"), std::string::npos);
}

TEST(DeviceTensor, ADeviceThatFailsSaysSo) {
  FarDevice &far = FarDevice::get();
  const Tensor here = counted({4}), there = copied(here, far);
  auto failNext = [&] { far.nextError = LaunchError{"E0416", "the cable is out"}; };
  failNext();
  EXPECT_EQ(std::get<LaunchError>(there.copyTo(cpuDevice())).message, "the cable is out");
  failNext();
  EXPECT_EQ(fillConstant(there, 1).message, "the cable is out");
  failNext();
  EXPECT_EQ(there.poison().message, "the cable is out");
  failNext();
  EXPECT_TRUE(std::isnan(there.at(0)));
  failNext();
  EXPECT_FALSE(there.to(DType::F64).isValid());
  failNext();
  EXPECT_NE(saveNpy(there, testing::TempDir() + "none.npy").find("the cable"), std::string::npos);
  far.failsAllocations = true;
  const LaunchError full = std::get<LaunchError>(here.copyTo(far));
  EXPECT_EQ(full.code, "E0506");
  EXPECT_EQ(full.message,
            "no memory for " + std::to_string(here.byteCount()) + " bytes on 'far:0'");
  EXPECT_FALSE(Tensor::empty({4}, DType::F32, far).isValid());
  far.failsAllocations = false;
}

class DeviceLaunch : public testing::Test {
protected:
  DeviceLaunch() {
    kernel.info.name = "kernel";
    kernel.info.arguments = {{"out", ArgumentKind::Pointer, DType::I32, 1}};
    kernel.code = std::get<0>(far.load(test::addThousandObject()));
    kernel.entry = reinterpret_cast<KernelEntry>(kernel.code->symbol("kernel"));
  }
  FarDevice &far = FarDevice::get();
  Kernel kernel;
  Tensor out = Tensor::empty({64}, DType::I32, far);
  const ArgumentValue arguments[1] = {&out};
  ThreadPool pool{2};
};

TEST_F(DeviceLaunch, RunsOnItsDeviceAndIsWaitedFor) {
  const int before = far.launches;
  const LaunchError error = launch(kernel, {64, 1, 1}, arguments, pool);
  EXPECT_FALSE(error) << error.message;
  EXPECT_EQ(far.launches, before + 1);
  for (int64_t i = 0; i < 64; ++i) {
    ASSERT_EQ(out.at(i), 1000 + static_cast<double>(i));
  }
}

TEST_F(DeviceLaunch, OnAStreamRunsWhenItIsWaitedFor) {
  auto made = far.makeStream();
  Stream &stream = *std::get<std::unique_ptr<Stream>>(made);
  ASSERT_FALSE(fillConstant(out, 0));
  const int before = far.launches;
  EXPECT_FALSE(launch(kernel, {64, 1, 1}, arguments, stream));
  EXPECT_FALSE(launch(kernel, {0, 1, 1}, arguments, stream)); // of nothing
  EXPECT_EQ(far.launches, before);
  EXPECT_EQ(out.at(1), 0);
  EXPECT_FALSE(stream.synchronize());
  EXPECT_EQ(far.launches, before + 1);
  EXPECT_EQ(out.at(1), 1001);
}

TEST_F(DeviceLaunch, OnAStreamOfTheCpuIsDoneAtOnce) {
  kernel.code = std::get<0>(cpuDevice().load(test::addThousandObject()));
  kernel.entry = reinterpret_cast<KernelEntry>(kernel.code->symbol("kernel"));
  const Tensor here = Tensor::empty({64}, DType::I32);
  const ArgumentValue values[] = {&here};
  const auto stream = std::get<0>(cpuDevice().makeStream());
  EXPECT_FALSE(launch(kernel, {64, 1, 1}, values, *stream));
  EXPECT_EQ(here.at(63), 1063);
}

TEST_F(DeviceLaunch, ErrorsOfTheDeviceAreTold) {
  far.nextError = LaunchError{"E0407", "the cable is out"};
  EXPECT_EQ(launch(kernel, {64, 1, 1}, arguments, pool).message, "the cable is out");
}

/// What fails is told to who has launched it, though another thread waits in between.
TEST_F(DeviceLaunch, AFailureIsToldToItsOwnLaunch) {
  ASSERT_FALSE(fillConstant(out, 7));
  kernel.entry = [](const uint64_t *, const int32_t *id, const int32_t *, uint8_t *) {
    nereid_rt_assert_fail("it always fails", id);
  };
  double meanwhile = 0;
  far.beforeWait = [&] { meanwhile = out.at(3); };
  EXPECT_EQ(launch(kernel, {64, 1, 1}, arguments, pool).code, "E0407");
  EXPECT_EQ(meanwhile, 7);
  EXPECT_EQ(out.at(3), 7);
}

TEST_F(DeviceLaunch, TensorsAndStreamsOfAnotherDeviceAreRefused) {
  const Tensor here = Tensor::empty({64}, DType::I32);
  const Tensor farther = Tensor::empty({64}, DType::I32, FarDevice::get(1));
  for (const Tensor *wrong : {&here, &farther}) {
    const ArgumentValue values[] = {wrong};
    const LaunchError error = launch(kernel, {64, 1, 1}, values, pool);
    EXPECT_EQ(error.code, "E0416");
    EXPECT_EQ(error.message, "parameter 'out' of kernel 'kernel' expects a tensor on 'far:0', as "
                             "the kernel is, but got one on '" +
                                 wrong->device().name() + "'");
  }
  for (Device *other : {&cpuDevice(), static_cast<Device *>(&FarDevice::get(1))}) {
    const auto stream = std::get<0>(other->makeStream());
    EXPECT_EQ(launch(kernel, {64, 1, 1}, arguments, *stream).code, "E0416");
  }
  kernel.code = std::get<0>(cpuDevice().load(test::addThousandObject()));
  EXPECT_EQ(launch(kernel, {64, 1, 1}, arguments, pool).code, "E0416");
  kernel.code = nullptr; // a function of this program
  EXPECT_EQ(launch(kernel, {64, 1, 1}, arguments, pool).code, "E0416");
}

TEST_F(DeviceLaunch, ChecksAreThoseOfTheCpu) {
  EXPECT_EQ(launch(kernel, {-1, 1, 1}, arguments, pool).code, "E0405");
  EXPECT_EQ(launch(kernel, {1, 1, 1}, {}, pool).code, "E0401");
  const Tensor floats = Tensor::empty({64}, DType::F32, far);
  const ArgumentValue values[] = {&floats};
  EXPECT_EQ(launch(kernel, {1, 1, 1}, values, pool).code, "E0410");
  kernel.entry = nullptr;
  EXPECT_EQ(launch(kernel, {1, 1, 1}, arguments, pool).code, "E0408");
}

} // namespace
