// SPDX-License-Identifier: Apache-2.0
// A case whose peer is in CUDA C++, from its source to a row of `nereid bench`, on the driver of
// the tests, which knows the kernel add_scalar by its name: x[i] += scalar.
#include "lib/bench/measurement/CaseMeasurement.h"
#include "lib/pipeline/kernel/ForeignKernel.h"
#include "lib/targets/Targets.h"
#include "runtime/Device.h"
#include "unittests/nvidia_driver/fake/LoadedFake.h"
#include "unittests/target_nvidia/cuda/Environment.h"

#include <algorithm>
#include <map>

namespace nereid::nvidia::test {
namespace {

class CudaPeer : public WithFakeNvcc {
protected:
  CudaPeer() {
    (void)fake();
    registerTargets();
    fake().launches.clear();
    write(folder.path + "/add.py", "import triton\nimport triton.language as tl\n\n@triton.jit\n"
                                   "def add_scalar(x, scalar, n, BLOCK: tl.constexpr):\n"
                                   "    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)\n"
                                   "    tl.store(x + i, tl.load(x + i, i < n) + scalar, i < n)\n");
    writePeer("add_scalar", ".maxntid 128, 1, 1");
    one.name = "adding";
    one.kernel = folder.path + "/add.py:add_scalar";
    one.signature = "x=*fp32, scalar=fp32, n=i32, BLOCK=128";
    one.grid = "cdiv(n, BLOCK)";
    one.arguments = {"x=ones(1000)", "scalar=2.5", "n=1000"};
    one.reference = {{"x", "x_before + scalar"}};
    one.foreignPeers = {{.path = folder.path + "/add.cu", .function = "add_scalar"}};
  }
  void writePeer(const std::string &function, const std::string &limits) {
    write(folder.path + "/add.cu",
          "// the source\nPTX\n.version 8.0\n.target sm_90a\n.address_size 64\n.visible .entry " +
              function + "(.param .u64 a, .param .f32 b, .param .u32 c)\n" + limits +
              "\n{\n ret;\n}\n");
  }
  std::optional<bench::KernelRow> measure() {
    diags = {};
    auto row = bench::measureKernel(one, {{.target = "nvidia:1"}, 0.01}, Machine(), diags);
    EXPECT_EQ(fake().violations, std::vector<std::string>{});
    return row;
  }

