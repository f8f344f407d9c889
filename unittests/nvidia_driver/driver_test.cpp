// SPDX-License-Identifier: Apache-2.0
// Which drivers are refused, and with which words.
#include "unittests/nvidia_driver/Fixture.h"

#include <cstdlib>
#include <thread>

namespace nereid::nvidia::test {
namespace {

/// The fake driver as it is told to be, and as before afterwards.
class Loading : public testing::Test {
protected:
  void SetUp() override {
    if (usesGpu()) {
      GTEST_SKIP() << "needs the fake driver";
    }
  }
  void TearDown() override {
    if (usesGpu()) {
      return;
    }
    fake().version = 13000;
    fake().initResult = cuda::Success;
    fake().deviceCount = 4;
    ::unsetenv("CUDA_VISIBLE_DEVICES");
  }
  LaunchError load(const char *library = fakeLibrary) { return errorIn(loadDriver(library)); }
};

TEST_F(Loading, TakesTheFakeDriver) {
  const auto loaded = loadDriver(fakeLibrary);
  ASSERT_FALSE(errorIn(loaded)) << messageOf(errorIn(loaded));
  EXPECT_EQ(std::get<0>(loaded)->version, 13000);
  EXPECT_EQ(std::get<0>(loaded)->library, fakeLibrary);
}

TEST_F(Loading, SaysThatThereIsNoDriver) {
  const LaunchError error = load("/nowhere/libcuda.so.1");
  EXPECT_EQ(error.code, "E0419");
  EXPECT_EQ(error.message,
            "expects NVIDIA's driver, but it cannot be loaded: /nowhere/libcuda.so.1: cannot open "
            "shared object file: No such file or directory; install the driver of the GPU, no "
            "toolkit is needed");
}

TEST_F(Loading, RefusesADriverThatIsTooOldWithBothVersions) {
  fake().version = 11080;
  const LaunchError error = load();
  EXPECT_EQ(error.code, "E0420");
  EXPECT_EQ(error.message, "expects an NVIDIA driver for CUDA 12.0 or newer, but '" +
                               std::string(fakeLibrary) +
                               "' is for CUDA 11.8: install a newer driver");
  fake().version = cuda::oldestVersion;
  EXPECT_FALSE(load());
}

TEST_F(Loading, RefusesALibraryWithoutTheFunctions) {
  const LaunchError error = load("libm.so.6");
  EXPECT_EQ(error.code, "E0420");
  EXPECT_NE(error.message.find("libm.so.6' lacks 'cuInit'"), std::string::npos) << error.message;
}

TEST_F(Loading, SaysThatThereIsNoDevice) {
  fake().deviceCount = 0;
  ::setenv("CUDA_VISIBLE_DEVICES", "-1", 1);
  const LaunchError error = load();
  EXPECT_EQ(error.code, "E0415");
  EXPECT_EQ(error.message, "expects an NVIDIA GPU, but the driver '" + std::string(fakeLibrary) +
                               "' finds none: CUDA_ERROR_NO_DEVICE (no CUDA-capable device is "
                               "detected); CUDA_VISIBLE_DEVICES is '-1'");
}

TEST_F(Loading, SaysWhyADriverDoesNotStart) {
  fake().initResult = static_cast<cuda::Result>(803);
  LaunchError error = load();
  EXPECT_EQ(error.code, "E0419");
  EXPECT_NE(error.message.find("does not start: CUDA_ERROR_SYSTEM_DRIVER_MISMATCH (system has"),
            std::string::npos)
      << error.message;
  fake().initResult = static_cast<cuda::Result>(12345); // of a driver that is newer than its names
  error = load();
  EXPECT_NE(error.message.find("does not start: result 12345"), std::string::npos) << error.message;
}

TEST_F(Loading, TheSystemsDriverIsLoadedOnceByAnyThread) {
  const size_t before = fake().count("cuInit");
  std::vector<const void *> seen(8);
  std::vector<std::thread> threads;
  for (const void *&here : seen) {
    threads.emplace_back([&here] { here = &nvidia::driver(); });
  }
  for (std::thread &thread : threads) {
    thread.join();
  }
  EXPECT_EQ(seen, std::vector<const void *>(8, &nvidia::driver()));
  EXPECT_LE(fake().count("cuInit"), before + 1); // none when another test has been first
}

} // namespace
} // namespace nereid::nvidia::test
