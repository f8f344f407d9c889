// SPDX-License-Identifier: Apache-2.0
// Kernels of one row per program that run neighbouring programs in one call: which ones do, where
// their stores are, and the results against a sequential computation in plain C++.
#include "unittests/target_cpu/LowerHarness.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

using namespace nereid;
using namespace nereid::cpu::test;

namespace {

LoweredKernel lower(const std::string &body, const std::string &architecture = "",
                    const std::string &signature = "*fp32, *fp32, i32, i32, 1024") {
  return lowerSource("\n@triton.jit\ndef kernel(out, x, stride, n, BLOCK: tl.constexpr):\n" + body,
                     signature, architecture);
}

const std::string softmax = R"(
    row = tl.program_id(0)
    o = tl.arange(0, BLOCK)
    v = tl.load(x + row * stride + o, mask=o < n, other=-float('inf'))
    e = tl.exp(v - tl.max(v, axis=0))
    tl.store(out + row * stride + o, e / tl.sum(e, axis=0), mask=o < n)
)";

bool takesRanges(const std::string &body) {
  LoweredKernel kernel = lower(body);
  EXPECT_EQ(kernel.error, "") << body;
  return kernel.takesRanges;
}

TEST(CoarsenPrograms, KernelsThatReduceRowsTakeRanges) {
  EXPECT_TRUE(takesRanges(softmax));
  EXPECT_TRUE(takesRanges(R"(
    row = tl.program_id(0)
    total = tl.zeros((BLOCK,), dtype=tl.float32)
    for start in range(0, n, BLOCK):
        total += tl.load(x + row * stride + start + tl.arange(0, BLOCK))
    tl.store(out + row, tl.sum(total, axis=0))
)"));
}

TEST(CoarsenPrograms, OtherKernelsRunProgramByProgram) {
  const char *row = "    o = tl.program_id(0) * stride + tl.arange(0, BLOCK)\n";
  const char *bodies[] = {
      "    tl.store(out + o, tl.load(x + o) + 1)\n",
      "    tl.device_assert(n > 0)\n    tl.store(out + o, tl.sum(tl.load(x + o), axis=0))\n",
      "    tl.device_print('n', n)\n    tl.store(out + o, tl.sum(tl.load(x + o), axis=0))\n",
      "    tl.atomic_add(out, tl.sum(tl.load(x + o), axis=0))\n",
      "    tl.store(out + o, tl.sum(tl.load(x + o, volatile=True), axis=0))\n"};
  for (const char *body : bodies) {
    EXPECT_FALSE(takesRanges(std::string(row) + body)) << body;
  }
  EXPECT_FALSE(takesRanges("    o = tl.arange(0, BLOCK)\n"
                           "    tl.store(out + o, tl.sum(tl.load(x + o), axis=0))\n"));
}

TEST(CoarsenPrograms, PlainStoresOfOtherTensorsWaitForTheNextProgram) {
  EXPECT_TRUE(lower(softmax).recognised.count("row-pipeline"));
  // In place, nothing goes past the caches.
  EXPECT_EQ(lower(R"(
    at = x + tl.program_id(0) * stride + tl.arange(0, BLOCK)
    v = tl.load(at)
    tl.store(at, v / tl.sum(v, axis=0))
)")
                .loops.find("nontemporal"),
            std::string::npos);
}

/// Where there is little to compute, only reading is overlapped; conversions of narrow types count.
TEST(CoarsenPrograms, StoresOfLittleArithmeticDoNotWait) {
  const std::string norm = R"(
    row = tl.program_id(0)
    o = tl.arange(0, BLOCK)
    v = tl.load(x + row * stride + o, mask=o < n, other=0).to(tl.float32)
    r = tl.rsqrt(tl.sum(v * v, axis=0))
    tl.store(out + row * stride + o, v * r, mask=o < n)
)";
  auto waits = [&](const std::string &signature) {
    LoweredKernel kernel = lower(norm, "x86-64-v4", signature);
    EXPECT_EQ(kernel.error, "");
    EXPECT_NE(kernel.loops.find("nontemporal"), std::string::npos);
    return kernel.recognised.count("row-pipeline") != 0;
  };
  EXPECT_FALSE(waits("*fp32, *fp32, i32, i32, 1024"));
  EXPECT_TRUE(waits("*bf16, *bf16, i32, i32, 1024"));
}