  launch::KernelCase one;
  Diagnostics diags;
};

TEST_F(CudaPeer, IsTimedInTheSameRun) {
  const auto row = measure();
  ASSERT_TRUE(row) << diags.render();
  EXPECT_EQ(row->failure, "");
  EXPECT_TRUE(row->isVerified);
  EXPECT_EQ(row->peer.name, "add.cu:add_scalar");
  EXPECT_GE(row->peer.summary.count, 20);
  EXPECT_TRUE(row->otherPeers.empty());
  std::map<uint64_t, size_t> launchesOn; // by the address of the tensor
  for (const FakeCuda::Launch &launch : fake().launches) {
    EXPECT_EQ(launch.kernel, "add_scalar");
    EXPECT_EQ(launch.grid[0], 8u);
    EXPECT_EQ(launch.threads, 128u);
    EXPECT_EQ(launch.device, 1);
    EXPECT_EQ(launch.parameters[2], 1000u);
    ++launchesOn[launch.parameters[0]];
  }
  // The kernel and the peer each have a tensor of their own.
  const auto often = std::count_if(launchesOn.begin(), launchesOn.end(),
                                   [](const auto &one) { return one.second >= 20; });
  EXPECT_EQ(often, 2);
}

TEST_F(CudaPeer, SeveralAreTimed) {
  one.foreignPeers.push_back(one.foreignPeers.front());
  one.foreignPeers[1].threads = "64";
  one.foreignPeers[1].grid = "cdiv(n, 64)";
  const auto row = measure();
  ASSERT_TRUE(row) << diags.render();
  EXPECT_EQ(row->failure, "");
  ASSERT_EQ(row->otherPeers.size(), 1u);
  EXPECT_EQ(row->otherPeers[0].name, "add.cu:add_scalar");
  EXPECT_TRUE(std::any_of(fake().launches.begin(), fake().launches.end(), [](const auto &launch) {
    return launch.threads == 64 && launch.grid[0] == 16;
  }));
}

TEST_F(CudaPeer, AWrongOneIsNotTimed) {
  one.foreignPeers[0].grid = "cdiv(n, BLOCK) - 1";
  const auto row = measure();
  ASSERT_TRUE(row) << diags.render();
  EXPECT_EQ(row->failure.substr(0, 37), "peer add.cu:add_scalar: wrong result:") << row->failure;
  EXPECT_FALSE(row->hasPeer());
  EXPECT_TRUE(row->kernel.samples.empty());
}

TEST_F(CudaPeer, ErrorsOfItsLaunchAreReported) {
  one.foreignPeers[0].grid = "1, 65536";
  const auto row = measure();
  ASSERT_TRUE(row) << diags.render();
  EXPECT_NE(row->failure.find("peer add.cu:add_scalar: grid size 1"), std::string::npos)
      << row->failure;
  // The limit of the source holds; the driver has registers for no more.
  one.foreignPeers[0].grid = "";
  one.foreignPeers[0].threads = "256";
  EXPECT_FALSE(measure());
  EXPECT_EQ(diags.all().back().code, "E0316");
}

TEST_F(CudaPeer, ASourceThatDoesNotFitStopsTheCase) {
  writePeer("_Z10add_scalarPKddi", "");
  EXPECT_FALSE(measure());
  EXPECT_EQ(diags.all().back().code, "E0316");
  writePeer("add_one", "");
  EXPECT_FALSE(measure());
  EXPECT_EQ(diags.all().back().code, "E0315");
  write(folder.path + "/add.cu", "LOG (1): error: expected a declaration\n");
  EXPECT_FALSE(measure());
  EXPECT_EQ(diags.all().back().code, "E0314");
  EXPECT_EQ(diags.all().back().file, folder.path + "/add.cu");
}

TEST_F(CudaPeer, WithoutACompilerTheCaseIsMeasuredWithAWarning) {
  const Environment none("NEREID_CUDA_COMPILER", "none");
  const auto row = measure();
  ASSERT_TRUE(row) << diags.render();
  EXPECT_EQ(row->failure, "");
  EXPECT_TRUE(row->isVerified);
  EXPECT_FALSE(row->hasPeer());
  EXPECT_EQ(diags.all().back().code, "E0028");
  EXPECT_EQ(diags.all().back().severity, Severity::Warning);
}

/// Copies are bench's business; the kernel itself takes no host memory.
TEST_F(CudaPeer, AHostTensorIsRefused) {
  const auto kernel = pipeline::loadForeign(
      {.path = folder.path + "/add.cu",
       .text = *readTextFile(folder.path + "/add.cu"),
       .function = "add_scalar",
       .arguments = {{.name = "x", .kind = runtime::ArgumentKind::Pointer, .dtype = DType::F32},
                     {.name = "s", .kind = runtime::ArgumentKind::Float, .dtype = DType::F32},
                     {.name = "n", .kind = runtime::ArgumentKind::Integer, .dtype = DType::I32}}},
      "nvidia:1", 0);
  ASSERT_TRUE(bool(kernel)) << render(kernel.error());
  EXPECT_EQ(kernel->info.threads, 128u);
  const auto here = runtime::Tensor::empty({1000}, DType::F32);
  const auto there = runtime::Tensor::empty({1000}, DType::F32, kernel->code->device());
  const runtime::ArgumentValue onHost[] = {&here, 1.0, int64_t{1000}};
  const runtime::ArgumentValue onDevice[] = {&there, 1.0, int64_t{1000}};
  const auto launch = [&](std::span<const runtime::ArgumentValue> values) {
    return kernel->code->device()
        .runAndWait([&](runtime::Stream &stream) {
          return runtime::launch(*kernel, {8, 1, 1}, values, stream);
        })
        .code;
  };
  EXPECT_EQ(launch(onHost), "E0416");
  EXPECT_EQ(launch(onDevice), "");
}

} // namespace
} // namespace nereid::nvidia::test
