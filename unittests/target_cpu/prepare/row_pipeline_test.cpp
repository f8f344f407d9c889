// SPDX-License-Identifier: Apache-2.0
// Rows whose store waits for the next row: the results where tensors overlap, against a sequential
// computation in plain C++. The form of the loops is in test/targets/cpu/pipeline_rows.mlir.
#include "unittests/target_cpu/LowerHarness.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstring>

#include <sys/mman.h>

using namespace nereid;
using namespace nereid::cpu::test;

namespace {

const char *softmax = R"(
@triton.jit
def kernel(out, x, first, last, x_stride, out_stride, n, BLOCK: tl.constexpr):
    o = tl.arange(0, BLOCK)
    for row in range(first, last):
        v = tl.load(x + row * x_stride + o, mask=o < n, other=-float('inf'))
        e = tl.exp(v - tl.max(v, axis=0))
        tl.store(out + row * out_stride + o, e / tl.sum(e, axis=0), mask=o < n, cache_modifier=".cs")
)";

const char *layerNorm = R"(
@triton.jit
def kernel(out, x, w, first, last, stride, n, BLOCK: tl.constexpr):
    o = tl.arange(0, BLOCK)
    for row in range(first, last):
        v = tl.load(x + row * stride + o, mask=o < n, other=0.0)
        centred = v - tl.sum(v, axis=0) / n
        variance = tl.sum(tl.where(o < n, centred * centred, 0.0), axis=0) / n
        scaled = centred * tl.rsqrt(variance + 1e-5) * tl.load(w + o, mask=o < n, other=0.0)
        tl.store(out + row * stride + o, scaled, mask=o < n, cache_modifier=".cs")
)";

/// Memory of floats that begins at a multiple of 64 bytes.
struct Memory {
  explicit Memory(int64_t size) : storage(size + 16), size(size) {
    uint64_t state = 1;
    for (int64_t i = 0; i < size; ++i) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      data()[i] = static_cast<float>(static_cast<int32_t>(state >> 33)) * 2e-9f - 2;
    }
  }
  float *data() { return storage.data() + (64 - (address(storage.data()) & 63)) % 64 / 4; }
  std::vector<float> storage;
  int64_t size;
};

void softmaxRow(const float *x, float *out, int64_t n) {
  double top = -INFINITY, sum = 0;
  std::vector<double> e(n);
  for (int64_t i = 0; i < n; ++i) {
    top = std::max(top, double(x[i]));
  }
  for (int64_t i = 0; i < n; ++i) {
    sum += e[i] = std::exp(x[i] - top);
  }
  for (int64_t i = 0; i < n; ++i) {
    out[i] = static_cast<float>(e[i] / sum);
  }
}

struct Layout {
  const char *name;
  int64_t out;       ///< where the output begins, in elements behind the input
  int64_t outStride; ///< of the output's rows; the input's is 1024
};

TEST(RowPipeline, SoftmaxIsPipelined) {
  std::string signature = "*fp32:16, *fp32:16, i32, i32, i32:16, i32:16, i32, 1024";
  EXPECT_TRUE(lowerSource(softmax, signature, "").recognised.count("row-pipeline"));
  std::string plain = softmax;
  plain.replace(plain.find(", cache_modifier"), std::strlen(", cache_modifier=\".cs\""), "");
  EXPECT_FALSE(lowerSource(plain, signature, "").recognised.count("row-pipeline"));
}