void softmaxRow(const float *x, float *out, int64_t n) {
  double top = -INFINITY, sum = 0;
  for (int64_t i = 0; i < n; ++i) {
    top = std::max(top, double(x[i]));
  }
  for (int64_t i = 0; i < n; ++i) {
    sum += std::exp(x[i] - top);
  }
  for (int64_t i = 0; i < n; ++i) {
    out[i] = static_cast<float>(std::exp(x[i] - top) / sum);
  }
}

/// 32 MiB are 8192 programs of 4 KiB: below that, stores stay in the caches.
TEST(CoarsenPrograms, LargeAndSmallLaunchesGiveTheSame) {
  constexpr int64_t stride = 1024;
  for (const std::string &architecture : runnableArchitectures()) {
    LoweredKernel kernel = lower(softmax, architecture);
    ASSERT_EQ(kernel.error, "");
    for (int32_t programs : {1, 2, 11, 8192}) {
      for (int64_t n : programs > 11 ? std::vector<int64_t>{1000} : std::vector<int64_t>{1024, 7}) {
        for (int64_t shift : {0, 3}) { // floats that the output is away from a whole vector
          std::vector<float> x(programs * stride), storage(programs * stride + 32, -1.0f), row(n);
          float *out = storage.data() + (64 - (address(storage.data()) & 63)) % 64 / 4 + shift;
          for (size_t i = 0; i < x.size(); ++i) {
            x[i] = static_cast<float>(i * 2654435761u % 4001) * 1e-3f - 2;
          }
          ASSERT_TRUE(kernel.launch({programs, 1, 1},
                                    {address(out), address(x.data()), number(stride), number(n)}));
          for (int64_t p = 0; p < programs; ++p) {
            softmaxRow(x.data() + p * stride, row.data(), n);
            for (int64_t i = 0; i < stride; ++i) {
              float wanted = i < n ? row[i] : -1.0f;
              ASSERT_NEAR(out[p * stride + i], wanted, 1e-6)
                  << "program " << p << " of " << programs << ", element " << i << " of " << n
                  << ", shifted by " << shift << ", " << architecture;
            }
          }
        }
      }
    }
  }
}

/// Four at a time and the rest one by one, for every number of programs in a range.
TEST(CoarsenPrograms, ShortRowsComeInFours) {
  constexpr int64_t stride = 96;
  for (const std::string &architecture : runnableArchitectures()) {
    LoweredKernel kernel = lower(softmax, architecture, "*fp32, *fp32, i32, i32, 128");
    ASSERT_EQ(kernel.error, "");
    EXPECT_TRUE(kernel.recognised.count("jammed-programs"));
    for (int32_t programs : {1, 3, 4, 5, 19, 40}) {
      for (int64_t n : {96, 17}) {
        std::vector<float> x(programs * stride), out(programs * stride, -1.0f), row(n);
        for (size_t i = 0; i < x.size(); ++i) {
          x[i] = static_cast<float>(i * 2654435761u % 4001) * 1e-3f - 2;
        }
        ASSERT_TRUE(kernel.launch(
            {programs, 1, 1}, {address(out.data()), address(x.data()), number(stride), number(n)}));
        for (int64_t p = 0; p < programs; ++p) {
          softmaxRow(x.data() + p * stride, row.data(), n);
          for (int64_t i = 0; i < stride; ++i) {
            ASSERT_NEAR(out[p * stride + i], i < n ? row[i] : -1.0f, 1e-6)
                << "program " << p << " of " << programs << ", element " << i << " of " << n << ", "
                << architecture;
          }
        }
      }
    }
  }
}

