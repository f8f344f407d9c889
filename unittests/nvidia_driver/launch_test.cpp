// SPDX-License-Identifier: Apache-2.0
// Kernels on a device, the fake one or with NEREID_TEST_GPU=1 the first GPU of the machine.
#include "unittests/nvidia_driver/Fixture.h"

#include "lib/targets/nvidia/driver/NvidiaModule.h"
#include "runtime/tensor/Tensor.h"

#include <cstdlib>

namespace nereid::nvidia::test {
namespace {

using runtime::ArgumentInfo;
using runtime::ArgumentKind;
using runtime::Tensor;

class OnADevice : public testing::Test {
protected:
  void SetUp() override {
    if (!usesGpu()) {
      (void)fake();
    }
    registerNvidiaDevices();
    const auto found = runtime::findDevice("nvidia:0");
    if (usesGpu() && std::holds_alternative<LaunchError>(found)) {
      GTEST_SKIP() << messageOf(std::get<LaunchError>(found));
    }
    ASSERT_FALSE(errorIn(found)) << messageOf(errorIn(found));
    device = static_cast<NvidiaDevice *>(std::get<0>(found));
    auto loaded = device->load(bytesOf(kernelsPtx));
    ASSERT_FALSE(errorIn(loaded)) << messageOf(errorIn(loaded));
    module = std::get<0>(loaded);
    stream = std::get<0>(device->makeStream());
  }

  void TearDown() override {
    if (!usesGpu()) {
      EXPECT_EQ(fake().violations, std::vector<std::string>{});
      fake().violations.clear();
    }
  }

  static ArgumentInfo pointer(DType dtype) {
    return {.name = "x", .kind = ArgumentKind::Pointer, .dtype = dtype};
  }
  runtime::Kernel addScalar() {
    return kernelOf(module, "add_scalar",
                    {pointer(DType::F32),
                     {.name = "scalar", .kind = ArgumentKind::Float, .dtype = DType::F32},
                     {.name = "n", .kind = ArgumentKind::Integer, .dtype = DType::U32}});
  }

