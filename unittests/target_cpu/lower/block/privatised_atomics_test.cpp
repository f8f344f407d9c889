// SPDX-License-Identifier: Apache-2.0
// Atomic additions summed up per thread: which kernels do, and what they leave in memory, against
// additions in plain C++ on whole numbers.
#include "unittests/target_cpu/LowerHarness.h"

#include "lib/pipeline/Compiler.h"
#include "lib/support/AtomicFile.h"
#include "lib/targets/cpu/CpuTarget.h"
#include "runtime/ThreadPool.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <unistd.h>

using namespace nereid;
using namespace nereid::cpu::test;
using runtime::Tensor;

namespace {

const std::string head = "\n@triton.jit\n"
                         "def kernel(out, place, x, n, BLOCK: tl.constexpr):\n"
                         "    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)\n"
                         "    p = tl.load(place + i, mask=i < n, other=0)\n"
                         "    v = tl.load(x + i, mask=i < n, other=0)\n";

bool privatises(const std::string &body,
                const std::string &signature = "*fp32, *i32, *fp32, i32, 128") {
  LoweredKernel kernel = lowerSource(head + body, signature, "");
  EXPECT_EQ(kernel.error, "") << body;
  return kernel.loops.find("nereid_rt_privatise") != std::string::npos;
}

TEST(PrivatisedAtomics, AdditionsThatEndAProgramArePrivatised) {
  EXPECT_TRUE(privatises("    tl.atomic_add(out + p, v, mask=i < n)\n"));
  EXPECT_TRUE(privatises("    tl.atomic_add(out + p, v, mask=i < n, sem='relaxed')\n"));
  EXPECT_TRUE(privatises("    tl.atomic_add(out + p, v)\n    tl.atomic_add(out + p + 1, v)\n"));
  EXPECT_TRUE(privatises("    for k in range(3):\n        tl.atomic_add(out + p, v)\n"));
  EXPECT_TRUE(privatises("    tl.store(x + i, v + 1)\n    tl.atomic_add(out + p, v)\n"));
  EXPECT_TRUE(privatises("    if n > 5:\n        tl.atomic_add(out + p, v)\n"));
}

TEST(PrivatisedAtomics, MemoryAccessedBehindThemForbidsIt) {
  EXPECT_FALSE(privatises("    tl.atomic_add(out + p, v)\n    tl.store(x + i, v)\n"));
  EXPECT_FALSE(privatises("    tl.atomic_add(out + p, v)\n    w = tl.load(out + i)\n"
                          "    tl.atomic_add(out + p, w)\n"));
  EXPECT_FALSE(privatises("    for k in range(3):\n        w = tl.load(x + i + k)\n"
                          "        tl.atomic_add(out + p, w)\n"));
  EXPECT_FALSE(privatises("    if n > 5:\n        tl.atomic_add(out + p, v)\n"
                          "    tl.store(x + i, v)\n"));
}

TEST(PrivatisedAtomics, OtherAtomicsForbidIt) {
  EXPECT_FALSE(
      privatises("    old = tl.atomic_add(out + p, v)\n    tl.atomic_add(out + p, old)\n"));
  EXPECT_FALSE(privatises("    tl.atomic_max(out + p, v)\n    tl.atomic_add(out + p, v)\n"));
  EXPECT_FALSE(privatises("    tl.atomic_add(out + p, v)\n    tl.atomic_add(place + p, 1)\n"));
  EXPECT_FALSE(privatises("    tl.atomic_add(out + p, v)\n", "*fp16, *i32, *fp16, i32, 128"));
}

TEST(PrivatisedAtomics, WaitingAndFewElementsForbidIt) {
  EXPECT_FALSE(privatises("    while tl.load(place, volatile=True) == 0:\n        pass\n"
                          "    tl.atomic_add(out + p, v)\n"));
  EXPECT_FALSE(privatises("    while tl.load(place) == 0:\n        tl.store(x, 1.0)\n"
                          "    tl.atomic_add(out + p, v)\n"));
  EXPECT_FALSE(privatises("    tl.atomic_add(out, tl.sum(v, axis=0))\n"));
  EXPECT_FALSE(privatises("    tl.atomic_add(out + p, v)\n", "*fp32, *i32, *fp32, i32, 32"));
}

class PrivatisedLaunch : public testing::TestWithParam<std::string> {
protected:
  void SetUp() override {
    cpu::registerCpuTarget();
    options.target = "cpu:" + GetParam();
    options.useCache = false;
    options.verifyEach = true;
  }