TEST(RowPipeline, OverlappingTensorsComeOutAsInOrder) {
  constexpr int64_t stride = 1024, rows = 7;
  const Layout layouts[] = {{"apart", 16 * stride, stride},
                            {"in place", 0, stride},
                            {"over the next row", stride, stride},
                            {"over the row after the next", 2 * stride, stride},
                            {"over the row before", -stride, stride},
                            {"over two halves", stride / 2, stride},
                            {"over an end of the next row", stride + 720, stride},
                            {"not aligned", 16 * stride + 3, stride},
                            {"aligned every second row", 16 * stride, stride + 8},
                            {"all rows to one place", 3 * stride, 0},
                            {"backwards", 6 * stride, -stride}};
  for (const std::string &architecture : runnableArchitectures()) {
    LoweredKernel kernel =
        lowerSource(softmax, "*fp32, *fp32, i32, i32, i32, i32, i32, 1024", architecture);
    ASSERT_EQ(kernel.error, "");
    for (const Layout &layout : layouts) {
      for (int64_t n : {1024, 1000, 700, 64, 5, 0}) {
        for (int64_t last : {int64_t{0}, int64_t{1}, int64_t{2}, rows}) {
          Memory wanted(26 * stride), got(26 * stride);
          float *x = wanted.data() + 2 * stride;
          for (int64_t row = 0; row < last; ++row) {
            softmaxRow(x + row * stride, x + layout.out + row * layout.outStride, n);
          }
          float *y = got.data() + 2 * stride;
          ASSERT_TRUE(kernel.launch({1, 1, 1},
                                    {address(y + layout.out), address(y), number(0), number(last),
                                     number(stride), number(layout.outStride), number(n)}));
          for (int64_t i = 0; i < wanted.size; ++i) {
            ASSERT_NEAR(got.data()[i], wanted.data()[i], 1e-6)
                << layout.name << ", element " << i - 2 * stride << ", " << n << " columns, "
                << last << " rows, " << architecture;
          }
        }
      }
    }
  }
}

TEST(RowPipeline, LoadsOfTheStoreKeepTheirOrderWithIt) {
  constexpr int64_t stride = 512, rows = 5, n = 500;
  std::string signature = "*fp32, *fp32, *fp32, i32, i32, i32, i32, 512";
  EXPECT_TRUE(lowerSource(layerNorm, signature, "").recognised.count("row-pipeline"));
  for (const std::string &architecture : runnableArchitectures()) {
    LoweredKernel kernel = lowerSource(layerNorm, signature, architecture);
    ASSERT_EQ(kernel.error, "");
    for (int64_t weights : {int64_t{20}, int64_t{10}, int64_t{12}}) { // apart or rows of the output
      for (int64_t out : {int64_t{10}, int64_t{0}, int64_t{1}}) {
        Memory wanted(24 * stride), got(24 * stride);
        float *x = wanted.data();
        for (int64_t row = 0; row < rows; ++row) {
          double sum = 0, squares = 0;
          for (int64_t i = 0; i < n; ++i) {
            sum += x[row * stride + i];
          }
          for (int64_t i = 0; i < n; ++i) {
            double centred = x[row * stride + i] - sum / n;
            squares += centred * centred;
          }
          for (int64_t i = 0; i < n; ++i) {
            x[(out + row) * stride + i] =
                static_cast<float>((x[row * stride + i] - sum / n) / std::sqrt(squares / n + 1e-5) *
                                   x[weights * stride + i]);
          }
        }
        float *y = got.data();
        ASSERT_TRUE(kernel.launch({1, 1, 1}, {address(y + out * stride), address(y),
                                              address(y + weights * stride), number(0),
                                              number(rows), number(stride), number(n)}));
        for (int64_t i = 0; i < wanted.size; ++i) {
          ASSERT_NEAR(got.data()[i], wanted.data()[i], 2e-5 * (1 + std::abs(wanted.data()[i])))
              << "element " << i << ", output " << out << ", weights " << weights << ", "
              << architecture;
        }
      }
    }
  }
}

