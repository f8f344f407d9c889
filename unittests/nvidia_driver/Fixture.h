// SPDX-License-Identifier: Apache-2.0
// What the tests of the driver share. They take the fake driver, fake/FakeCuda.h, unless the
// program is started with NEREID_TEST_GPU=1: then those that plant no fault run on the system's
// driver and its first GPU, and the others are skipped.
#pragma once

#include "lib/targets/nvidia/driver/NvidiaDevice.h"
#include "runtime/Kernel.h"
#include "unittests/nvidia_driver/Kernels.h"
#include "unittests/nvidia_driver/fake/LoadedFake.h"

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace nereid::nvidia::test {

/// Tests are to run on the system's driver.
bool usesGpu();
inline constexpr const char *fakeLibrary = NEREID_FAKE_CUDA;

inline std::string messageOf(const LaunchError &error) { return error.code + ": " + error.message; }
template <class T> LaunchError errorIn(const std::variant<T, LaunchError> &result) {
  const LaunchError *error = std::get_if<LaunchError>(&result);
  return error ? *error : LaunchError{};
}

inline std::span<const uint8_t> bytesOf(std::string_view text) {
  return {reinterpret_cast<const uint8_t *>(text.data()), text.size()};
}

/// A kernel of a module, with parameters of these kinds.
inline runtime::Kernel kernelOf(std::shared_ptr<runtime::Module> module, const char *name,
                                std::vector<runtime::ArgumentInfo> arguments) {
  runtime::Kernel kernel;
  kernel.info.name = name;
  kernel.info.arguments = std::move(arguments);
  kernel.entry = reinterpret_cast<runtime::KernelEntry>(module->symbol(name));
  kernel.code = std::move(module);
  return kernel;
}

/// What `queue` queues, as a graph; its own error comes first.
inline std::variant<std::unique_ptr<runtime::Graph>, LaunchError>
capture(runtime::Stream &stream, const std::function<LaunchError(runtime::Stream &)> &queue) {
  if (LaunchError error = stream.beginCapture()) {
    return error;
  }
  LaunchError queued = queue(stream);
  auto graph = stream.endCapture();
  return queued ? std::move(queued) : std::move(graph);
}

/// One device of a fake driver that was loaded for the test. Whatever happens, the driver must have
/// nothing to complain of in the end, and get everything back.
class WithFakeDriver : public testing::Test {
protected:
  void SetUp() override;
  void TearDown() override;

  NvidiaDevice &device() { return *made; }
  std::unique_ptr<runtime::Stream> makeStream() { return std::get<0>(made->makeStream()); }
  std::shared_ptr<runtime::Module> load() { return std::get<0>(made->load(bytesOf(kernelsPtx))); }

  std::unique_ptr<Driver> driver;
  std::unique_ptr<NvidiaDevice> made; ///< number 1
  size_t objectsBefore = 0;
};

} // namespace nereid::nvidia::test
