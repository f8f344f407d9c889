// SPDX-License-Identifier: Apache-2.0
// Devices by name and number, their memory, streams and events.
#include "runtime/Device.h"
#include "unittests/FarDevice.h"
#include "unittests/runtime/ObjectBuilder.h"

#include <dlpack/dlpack.h>
#include <gtest/gtest.h>

#include <vector>

using namespace nereid::runtime;
using test::FarDevice;

namespace {

std::string codeOf(const std::variant<Device *, LaunchError> &found) {
  const auto *error = std::get_if<LaunchError>(&found);
  return error ? error->code + ": " + error->message : "";
}

TEST(Device, TheCpuIsFoundByBothItsNamesAndByDlpacksNumbers) {
  for (const char *name : {"cpu", "cpu:0"}) {
    const auto found = findDevice(name);
    ASSERT_TRUE(std::holds_alternative<Device *>(found)) << name;
    EXPECT_EQ(std::get<Device *>(found), &cpuDevice());
  }
  EXPECT_EQ(cpuDevice().name(), "cpu:0");
  for (const int32_t type : {kDLCPU, kDLCUDAHost, kDLROCMHost}) {
    EXPECT_EQ(std::get<Device *>(findDevice(type, 0)), &cpuDevice());
  }
}

TEST(Device, AnUnknownOneIsRefusedAndTheKnownKindsAreNamed) {
  EXPECT_NE(codeOf(findDevice("npu:0")).find("but got 'npu:0'"), std::string::npos);
  EXPECT_NE(codeOf(findDevice("npu:0")).find("E0415"), std::string::npos);
  EXPECT_NE(codeOf(findDevice("npu")).find("'cpu'"), std::string::npos);
  EXPECT_EQ(codeOf(findDevice("cpu:1")),
            "E0415: expects the only device of kind 'cpu', 'cpu:0', but got 'cpu:1'");
  for (const char *name :
       {"", ":", "cpu:", "cpu:x", "cpu:0x", "cpu:-1", "cpu:99999999999", "CPU"}) {
    EXPECT_NE(codeOf(findDevice(name)).find("E0415"), std::string::npos) << name;
  }
  EXPECT_NE(codeOf(findDevice(kDLVPI, 0)).find("DLPack device type 9"), std::string::npos);
}

TEST(Device, ARegisteredOneIsMadeOnceForEachNumber) {
  FarDevice &first = FarDevice::get(0), &second = FarDevice::get(1);
  EXPECT_NE(&first, &second);
  EXPECT_EQ(std::get<Device *>(findDevice("far")), &first);
  EXPECT_EQ(std::get<Device *>(findDevice("far:1")), &second);
  EXPECT_EQ(second.name(), "far:1");
  EXPECT_EQ(codeOf(findDevice("far:2")), "E0415: expects 'far:0' or 'far:1', but got 'far:2'");
  EXPECT_EQ(codeOf(findDevice("far:x")),
            "E0415: expects a device such as 'far' or 'far:0', but got 'far:x'");
}

TEST(Device, NegativeNumbersAreRefused) {
  FarDevice::get();
  EXPECT_EQ(codeOf(findDevice(FarDevice::dlpackType, -1)),
            "E0415: expects the number of a device of kind 'far', but got -1");
}

/// A factory may look for other devices and make kinds known.
TEST(Device, AFactoryMayAskForOthers) {
  registerDevices("near", kDLVulkan,
                  [](int32_t) -> std::variant<std::unique_ptr<Device>, LaunchError> {
                    registerDevices("nearer", kDLMetal, nullptr);
                    auto cpu = findDevice("cpu");
                    return LaunchError{"E0415", "there is only " + std::get<Device *>(cpu)->name()};
                  });
  EXPECT_EQ(codeOf(findDevice("near")), "E0415: there is only cpu:0");
}

TEST(Device, CopiesReachMemoryThatTheHostCannot) {
  for (Device *device : {&cpuDevice(), static_cast<Device *>(&FarDevice::get())}) {
    const std::shared_ptr<void> memory = device->allocate(64);
    ASSERT_TRUE(memory);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(memory.get()) % 64, 0u);
    auto made = device->makeStream();
    Stream &stream = *std::get<std::unique_ptr<Stream>>(made);
    EXPECT_EQ(&stream.device(), device);
    int given[16], got[16] = {};
    for (int i = 0; i < 16; ++i) {
      given[i] = i * i;
    }
    EXPECT_FALSE(stream.copyIn(memory.get(), given, sizeof given));
    EXPECT_FALSE(stream.copyOut(got, static_cast<char *>(memory.get()) + 32, 32));
    EXPECT_FALSE(stream.synchronize());
    for (int i = 0; i < 8; ++i) {
      EXPECT_EQ(got[i], (i + 8) * (i + 8));
    }
  }
}

TEST(Device, AnEventIsLaterThanTheOneBeforeTheWork) {
  for (Device *device : {&cpuDevice(), static_cast<Device *>(&FarDevice::get())}) {
    std::vector<char> bytes(1 << 20);
    const std::shared_ptr<void> memory = device->allocate(bytes.size());
    const auto made = device->makeStream();
    Stream &stream = *std::get<0>(made);
    auto start = std::get<std::unique_ptr<Event>>(stream.record());
    EXPECT_FALSE(stream.copyIn(memory.get(), bytes.data(), bytes.size()));
    auto end = std::get<std::unique_ptr<Event>>(stream.record());
    EXPECT_GT(std::get<double>(end->nanosSince(*start)), 0) << device->name();
    EXPECT_FALSE(end->synchronize());
  }
}

TEST(Device, AModuleKnowsWhoLoadedIt) {
  for (Device *device : {&cpuDevice(), static_cast<Device *>(&FarDevice::get())}) {
    auto loaded = device->load(test::addThousandObject());
    ASSERT_TRUE(std::holds_alternative<std::shared_ptr<Module>>(loaded));
    const Module &module = *std::get<std::shared_ptr<Module>>(loaded);
    EXPECT_EQ(&module.device(), device);
    EXPECT_NE(module.symbol("kernel"), nullptr);
    EXPECT_EQ(module.symbol("other"), nullptr);
    auto refused = device->load({});
    ASSERT_TRUE(std::holds_alternative<LaunchError>(refused));
    EXPECT_EQ(std::get<LaunchError>(refused).code, "E0390");
  }
}

} // namespace