  NvidiaDevice *device = nullptr;
  std::shared_ptr<runtime::Module> module;
  std::unique_ptr<runtime::Stream> stream;
};

TEST_F(OnADevice, AFailedAssertionIsToldOnceAndTheDeviceGoesOn) {
  const runtime::Kernel kernel =
      kernelOf(module, "assert_not_one",
               {{.name = "number", .kind = ArgumentKind::Integer, .dtype = DType::U32}});
  const auto tryNumber = [&](int64_t number) {
    const runtime::ArgumentValue values[] = {number};
    EXPECT_EQ(messageOf(runtime::launch(kernel, {1, 1, 1}, values, *stream)), ": ");
    return messageOf(stream->synchronize());
  };
  EXPECT_EQ(tryNumber(0), ": ");
  EXPECT_EQ(tryNumber(1),
            "E0407: device assertion failed in kernel 'assert_not_one', program (0, 7, 0): ons");
  EXPECT_EQ(messageOf(stream->synchronize()), ": ");
  EXPECT_EQ(tryNumber(2), ": ");
}

TEST_F(OnADevice, AKernelRunsWithTheThreadsItIsCompiledFor) {
  runtime::Kernel kernel = addScalar();
  ASSERT_TRUE(kernel.entry);
  kernel.info.threads = 128;
  const Tensor x = Tensor::empty({1000}, DType::F32, *device);
  ASSERT_TRUE(x.isValid());
  ASSERT_FALSE(runtime::fillConstant(x, 1));
  // 7 × 128 = 896 threads, of which each adds to one element.
  const LaunchError error = runtime::launch(
      kernel, {7, 1, 1}, std::vector<runtime::ArgumentValue>{&x, 0.5, int64_t{890}}, *stream);
  ASSERT_FALSE(error) << messageOf(error);
  ASSERT_FALSE(stream->synchronize());
  for (int64_t i = 0; i < 1000; ++i) {
    ASSERT_EQ(x.at(i), i < 890 ? 1.5 : 1) << i;
  }
}

TEST_F(OnADevice, AKernelThatDoesNotSayItsThreadsHasAllItMay) {
  const runtime::Kernel kernel = addScalar();
  const int threads = std::bit_cast<const KernelFunction *>(kernel.entry)->maxThreads;
  ASSERT_GT(threads, 0);
  const Tensor x = Tensor::empty({2000}, DType::F32, *device);
  ASSERT_FALSE(runtime::fillConstant(x, 0));
  ASSERT_FALSE(runtime::launch(
      kernel, {1, 1, 1}, std::vector<runtime::ArgumentValue>{&x, 1.0, int64_t{2000}}, *stream));
  ASSERT_FALSE(stream->synchronize());
  EXPECT_EQ(x.at(threads - 1), 1);
  EXPECT_EQ(x.at(threads), 0);
}

TEST_F(OnADevice, GridsHaveThreeAxes) {
  runtime::Kernel kernel = kernelOf(module, "write_ids", {pointer(DType::U32)});
  kernel.info.threads = 32;
  const Tensor out = Tensor::empty({2 * 3 * 5}, DType::U32, *device);
  ASSERT_FALSE(
      runtime::launch(kernel, {2, 3, 5}, std::vector<runtime::ArgumentValue>{&out}, *stream));
  ASSERT_FALSE(stream->synchronize());
  for (int64_t i = 0; i < out.elementCount(); ++i) {
    EXPECT_EQ(out.at(i), i % 2 | (i / 2 % 3) << 8 | (i / 6) << 16) << i;
  }
}

/// 48 KiB is what a kernel has without asking for more.
TEST_F(OnADevice, AProgramHasAllSharedMemoryThatItAsksFor) {
  const int most = device->facts().sharedBytesPerBlock;
  for (const int bytes : {256, 48 << 10, (48 << 10) + 64, most}) {
    runtime::Kernel kernel =
        kernelOf(module, "use_shared",
                 {pointer(DType::U32),
                  {.name = "offset", .kind = ArgumentKind::Integer, .dtype = DType::U32}});
    kernel.info.threads = 64;
    kernel.info.scratchBytes = static_cast<uint64_t>(bytes);
    const Tensor out = Tensor::empty({1}, DType::U32, *device);
    ASSERT_FALSE(runtime::fillConstant(out, 0));
    const LaunchError error = runtime::launch(
        kernel, {1, 1, 1}, std::vector<runtime::ArgumentValue>{&out, int64_t{bytes - 4}}, *stream);
    ASSERT_FALSE(error) << messageOf(error);
    const LaunchError failed = stream->synchronize();
    ASSERT_FALSE(failed) << messageOf(failed);
    EXPECT_EQ(out.at(0), 64) << bytes;
  }
}

TEST_F(OnADevice, LimitsAreRefusedBeforeTheDriverIsAsked) {
  runtime::Kernel kernel = kernelOf(module, "narrow", {});
  const auto launch = [&](runtime::Grid grid) {
    return stream->launch(kernel, grid, nullptr, runtime::ProgramOrder::Ascending);
  };
  const std::string name = "'" + device->name() + "'";
  EXPECT_EQ(messageOf(launch({1, 65536, 1})),
            "E0405: grid size 1 of kernel 'narrow' expects at most 65535 on " + name +
                ", but got 65536: lay the programs along axis 0, which takes 2147483647");
  EXPECT_EQ(launch({1, 1, 65536}).code, "E0405");
  EXPECT_EQ(launch({int64_t{1} << 31, 1, 1}).code, "E0405");
  EXPECT_FALSE(launch({1, 65535, 1}));
  kernel.info.blocks = 4; // which the grid is a multiple of
  EXPECT_EQ(messageOf(launch({int64_t{1} << 29, 1, 1})),
            "E0405: grid size 0 of kernel 'narrow' expects at most 536870911 on " + name +
                ", but got 536870912: let each program do more");
  EXPECT_EQ(messageOf(launch({1, 65536, 1})),
            "E0405: grid size 1 of kernel 'narrow' expects at most 65535 on " + name +
                ", but got 65536: lay the programs along axis 0, which takes 536870911");
  kernel.info.blocks = 1;
  kernel.info.threads = 65;
  EXPECT_EQ(messageOf(launch({1, 1, 1})), "E0508: kernel 'narrow' expects 65 threads for a "
                                          "program, but " +
                                              name + " has registers for 64: use fewer warps");
  kernel.info.threads = 64;
  const int most = device->facts().sharedBytesPerBlock;
  const auto &function = *std::bit_cast<const KernelFunction *>(kernel.entry);
  EXPECT_GE(function.staticSharedBytes, 1024);
  kernel.info.scratchBytes = static_cast<uint64_t>(function.maxDynamicSharedBytes) + 1;
  EXPECT_EQ(messageOf(launch({1, 1, 1})),
            "E0501: kernel 'narrow' expects " + std::to_string(most + 1) +
                " bytes of shared memory for a program (" +
                std::to_string(kernel.info.scratchBytes) + " dynamic, " +
                std::to_string(function.staticSharedBytes) + " static), but " + name + " has " +
                std::to_string(most) + ": use smaller block sizes or fewer pipeline stages");
  kernel.info.scratchBytes -= 1;
  EXPECT_FALSE(launch({1, 1, 1}));
  EXPECT_FALSE(stream->synchronize());
}

TEST_F(OnADevice, OnlyFunctionsOfTheCodeAreFound) {
  EXPECT_FALSE(module->symbol("nothing"));
  void *first = module->symbol("narrow");
  EXPECT_TRUE(first);
  EXPECT_EQ(module->symbol("narrow"), first);
}

TEST_F(OnADevice, CapturedWorkIsReplayed) {
  runtime::Kernel kernel = addScalar();
  kernel.info.threads = 64;
  const Tensor x = Tensor::empty({64}, DType::F32, *device);
  ASSERT_FALSE(runtime::fillConstant(x, 0));
  auto captured = capture(*stream, [&](runtime::Stream &into) {
    const std::vector<runtime::ArgumentValue> one{&x, 1.0, int64_t{64}}, ten{&x, 10.0, int64_t{32}};
    const LaunchError error = runtime::launch(kernel, {1, 1, 1}, one, into);
    return error ? error : runtime::launch(kernel, {1, 1, 1}, ten, into);
  });
  ASSERT_FALSE(errorIn(captured)) << messageOf(errorIn(captured));
  EXPECT_FALSE(stream->synchronize());
  EXPECT_EQ(x.at(0), 0) << "what is captured does not run";
  for (int i = 0; i < 3; ++i) {
    EXPECT_FALSE(std::get<0>(captured)->replay(*stream));
  }
  EXPECT_FALSE(stream->synchronize());
  EXPECT_EQ(x.at(0), 33);
  EXPECT_EQ(x.at(63), 3);
}

/// One kernel of the tests', in a module that asserts nothing.
std::string withoutAssertions() {
  const std::string_view all = kernelsPtx;
  const size_t kernel = all.find(".visible .entry add_scalar"), next = all.find("\n//", kernel);
  return std::string(all.substr(0, all.find(".extern"))) +
         std::string(all.substr(kernel, next - kernel));
}

/// The driver is not asked for any of it, as it would end the capture. What the graph needs of the
/// module it keeps.
TEST_F(OnADevice, ACaptureGoesOnWhenACallIsRefused) {
  const Tensor x = Tensor::empty({64}, DType::F32, *device);
  ASSERT_FALSE(runtime::fillConstant(x, 0));
  const size_t unloaded = usesGpu() ? 0 : fake().count("cuModuleUnload");
  std::variant<std::unique_ptr<runtime::Graph>, LaunchError> captured =
      capture(*stream, [&](runtime::Stream &into) {
        auto own = device->load(bytesOf(withoutAssertions()));
        runtime::Kernel kernel =
            kernelOf(std::get<0>(own), "add_scalar",
                     {{.name = "x", .kind = ArgumentKind::Pointer, .dtype = DType::F32},
                      {.name = "scalar", .kind = ArgumentKind::Float, .dtype = DType::F32},
                      {.name = "n", .kind = ArgumentKind::Integer, .dtype = DType::U32}});
        kernel.info.threads = 64;
        EXPECT_EQ(into.synchronize().code, "E0424");
        EXPECT_EQ(errorIn(into.record()).code, "E0424");
        const std::vector<runtime::ArgumentValue> values{&x, 2.0, int64_t{64}};
        return runtime::launch(kernel, {1, 1, 1}, values, into);
      });
  ASSERT_FALSE(errorIn(captured)) << messageOf(errorIn(captured));
  if (!usesGpu()) {
    EXPECT_EQ(fake().count("cuModuleUnload"), unloaded) << "the graph's code is gone";
  }
  EXPECT_FALSE(std::get<0>(captured)->replay(*stream));
  EXPECT_FALSE(stream->synchronize());
  EXPECT_EQ(x.at(63), 2);
}

TEST_F(OnADevice, AnAssertionThatFailsInAGraphIsTold) {
  const runtime::Kernel kernel =
      kernelOf(module, "assert_not_one",
               {{.name = "number", .kind = ArgumentKind::Integer, .dtype = DType::U32}});
  auto captured = capture(*stream, [&](runtime::Stream &into) {
    const runtime::ArgumentValue values[] = {int64_t{1}};
    return runtime::launch(kernel, {1, 1, 1}, values, into);
  });
  ASSERT_FALSE(errorIn(captured)) << messageOf(errorIn(captured));
  EXPECT_EQ(messageOf(stream->synchronize()), ": ") << "it has not run";
  for (int i = 0; i < 2; ++i) {
    EXPECT_FALSE(std::get<0>(captured)->replay(*stream));
    EXPECT_EQ(messageOf(stream->synchronize()),
              "E0407: device assertion failed in kernel 'assert_not_one', program (0, 7, 0): ons");
  }
}

TEST_F(OnADevice, ACaptureThatFailsLeavesTheStreamAsItWas) {
  const auto refused =
      capture(*stream, [](runtime::Stream &) { return LaunchError{"E0407", "refused"}; });
  EXPECT_EQ(messageOf(errorIn(refused)), "E0407: refused");
  const std::shared_ptr<void> memory = device->allocate(4);
  int given = 3, got = 0;
  EXPECT_FALSE(stream->copyIn(memory.get(), &given, 4));
  EXPECT_FALSE(stream->copyOut(&got, memory.get(), 4));
  EXPECT_FALSE(stream->synchronize());
  EXPECT_EQ(got, 3);
}

/// The host tensor's address would be one of nothing on a device.
TEST_F(OnADevice, TensorsOfTheHostAreRefused) {
  const runtime::Kernel kernel = addScalar();
  const Tensor x = Tensor::empty({64}, DType::F32);
  const LaunchError error = runtime::launch(
      kernel, {1, 1, 1}, std::vector<runtime::ArgumentValue>{&x, 1.0, int64_t{64}}, *stream);
  EXPECT_EQ(error.code, "E0416");
}

TEST_F(OnADevice, PtxThatDoesNotCompileIsRefusedWithItsLog) {
  if (!usesGpu()) {
    GTEST_SKIP() << "the fake driver compiles nothing";
  }
  const LaunchError error = errorIn(device->load(
      bytesOf(".version 8.0\n.target sm_80\n.address_size 64\n.entry k() { nonsense; }")));
  EXPECT_EQ(error.code, "E0390");
  EXPECT_NE(error.message.find("ptxas"), std::string::npos) << error.message;
}

TEST(Ptx, OfTheTestsIsTakenByPtxas) {
  const char *assembler = "/usr/local/cuda/bin/ptxas";
  if (std::system((std::string("test -x ") + assembler).c_str()) != 0) {
    GTEST_SKIP() << "no " << assembler;
  }
  for (const char *architecture : {"sm_80", "sm_90a"}) {
    const std::string command =
        std::string(assembler) + " -arch=" + architecture + " -o /dev/null - 2>&1";
    FILE *pipe = ::popen(command.c_str(), "w");
    ASSERT_TRUE(pipe);
    std::fputs(kernelsPtx, pipe);
    EXPECT_EQ(::pclose(pipe), 0) << architecture;
  }
}

} // namespace
} // namespace nereid::nvidia::test