/// Kernels whose nests do not come out so that the store can join: the result is what counts.
TEST(RowPipeline, OtherShapesOfRows) {
  const char *bodies[] = {// The exponentials are ready before the last reduction begins.
                          R"(
        e = tl.exp(v)
        m = tl.sum(e, axis=0)
        s = tl.sum(v - m, axis=0)
        tl.store(at, e / m + s, cache_modifier=".cs"))",
                          // A scalar between the two.
                          R"(
        e = tl.exp(v - tl.max(v, axis=0))
        half = tl.sum(e * 0.5, axis=0) * 2
        s = tl.sum(e * half, axis=0)
        tl.store(at, e / s, cache_modifier=".cs"))",
                          // The row's scalar is stored as well.
                          R"(
        e = tl.exp(v - tl.max(v, axis=0))
        s = tl.sum(e, axis=0)
        tl.store(sums + row, s)
        tl.store(at, e / s, cache_modifier=".cs"))",
                          // A scalar read from memory, and a mask that depends on the row.
                          R"(
        scale = tl.load(sums + row)
        e = tl.exp(v - tl.max(v, axis=0)) * scale
        s = tl.sum(e, axis=0)
        tl.store(at, e / s + scale, mask=o < 700 - row * 64, cache_modifier=".cs"))",
                          // A store of a narrow type.
                          R"(
        e = tl.exp(v - tl.max(v, axis=0))
        s = tl.sum(e, axis=0)
        tl.store(narrow + row * 1024 + o, (e / s).to(tl.float16), cache_modifier=".cs"))"};
  for (const char *body : bodies) {
    std::string source = R"(
@triton.jit
def kernel(out, x, sums, narrow, first, last, step, BLOCK: tl.constexpr):
    o = tl.arange(0, BLOCK)
    for row in range(first, last, step):
        v = tl.load(x + row * 1024 + o)
        at = out + row * 1024 + o)" +
                         std::string(body);
    runtime::Tensor x = randomTensor({9, 1024}, DType::F32, 1);
    runtime::Tensor out = randomTensor({9, 1024}, DType::F32, 2);
    runtime::Tensor sums = randomTensor({9}, DType::F32, 3);
    runtime::Tensor narrow = randomTensor({9, 1024}, DType::F16, 4);
    for (int64_t step : {1, 2, 5}) {
      EXPECT_EQ(compareWithOracle(source, "*fp32, *fp32, *fp32, *fp16, i32, i32, i32, 1024",
                                  {1, 1, 1},
                                  {&out, &x, &sums, &narrow, int64_t(0), int64_t(9), step}, 2e-3),
                "")
          << body;
    }
  }
}

/// Before the first row there is none: nothing of it may be read.
TEST(RowPipeline, MemoryBeforeTheFirstRowIsNotRead) {
  const char *source = R"(
@triton.jit
def kernel(out, x, w, b, first, last, stride, n, BLOCK: tl.constexpr):
    o = tl.arange(0, BLOCK)
    for row in range(first, last):
        v = tl.load(x + row * stride + o, mask=o < n, other=0.0).to(tl.float32)
        centred = v - tl.sum(v, axis=0) / n
        variance = tl.sum(tl.where(o < n, centred * centred, 0.0), axis=0) / n
        weight = tl.load(w + o, mask=o < n, other=0.0).to(tl.float32)
        bias = tl.load(b + o, mask=o < n, other=0.0).to(tl.float32)
        scaled = centred * tl.rsqrt(variance + 1e-5) * weight + bias
        tl.store(out + row * stride + o, scaled.to(out.dtype.element_ty), mask=o < n,
                 cache_modifier=".cs")
)";
  constexpr int64_t n = 4096, rows = 3, page = 4096;
  for (const char *type : {"fp16", "fp32"}) {
    const size_t bytes = n * rows * 4;
    void *block = mmap(nullptr, bytes + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(block, MAP_FAILED);
    auto *x = static_cast<std::byte *>(block) + page; // behind memory that may not be read
    ASSERT_EQ(mprotect(x, bytes, PROT_READ | PROT_WRITE), 0);
    std::string pointer = std::string("*") + type + ":16, ";
    std::string signature =
        pointer + pointer + pointer + pointer + "i32, i32, i32:16, i32:16, 4096";
    std::vector<float> out(n * rows + 16), w(n), b(n);
    for (const std::string &architecture : runnableArchitectures()) {
      LoweredKernel kernel = lowerSource(source, signature, architecture);
      ASSERT_EQ(kernel.error, "");
      EXPECT_TRUE(kernel.launch({1, 1, 1}, {(address(out.data()) + 63) / 64 * 64, address(x),
                                            address(w.data()), address(b.data()), number(0),
                                            number(rows), number(n), number(n)}))
          << architecture << " " << type;
    }
    munmap(block, bytes + 2 * page);
  }
}

} // namespace