/// Which rows are left over depends on how threads share the grid: a row alone has the same bits.
TEST(CoarsenPrograms, ShortRowsHaveTheSameBitsAlone) {
  const std::string load = R"(
    row = tl.program_id(0)
    o = tl.arange(0, BLOCK)
    v = tl.load(x + row * stride + o, mask=o < n, other=0).to(tl.float32)
)";
  const std::string bodies[] = {softmax, load + R"(
    centred = tl.where(o < n, v - tl.sum(v, axis=0) / n, 0.0)
    var = tl.sum(centred * centred, axis=0) / n
    tl.store(out + row * stride + o, centred * tl.rsqrt(var + 1e-5), mask=o < n)
)",
                                load + R"(
    positive = tl.sum((v > 0).to(tl.int64), axis=0)
    total = tl.sum(v * 1.7 + v * v, axis=0)
    cubes = tl.sum(tl.erf(v) * v * v, axis=0)
    tl.store(out + row * stride + o, v * total + positive + cubes, mask=o < n)
)",
                                load + R"(
    top = tl.max(v, axis=0)
    log = tl.log(tl.sum(tl.exp((v - top).to(tl.float64)), axis=0))
    tl.store(out + row * stride + o, v - top - log, mask=o < n)
)"};
  constexpr int64_t stride = 272, programs = 23;
  for (const std::string &architecture : runnableArchitectures()) {
    for (const std::string &body : bodies) {
      for (const char *type : {"*fp32", "*fp16"}) {
        for (int64_t block : {128, 256}) {
          LoweredKernel kernel =
              lower(body, architecture,
                    std::string(type) + ", " + type + ", i32, i32, " + std::to_string(block));
          ASSERT_EQ(kernel.error, "");
          EXPECT_TRUE(kernel.recognised.count("jammed-programs")) << body;
          const DType dtype = type == std::string("*fp32") ? DType::F32 : DType::F16;
          const size_t bytes = dtype == DType::F32 ? 4 : 2;
          runtime::Tensor x = randomTensor({programs, stride}, dtype, 5);
          for (int64_t n : {block, block - 3, block * 3 / 4 + 2, int64_t{1}}) {
            runtime::Tensor whole = runtime::Tensor::empty({programs, stride}, dtype);
            runtime::Tensor alone = runtime::Tensor::empty({programs, stride}, dtype);
            std::memset(whole.data(), 0, programs * stride * bytes);
            std::memset(alone.data(), 0, programs * stride * bytes);
            ASSERT_TRUE(kernel.launch({programs, 1, 1}, {address(whole.data()), address(x.data()),
                                                         number(stride), number(n)}));
            for (int64_t row = 0; row < programs; ++row) {
              const int64_t from = row * stride * bytes;
              ASSERT_TRUE(
                  kernel.launch({1, 1, 1}, {address(alone.data()) + from, address(x.data()) + from,
                                            number(stride), number(n)}));
            }
            EXPECT_EQ(std::memcmp(whole.data(), alone.data(), programs * stride * bytes), 0)
                << architecture << ", " << type << ", " << n << " of " << block << body;
          }
        }
      }
    }
  }
}

/// Two reductions, a branch with a store and a load, and a row of the output read back.
TEST(CoarsenPrograms, ShortRowsWithBranches) {
  const char *source = R"(
@triton.jit
def kernel(out, x, picks, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    o = tl.arange(0, BLOCK)
    v = tl.load(x + row * BLOCK + o, mask=o < n, other=-float('inf'))
    top = tl.max(v, axis=0)
    total = tl.sum(tl.exp(v - top), axis=0)
    pick = tl.load(picks + row)
    if pick < 0:
        tl.store(out + row * BLOCK, 0.0)
    else:
        tl.store(out + row * BLOCK, total - tl.load(x + row * BLOCK + pick % n))
    tl.store(out + row * BLOCK + 1 + o, v + top, mask=o < n - 1)
    again = tl.load(out + row * BLOCK + o, mask=o < n, other=0.0)
    tl.store(out + row * BLOCK + o, again * 2, mask=o < n)
)";
  runtime::Tensor out = randomTensor({23, 64}, DType::F32, 1);
  runtime::Tensor x = randomTensor({23, 64}, DType::F32, 2);
  runtime::Tensor picks = randomTensor({23}, DType::I32, 3);
  for (int64_t n : {64, 33, 2}) {
    EXPECT_EQ(compareWithOracle(source, "*fp32, *fp32, *i32, i32, 64", {23, 1, 1},
                                {&out, &x, &picks, n}, 1e-4),
              "")
        << n;
  }
}

