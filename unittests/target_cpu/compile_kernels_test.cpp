// SPDX-License-Identifier: Apache-2.0
// Kernel files through all phases to running code, on this machine and on lower levels, against the
// interpreter; resuming from each dumped file gives the same object.
#include "lib/pipeline/Compiler.h"
#include "lib/support/AtomicFile.h"
#include "lib/targets/cpu/CpuTarget.h"
#include "runtime/ThreadPool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <filesystem>
#include <thread>

namespace nereid::cpu::test {
namespace {

using runtime::Tensor;

class CompileKernels : public testing::TestWithParam<const char *> {
protected:
  void SetUp() override {
    registerCpuTarget();
    options.target = *GetParam() ? std::string("cpu:") + GetParam() : "cpu";
    options.useCache = false;
    options.verifyEach = true;
  }

  std::string path(const std::string &name) {
    return std::string(NEREID_SOURCE_DIR) + "/kernels/" + name + "/" + name + ".py";
  }

  pipeline::CompileOptions options;
  Diagnostics diags;
  runtime::ThreadPool pool{2};
};

TEST_P(CompileKernels, VectorAdd) {
  pipeline::CompileInput input{path("vector_add"), "vector_add", "*fp32, *fp32, *fp32, i32, 128"};
  auto kernel = pipeline::compileKernel(input, options, diags);
  ASSERT_TRUE(kernel) << diags.render();
  constexpr int64_t n = 1000;
  Tensor x = Tensor::empty({n}, DType::F32), y = Tensor::empty({n}, DType::F32);
  Tensor out = Tensor::empty({n + 64}, DType::F32);
  fillNormal(x, 1);
  fillNormal(y, 2);
  out.poison();
  const runtime::ArgumentValue arguments[] = {&x, &y, &out, n};
  runtime::LaunchError error = launch(*kernel, {8, 1, 1}, arguments, pool);
  ASSERT_FALSE(error) << error.message;
  for (int64_t i = 0; i < n; ++i) {
    ASSERT_EQ(out.as<float>()[i], x.as<float>()[i] + y.as<float>()[i]) << i;
  }
  for (int64_t i = n; i < n + 64; ++i) {
    ASSERT_TRUE(std::isnan(out.as<float>()[i])) << i;
  }
}

TEST_P(CompileKernels, AgreeWithTheInterpreter) {
  struct Case {
    const char *kernel, *signature;
    int64_t rows, columns;
  };
  for (const Case &c : {Case{"softmax", "*fp32, *fp32, i32, i32, i32, 256", 5, 200},
                        Case{"relu", "*fp32, *fp32, i32, 256", 1, 1000},
                        Case{"gelu", "*fp32, *fp32, i32, True, 256", 1, 1000},
                        Case{"gelu", "*fp32, *fp32, i32, False, 256", 1, 1000}}) {
    pipeline::CompileInput input{path(c.kernel), "", c.signature};
    auto kernel = pipeline::compileKernel(input, options, diags);
    ASSERT_TRUE(kernel) << c.kernel << diags.render();
    int64_t count = c.rows * c.columns;
    Tensor x = Tensor::empty({count}, DType::F32);
    Tensor compiled = Tensor::empty({count}, DType::F32),
           oracle = Tensor::empty({count}, DType::F32);
    fillNormal(x, 3);
    compiled.poison();
    oracle.poison();
    runtime::Grid grid = {c.rows > 1 ? c.rows : (count + 255) / 256, 1, 1};
    auto argumentsFor = [&](const Tensor &out) {
      std::vector<runtime::ArgumentValue> values;
      for (const runtime::ArgumentInfo &argument : kernel->info.arguments) {
        bool isOutput = argument.name.find("out") == 0 || argument.name == "y";
        if (argument.kind == runtime::ArgumentKind::Pointer) {
          values.push_back(isOutput ? &out : &x);
        } else {
          values.push_back(c.rows > 1 ? c.columns : count);
        }
      }
      return values;
    };
    runtime::LaunchError error = launch(*kernel, grid, argumentsFor(compiled), pool);
    ASSERT_FALSE(error) << error.message;
    ASSERT_TRUE(pipeline::interpretKernel(input, grid, argumentsFor(oracle), diags))
        << diags.render();
    for (int64_t i = 0; i < count; ++i) {
      double expected = oracle.at(i);
      ASSERT_NEAR(compiled.at(i), expected, 1e-6 + 4e-6 * std::fabs(expected)) << c.kernel << i;
    }
  }
}

TEST_P(CompileKernels, ResumeFromEveryDump) {
  std::string folder = (std::filesystem::temp_directory_path() / "nereid-XXXXXX").string();
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  pipeline::CompileInput input{path("vector_add"), "vector_add", "*fp32, *fp32, *fp32, i32, 128"};
  options.dumpTo = folder;
  auto whole = compile(input, options, diags);
  ASSERT_TRUE(whole) << diags.render();
  options.dumpTo.clear();
  for (auto [phase, file] : {std::pair{"tile", "1-tile.mlir"},
                             {"tile-opt", "2-tile-opt.mlir"},
                             {"tile-cpu", "3-tile-cpu.mlir"},
                             {"loops", "4-loops.mlir"},
                             {"loops-opt", "5-loops-opt.mlir"},
                             {"llvm", "6-llvm.ll"}}) {
    options.from = phase;
    input.path = folder + "/vector_add-" + file;
    auto resumed = compile(input, options, diags);
    ASSERT_TRUE(resumed) << phase << diags.render();
    // LLVM's text does not keep the order of uses, so registers may be chosen differently.
    if (std::string(phase) != "llvm") {
      EXPECT_EQ(resumed->object, whole->object) << phase;
    }
    EXPECT_TRUE(std::holds_alternative<std::shared_ptr<runtime::Module>>(
        runtime::loadObject(resumed->object)));
    EXPECT_EQ(resumed->info.scratchBytes, whole->info.scratchBytes);
    EXPECT_EQ(resumed->info.features, whole->info.features);
  }
  std::filesystem::remove_all(folder);
}

TEST(CompileKernelsTogether, SeveralThreadsAtOnce) {
  registerCpuTarget();
  std::string path = std::string(NEREID_SOURCE_DIR) + "/kernels/vector_add/vector_add.py";
  std::atomic<int> correct = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int block : {32, 64, 128, 256}) {
        pipeline::CompileOptions options;
        options.useCache = false;
        Diagnostics diags;
        std::string type = std::vector{"*fp32", "*fp16", "*bf16", "*fp64"}[t];
        std::string signature =
            type + ", " + type + ", " + type + ", i32, " + std::to_string(block);
        auto kernel = pipeline::compileKernel({path, "vector_add", signature}, options, diags);
        correct += kernel && kernel->info.arguments.size() == 4;
      }
    });
  }
  for (std::thread &thread : threads) {
    thread.join();
  }
  EXPECT_EQ(correct, 16);
}

INSTANTIATE_TEST_SUITE_P(Levels, CompileKernels,
                         testing::Values("x86-64-v2", "x86-64-v3", "x86-64-v4", ""),
                         [](const auto &info) {
                           std::string name = *info.param ? info.param : "host";
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

} // namespace
} // namespace nereid::cpu::test
