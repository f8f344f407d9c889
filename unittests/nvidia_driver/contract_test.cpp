// SPDX-License-Identifier: Apache-2.0
// An NVIDIA device keeps what runtime/Device.h promises: the fake one, or the first GPU of the
// machine with NEREID_TEST_GPU=1.
#include "unittests/nvidia_driver/Fixture.h"

#include "unittests/DeviceContract.h"

namespace nereid::runtime::test {
namespace {

std::variant<Device *, LaunchError> firstDevice() {
  if (!nvidia::test::usesGpu()) {
    (void)nvidia::test::fake(); // is the libcuda.so.1 of this program from now on
  }
  nvidia::registerNvidiaDevices();
  return findDevice("nvidia:0");
}

std::vector<const char *> names() {
  const bool isThere = std::holds_alternative<Device *>(firstDevice());
  return isThere ? std::vector<const char *>{"nvidia:0"} : std::vector<const char *>{};
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(DeviceContract);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(DeviceGraphs);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(DeviceCaptures);
NEREID_DEVICE_CONTRACT(Nvidia, testing::ValuesIn(names()));

TEST(NvidiaContract, HasADeviceToAsk) {
  const auto found = firstDevice();
  const LaunchError *error = std::get_if<LaunchError>(&found);
  if (error && nvidia::test::usesGpu()) {
    GTEST_SKIP() << error->code << ": " << error->message;
  }
  EXPECT_FALSE(error) << error->message;
}

} // namespace
} // namespace nereid::runtime::test