  std::optional<runtime::Kernel> compile(const std::string &body, const std::string &signature) {
    // Tests of one architecture run at the same time, in processes of their own.
    const std::string path =
        fmt::format("{}/privatised_{}_{}.py", testing::TempDir(), GetParam(), getpid());
    EXPECT_TRUE(
        writeFileAtomically(path, "import triton\nimport triton.language as tl\n\n" + head + body));
    auto kernel = pipeline::compileKernel({path, "kernel", signature}, options, diags);
    EXPECT_TRUE(kernel) << diags.render();
    return kernel;
  }

  /// n elements of 1, 2, … 5 to `places` places; masked ones have places far outside.
  template <class T> void check(const std::string &type, DType dtype, int64_t places) {
    auto kernel = compile("    p = tl.where(i < n, p, 1000000000)\n"
                          "    tl.atomic_add(out + p, v, mask=i < n)\n",
                          "*" + type + ", *i32, *" + type + ", i32, 128");
    ASSERT_TRUE(kernel);
    constexpr int64_t n = 100'003;
    Tensor out = Tensor::empty({places}, dtype), x = Tensor::empty({n}, dtype);
    Tensor place = Tensor::empty({n}, DType::I32);
    std::vector<T> expected(static_cast<size_t>(places));
    for (int64_t i = 0; i < places; ++i) {
      out.as<T>()[i] = expected[static_cast<size_t>(i)] = static_cast<T>(i % 11);
    }
    for (int64_t i = 0; i < n; ++i) {
      place.as<int32_t>()[i] = static_cast<int32_t>(i * 7919 % places);
      x.as<T>()[i] = static_cast<T>(i % 5 + 1);
      expected[static_cast<size_t>(i * 7919 % places)] += x.as<T>()[i];
    }
    const runtime::ArgumentValue arguments[] = {&out, &place, &x, n};
    runtime::LaunchError error = launch(*kernel, {(n + 127) / 128, 1, 1}, arguments, pool);
    ASSERT_FALSE(error) << error.message;
    for (int64_t i = 0; i < places; ++i) {
      ASSERT_EQ(out.as<T>()[i], expected[static_cast<size_t>(i)]) << type << " at " << i;
    }
  }

  pipeline::CompileOptions options;
  Diagnostics diags;
  runtime::ThreadPool pool{3};
};

TEST_P(PrivatisedLaunch, SumsAreThoseOfAdditionsInOrder) {
  for (int64_t places : {1, 1000, 300'000}) {
    check<float>("fp32", DType::F32, places);
    check<double>("fp64", DType::F64, places);
    check<int32_t>("i32", DType::I32, places);
    check<int64_t>("i64", DType::I64, places);
  }
}

/// Neighbours of one address, and a tile of two dimensions: no addresses come from memory.
TEST_P(PrivatisedLaunch, AddressesOfTwoDimensions) {
  auto kernel = compile("    r = tl.arange(0, 16)\n    c = tl.arange(0, 32)\n"
                        "    both = r[:, None] * 40 + c[None, :]\n"
                        "    tl.atomic_add(out + both, both.to(tl.float32), mask=c[None, :] < n)\n",
                        "*fp32, *i32, *fp32, i32, 128");
  ASSERT_TRUE(kernel);
  constexpr int64_t programs = 300, n = 20;
  Tensor out = Tensor::empty({16, 40}, DType::F32), x = Tensor::empty({n}, DType::F32);
  Tensor place = Tensor::empty({n}, DType::I32);
  fillConstant(out, 1);
  fillConstant(x, 1);
  fillConstant(place, 0);
  const runtime::ArgumentValue arguments[] = {&out, &place, &x, n};
  ASSERT_FALSE(launch(*kernel, {programs, 1, 1}, arguments, pool));
  for (int64_t i = 0; i < 16 * 40; ++i) {
    const int64_t column = i % 40;
    EXPECT_EQ(out.as<float>()[i], column < n ? float(1 + programs * i) : 1.0F) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Architectures, PrivatisedLaunch,
                         testing::ValuesIn(runnableArchitectures()), [](const auto &info) {
                           std::string name = info.param;
                           std::replace_if(
                               name.begin(), name.end(),
                               [](char c) { return !std::isalnum(static_cast<unsigned char>(c)); },
                               '_');
                           return name;
                         });

} // namespace
