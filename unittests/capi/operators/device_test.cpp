// SPDX-License-Identifier: Apache-2.0
// Operators on tensors of a device: the driver is that of unittests/nvidia_driver, which takes
// launches and runs none of these kernels.
#include "nereid/operator.hpp"
#include "unittests/capi/Errors.h"
#include "unittests/nvidia_driver/fake/LoadedFake.h"

#include <algorithm>

using nereid::nvidia::test::fake;

namespace {

using nereid::DType;
using nereid::Tensor;

constexpr const char *device = "nvidia:1";
/// Before any test of the program looks for a driver.
[[maybe_unused]] const bool isFakeLoaded = (fake(), true);

class OperatorOnADevice : public testing::Test {
protected:
  void SetUp() override {
    fake().launches.clear();
    fake().violations.clear();
  }
  void TearDown() override { EXPECT_EQ(fake().violations, std::vector<std::string>{}); }

  static uint64_t addressOf(const Tensor &tensor) {
    return reinterpret_cast<uint64_t>(tensor.data());
  }
  static bool isPassed(uint64_t value) {
    const auto &passed = fake().launches.back().parameters;
    return std::find(passed.begin(), passed.end(), value) != passed.end();
  }
};

TEST_F(OperatorOnADevice, IsGivenTheTensorsAndTheirSizes) {
  const nereid::Operator softmax("softmax");
  const Tensor x = Tensor::empty({6, 48}, DType::F32, device);
  const Tensor y = softmax(x);
  EXPECT_EQ(y.device(), device);
  EXPECT_EQ(y.shape(), (nereid::Sizes{6, 48}));
  ASSERT_EQ(fake().launches.size(), 1u);
  EXPECT_EQ(fake().launches.front().device, 1);
  if (!fake().launches.front().isMachineCode) {
    EXPECT_TRUE(isPassed(addressOf(x)));
    EXPECT_TRUE(isPassed(addressOf(y)));
    EXPECT_TRUE(isPassed(48));
  }
}

TEST_F(OperatorOnADevice, LoadsItsKernelOnce) {
  const nereid::Operator relu("bias_relu");
  const Tensor x = Tensor::empty({4, 64}, DType::F32, device);
  const Tensor bias = Tensor::empty({64}, DType::F32, device);
  const Tensor out = relu(x, bias);
  const size_t loads = fake().count("cuModuleLoadDataEx");
  relu.into({out}, x, bias);
  relu.into({out}, x, bias);
  EXPECT_EQ(fake().count("cuModuleLoadDataEx"), loads);
  EXPECT_EQ(fake().launches.size(), 3u);
}

TEST_F(OperatorOnADevice, QueuesOnAStream) {
  const nereid::Operator softmax("softmax");
  const nereid::Stream stream(device);
  const Tensor x = Tensor::empty({5, 32}, DType::F32, device);
  softmax(x);
  const size_t before = fake().launches.size();
  const Tensor y = softmax.on(stream)(x);
  EXPECT_EQ(fake().launches.size(), before) << "the fake driver runs when it is waited for";
  stream.synchronize();
  EXPECT_EQ(fake().launches.size(), before + 1);
  // Columns have gaps: that needs a copy, which no stream waits for.
  const Tensor apart = Tensor::empty({4, 32}, DType::F32, device).view(0, {4, 16}, {32, 2});
  const nereid::Error refused = errorOf([&] { softmax.on(stream)(apart); });
  EXPECT_EQ(refused.code(), "E0612");
  EXPECT_NE(std::string(refused.what()).find("evenly spaced rows on a stream"), std::string::npos);
}

TEST_F(OperatorOnADevice, RefusesTensorsOfSeveral) {
  const nereid::Operator relu("bias_relu");
  const Tensor x = Tensor::empty({4, 64}, DType::F32, device);
  const Tensor here = Tensor::empty({64}, DType::F32), out = Tensor::empty({4, 64}, DType::F32);
  const Tensor bias = Tensor::empty({64}, DType::F32, device);
  const nereid::Error mixed = errorOf([&] { relu(x, here); });
  EXPECT_EQ(mixed.code(), "E0416");
  EXPECT_NE(std::string(mixed.what())
                .find("'bias' of operator 'bias_relu' expects a tensor on "
                      "'nvidia:1', as 'x' is, but got one on 'cpu:0'"),
            std::string::npos)
      << mixed.what();
  EXPECT_EQ(errorOf([&] { relu.into({out}, x, bias); }).code(), "E0416");
  const nereid::Stream other("nvidia:2");
  EXPECT_EQ(errorOf([&] { relu.on(other)(x, bias); }).code(), "E0416");
  EXPECT_EQ(errorOf([&] { relu.on(nereid::Stream("cpu"))(x, bias); }).code(), "E0416");
  EXPECT_TRUE(fake().launches.empty());
}

} // namespace