/// Four copies of such a program would only be four times the code.
TEST(CoarsenPrograms, LongChainsAndBranchesAreNotMultiplied) {
  const char *const sums = R"(
    row = tl.program_id(0)
    o = tl.arange(0, BLOCK)
    best = 0.0
    for i in tl.static_range(COUNT):
        v = tl.load(x + (row + i) * stride + o, mask=o < n, other=0)
        best = tl.maximum(best, tl.sum(v, axis=0))
    tl.store(out + row, best)
)";
  const char *const branches = R"(
    row = tl.program_id(0)
    o = tl.arange(0, BLOCK)
    best = tl.sum(tl.load(x + row * stride + o), axis=0)
    if n > 4:
        best += tl.sum(tl.load(x + n + row * stride + o), axis=0)
    tl.store(out + row, best)
)";
  auto isJammed = [](const std::string &body, const std::string &count) {
    LoweredKernel kernel = lowerSource("\n@triton.jit\ndef kernel(out, x, stride, n, BLOCK: "
                                       "tl.constexpr, COUNT: tl.constexpr):\n" +
                                           body,
                                       "*fp32, *fp32, i32, i32, 128, " + count, "");
    EXPECT_EQ(kernel.error, "");
    EXPECT_TRUE(kernel.takesRanges) << body;
    return kernel.recognised.count("jammed-programs") != 0;
  };
  EXPECT_TRUE(isJammed(sums, "2"));
  EXPECT_FALSE(isJammed(sums, "16"));
  EXPECT_FALSE(isJammed(branches, "1"));
}

/// Ids of all axes and the grid's size, in branches and loops too.
/// The sine of a large angle is a branch; LLVM joins products and sums within one block of code.
TEST(CoarsenPrograms, RowsWithBranchesInTheirCodeComeAlone) {
  LoweredKernel kernel = lower(R"(
    row = tl.program_id(0)
    v = tl.sin(tl.load(x + row * stride + tl.arange(0, BLOCK)))
    tl.store(out + row, tl.sum(v, axis=0) + tl.max(v, axis=0))
)",
                               "", "*fp32, *fp32, i32, i32, 128");
  EXPECT_TRUE(kernel.takesRanges);
  EXPECT_FALSE(kernel.recognised.count("jammed-programs"));
}

TEST(CoarsenPrograms, ProgramsSeeTheirOwnIds) {
  const char *source = R"(
@triton.jit
def kernel(out, x, n, BLOCK: tl.constexpr):
    o = tl.arange(0, BLOCK)
    at = (tl.program_id(2) * tl.num_programs(1) + tl.program_id(1)) * tl.num_programs(0)
    s = tl.sum(tl.load(x + tl.program_id(0) * BLOCK + o), axis=0)
    if tl.program_id(0) % 2 == 0:
        s += tl.program_id(0) * 100.0
    for i in range(0, n):
        s += tl.program_id(0) * tl.program_id(1) + tl.program_id(2)
    tl.store(out + at + tl.program_id(0), s)
)";
  runtime::Tensor out = randomTensor({3 * 5 * 7}, DType::F32, 1);
  runtime::Tensor x = randomTensor({7, 64}, DType::F32, 2);
  EXPECT_EQ(
      compareWithOracle(source, "*fp32, *fp32, i32, 64", {7, 5, 3}, {&out, &x, int64_t(2)}, 1e-4),
      "");
}

} // namespace
