// SPDX-License-Identifier: Apache-2.0
// Reductions, dots and loops: against the interpreter on every vector width, and softmax and
// matrix products against plain C++ as well.
#include "unittests/target_cpu/LowerHarness.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

using namespace nereid;
using namespace nereid::cpu::test;

using runtime::Tensor;

namespace {

const char *softmax = R"(
@triton.jit
def kernel(out, x, stride, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    o = tl.arange(0, BLOCK)
    v = tl.load(x + row * stride + o, mask=o < n, other=-float('inf'))
    v = v - tl.max(v, axis=0)
    e = tl.exp(v)
    tl.store(out + row * stride + o, e / tl.sum(e, axis=0), mask=o < n)
)";

TEST(LowerReduce, Softmax) {
  for (int64_t n : {1, 5, 64, 100, 255, 256}) {
    Tensor x = randomTensor({3, 256}, DType::F32, 1), out = randomTensor({3, 256}, DType::F32, 2);
    std::vector<Tensor> results;
    ASSERT_EQ(compareWithOracle(softmax, "*fp32, *fp32, i32, i32, 256", {3, 1, 1},
                                {&out, &x, int64_t(256), n}, 1e-6, &results),
              "")
        << n;
    for (int64_t row = 0; row < 3; ++row) {
      const float *p = x.as<float>() + row * 256;
      double top = -INFINITY, sum = 0;
      for (int64_t i = 0; i < n; ++i) {
        top = std::max(top, double(p[i]));
      }
      for (int64_t i = 0; i < n; ++i) {
        sum += std::exp(p[i] - top);
      }
      for (int64_t i = 0; i < n; ++i) {
        ASSERT_NEAR(results[0].at(row * 256 + i), std::exp(p[i] - top) / sum, 1e-6);
      }
    }
  }
}

/// Behind the mask's end stands one value, taken once by a maximum and as often as it stands there
/// by a sum; with no end, a tile that is not masked, or another value in every element, it differs.
TEST(LowerReduce, WhatStandsBehindTheMask) {
  const char *kernel = R"(
@triton.jit
def kernel(tops, sums, x, y, n, other, BLOCK: tl.constexpr):
    o = tl.arange(0, BLOCK)
    v = tl.load(x + o, mask=o < n, other=3.5)
    far = tl.load(x + o, mask=o < n, other=other)
    weight = tl.where(o < n, v, 0.25) + tl.load(y + o)
    tl.store(tops + 0, tl.max(v, axis=0))
    tl.store(tops + 1, tl.min(v, axis=0))
    tl.store(tops + 2, tl.max(far, axis=0))
    tl.store(tops + 3, tl.max(weight, axis=0))
    tl.store(tops + 4, tl.max(tl.where(o < n, v, o.to(tl.float32)), axis=0))
    tl.store(sums + 0, tl.sum(tl.exp(far * 0.125) * tl.exp(v), axis=0))
    tl.store(sums + 1, tl.sum(tl.exp(weight) * tl.exp(v), axis=0))
    tl.store(sums + 2, tl.sum(tl.exp(tl.where(o < n, v, o / BLOCK)) * tl.exp(v), axis=0))
)";
  Tensor x = randomTensor({256}, DType::F32, 1), y = randomTensor({256}, DType::F32, 2);
  for (int64_t n : {0, 1, 100, 240, 250, 256}) {
    for (double other : {-7.0, 2.5}) {
      Tensor tops = randomTensor({8}, DType::F32, 3), sums = randomTensor({8}, DType::F32, 4);
      std::vector<Tensor> results;
      ASSERT_EQ(compareWithOracle(kernel, "*fp32, *fp32, *fp32, *fp32, i32, fp32, 256", {1, 1, 1},
                                  {&tops, &sums, &x, &y, n, other}, 1e-5, &results),
                "")
          << n << " " << other;
      float top = n < 256 ? 3.5f : -INFINITY;
      double sum = 0;
      for (int64_t i = 0; i < 256; ++i) {
        const float inside = x.as<float>()[i];
        top = i < n ? std::max(top, inside) : top;
        sum += i < n ? std::exp(inside * 1.125) : std::exp(other * 0.125 + 3.5);
      }
      EXPECT_EQ(results[0].at(0), top);
      EXPECT_NEAR(results[1].at(0), sum, 1e-5 * sum);
    }
  }
}

TEST(LowerReduce, BothAxesAllSizes) {
  const char *kernel = R"(
@triton.jit
def kernel(x, rows, cols, tops, M: tl.constexpr, N: tl.constexpr):
    r = tl.arange(0, M)
    c = tl.arange(0, N)
    v = tl.load(x + r[:, None] * N + c[None, :])
    tl.store(rows + r, tl.sum(v, axis=1))
    tl.store(cols + c, tl.sum(v, axis=0))
    tl.store(tops + c, tl.max(v * 2, axis=0))
)";
  for (int m : {1, 2, 8, 32}) {
    for (int n : {1, 2, 4, 16, 64}) {
      Tensor x = randomTensor({m, n}, DType::F32, 1), rows = randomTensor({m}, DType::F32, 2);
      Tensor cols = randomTensor({n}, DType::F32, 3), tops = randomTensor({n}, DType::F32, 4);
      EXPECT_EQ(compareWithOracle(kernel,
                                  "*fp32, *fp32, *fp32, *fp32, " + std::to_string(m) + ", " +
                                      std::to_string(n),
                                  {1, 1, 1}, {&x, &rows, &cols, &tops}),
                "")
          << m << "x" << n;
    }
  }
}

TEST(LowerReduce, ArgMaxWithTiesAndMasks) {
  const char *kernel = R"(
@triton.jit
def kernel(x, out, low, n, BLOCK: tl.constexpr):
    o = tl.arange(0, BLOCK)
    v = tl.load(x + o, mask=o < n, other=-1000)
    tl.store(out, tl.argmax(v, axis=0))
    tl.store(low, tl.argmin(v, axis=0))
)";
  Tensor x = Tensor::empty({256}, DType::F32);
  runtime::fillIntegers(x, 5, 0, 4); // many ties
  Tensor out = randomTensor({1}, DType::I32, 1), low = randomTensor({1}, DType::I32, 2);
  for (int64_t n : {1, 2, 30, 256}) {
    EXPECT_EQ(
        compareWithOracle(kernel, "*fp32, *i32, *i32, i32, 256", {1, 1, 1}, {&x, &out, &low, n}, 0),
        "");
  }
}

TEST(LowerReduce, RowsOfATileAndColumnArgMax) {
  const char *kernel = R"(
@triton.jit
def kernel(x, out, best, n, M: tl.constexpr, N: tl.constexpr):
    r = tl.arange(0, M)
    c = tl.arange(0, N)
    m = c[None, :] < n
    v = tl.load(x + r[:, None] * N + c[None, :], mask=m, other=-float('inf'))
    e = tl.exp(v - tl.max(v, axis=1)[:, None])
    y = e / tl.sum(e, axis=1)[:, None]
    tl.store(out + r[:, None] * N + c[None, :], y, mask=m)
    tl.store(best + c, tl.argmax(v, axis=0))
)";
  Tensor x = randomTensor({8, 64}, DType::F32, 1), out = randomTensor({8, 64}, DType::F32, 2);
  Tensor best = randomTensor({64}, DType::I32, 3);
  for (int64_t n : {1, 17, 64}) {
    EXPECT_EQ(compareWithOracle(kernel, "*fp32, *fp32, *i32, i32, 8, 64", {1, 1, 1},
                                {&x, &out, &best, n}),
              "");
  }
}

TEST(LowerReduce, IntegersOfEveryKind) {
  const char *kernel = R"(
@triton.jit
def kernel(x, out, n, BLOCK: tl.constexpr):
    o = tl.arange(0, BLOCK)
    v = tl.load(x + o, mask=o < n, other=1)
    tl.store(out, tl.sum(v, axis=0))
    tl.store(out + 1, tl.max(v, axis=0))
    tl.store(out + 2, tl.min(v, axis=0))
    tl.store(out + 3, tl.xor_sum(v.to(tl.int32), axis=0))
)";
  for (auto [type, name] : {std::pair{DType::I8, "*i8"},
                            {DType::U8, "*u8"},
                            {DType::I16, "*i16"},
                            {DType::I32, "*i32"},
                            {DType::U32, "*u32"},
                            {DType::I64, "*i64"}}) {
    Tensor x = randomTensor({200}, type, 1), out = randomTensor({4}, DType::I64, 2);
    for (int64_t n : {0, 3, 100, 128}) {
      EXPECT_EQ(compareWithOracle(kernel, std::string(name) + ", *i64, i32, 128", {1, 1, 1},
                                  {&x, &out, n}, 0),
                "")
          << name;
    }
  }
}

TEST(LowerReduce, NanAndInfinity) {
  const char *kernel = R"(
@triton.jit
def kernel(x, out, BLOCK: tl.constexpr):
    o = tl.arange(0, BLOCK)
    v = tl.load(x + o)
    tl.store(out, tl.max(v, axis=0))
    tl.store(out + 1, tl.min(v, axis=0))
    tl.store(out + 2, tl.sum(v, axis=0))
)";
  Tensor x = randomTensor({64}, DType::F32, 1), out = randomTensor({3}, DType::F32, 2);
  x.as<float>()[0] = NAN;
  x.as<float>()[40] = NAN;
  x.as<float>()[41] = INFINITY;
  EXPECT_EQ(compareWithOracle(kernel, "*fp32, *fp32, 64", {1, 1, 1}, {&x, &out}), "");
  for (int i = 0; i < 64; ++i) {
    x.as<float>()[i] = NAN;
  }
  EXPECT_EQ(compareWithOracle(kernel, "*fp32, *fp32, 64", {1, 1, 1}, {&x, &out}), "");
}

/// The accumulators of a maximum begin as NaN; beside a row that the text knows as constant nothing
/// but constants meets them.
TEST(LowerReduce, ExtremaOfConstantsBesideSumsOfLoads) {
  for (const char *extremum : {"max", "min"}) {
    const std::string source = std::string(R"(
@triton.jit
def kernel(x, out, N: tl.constexpr):
    at = tl.arange(0, 16)
    y = tl.)") + extremum + R"((tl.full((16, 16), 2.0, tl.float32), 1)
    y += tl.sum(tl.load(x + at[:, None] * 16 + at[None, :]), 1)
    tl.store(out + at, y)
)";
    Tensor x = randomTensor({256}, DType::F32, 1), out = randomTensor({16}, DType::F32, 2);
    for (int64_t i = 0; i < 256; ++i) {
      x.set(i, static_cast<double>(i % 7));
    }
    Arguments arguments = {&x, &out};
    std::vector<Tensor> results;
    ASSERT_EQ(
        compareWithOracle(source, "x=*fp32, out=*fp32, N=16", {1, 1, 1}, arguments, 0, &results),
        "");
    for (int64_t row = 0; row < 16; ++row) {
      double sum = 2;
      for (int64_t i = 0; i < 16; ++i) {
        sum += static_cast<double>((row * 16 + i) % 7);
      }
      EXPECT_EQ(results[1].at(row), sum) << extremum << " " << row;
    }
  }
}

TEST(LowerReduce, NormalisationReadsItsRowThreeTimes) {
  const char *kernel = R"(
@triton.jit
def kernel(x, w, out, n, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    o = tl.arange(0, BLOCK)
    m = o < n
    v = tl.load(x + row * n + o, mask=m, other=0.0).to(tl.float32)
    mean = tl.sum(v, axis=0) / n
    d = tl.where(m, v - mean, 0.0)
    var = tl.sum(d * d, axis=0) / n
    y = d * tl.rsqrt(var + eps) * tl.load(w + o, mask=m, other=0.0)
    tl.store(out + row * n + o, y.to(tl.float16), mask=m)
)";
  Tensor x = randomTensor({4, 100}, DType::F16, 1), w = randomTensor({100}, DType::F32, 2);
  Tensor out = randomTensor({4, 100}, DType::F16, 3);
  EXPECT_EQ(compareWithOracle(kernel, "*fp16, *fp32, *fp16, i32, fp32, 128", {4, 1, 1},
                              {&x, &w, &out, int64_t(100), 1e-5}, 2e-3),
            "");
  EXPECT_EQ(compareWithOracle(kernel, "*fp16, *fp32, *fp16, i32, fp32, 128", {4, 1, 1},
                              {&x, &w, &x, int64_t(100), 1e-5}, 2e-3),
            "");
}

TEST(LowerLoop, CarriedAccumulatorAndPointers) {
  const char *kernel = R"(
@triton.jit
def kernel(x, out, n, BLOCK: tl.constexpr):
    o = tl.arange(0, BLOCK)
    acc = tl.zeros((BLOCK,), tl.float32)
    top = tl.full((BLOCK,), -1e30, tl.float32)
    p = x + o
    for i in range(0, n, BLOCK):
        v = tl.load(p, mask=o + i < n, other=0.0)
        acc += v * v
        top = tl.maximum(top, v)
        p += BLOCK
    tl.store(out + o, acc + top)
    tl.store(out + BLOCK, tl.sum(acc, axis=0))
)";
  for (int64_t n : {0, 1, 64, 100, 333}) {
    Tensor x = randomTensor({400}, DType::F32, 1), out = randomTensor({80}, DType::F32, 2);
    EXPECT_EQ(compareWithOracle(kernel, "*fp32, *fp32, i32, 64", {1, 1, 1}, {&x, &out, n}), "")
        << n;
  }
}

TEST(LowerLoop, RowsInALoopAndPointersToPointers) {
  const char *kernel = R"(
@triton.jit
def kernel(x, out, rows, cols, stride, BLOCK: tl.constexpr):
    o = tl.arange(0, BLOCK)
    for row in range(tl.program_id(0), rows, tl.num_programs(0)):
        v = tl.load(x + row * stride + o, mask=o < cols, other=0.0)
        e = tl.exp(v - tl.max(v, axis=0))
        best = tl.argmax(v, axis=0)
        w = tl.load(x + best)
        if w > 0:
            e = e + w
        tl.store(out + row * stride + o, e / tl.sum(e, axis=0), mask=o < cols)
)";
  Tensor x = randomTensor({7, 100}, DType::F32, 1), out = randomTensor({7, 100}, DType::F32, 2);
  for (int64_t cols : {1, 64, 100}) {
    EXPECT_EQ(compareWithOracle(kernel, "*fp32, *fp32, i32, i32, i32, 128", {3, 1, 1},
                                {&x, &out, int64_t(7), cols, int64_t(100)}),
              "");
  }
}

TEST(LowerLoop, SwappedTilesWhileAndBranches) {
  const char *kernel = R"(
@triton.jit
def kernel(x, out, n, BLOCK: tl.constexpr):
    o = tl.arange(0, BLOCK)
    a = tl.load(x + o)
    b = tl.load(x + BLOCK + o)
    for i in range(n):
        t = a
        a = b + 1
        b = t * 0.5
    k = n
    s = tl.sum(a, axis=0) * 0
    while k > 1:
        k = k // 2
        s += k
        b += s
    if s > 2:
        c = a * 2
        s = s + 1
    else:
        c = b - a
    tl.store(out + o, c)
    tl.store(out + BLOCK + o, b)
    tl.store(out + 2 * BLOCK, s)
)";
  for (int64_t n : {0, 1, 2, 3, 9}) {
    Tensor x = randomTensor({64}, DType::F32, 1), out = randomTensor({80}, DType::F32, 2);
    EXPECT_EQ(compareWithOracle(kernel, "*fp32, *fp32, i32, 32", {1, 1, 1}, {&x, &out, n}), "")
        << n;
  }
}

const char *matmul = R"(
@triton.jit
def kernel(a, b, c, M, N, K, sam, sak, sbk, sbn, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    om = (tl.program_id(0) * BM + tl.arange(0, BM)) % M
    on = (tl.program_id(1) * BN + tl.arange(0, BN)) % N
    ok = tl.arange(0, BK)
    pa = a + om[:, None] * sam + ok[None, :] * sak
    pb = b + ok[:, None] * sbk + on[None, :] * sbn
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, tl.cdiv(K, BK)):
        x = tl.load(pa, mask=ok[None, :] < K - k * BK, other=0.0)
        y = tl.load(pb, mask=ok[:, None] < K - k * BK, other=0.0)
        acc = tl.dot(x, y, acc)
        pa += BK * sak
        pb += BK * sbk
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    tl.store(c + rm[:, None] * N + rn[None, :], acc, mask=(rm[:, None] < M) & (rn[None, :] < N))
)";

TEST(LowerDot, PointerIncrementMatmul) {
  for (auto [type, name, tolerance] :
       {std::tuple{DType::F32, "*fp32", 1e-4}, std::tuple{DType::F16, "*fp16", 1e-3},
        std::tuple{DType::BF16, "*bf16", 1e-3}}) {
    int64_t m = 50, n = 70, k = 45;
    Tensor a = randomTensor({m, k}, type, 1), b = randomTensor({k, n}, type, 2);
    Tensor c = randomTensor({m, n}, DType::F32, 3);
    std::vector<Tensor> results;
    ASSERT_EQ(compareWithOracle(matmul,
                                std::string(name) + ", " + name +
                                    ", *fp32, i32, i32, i32, i32, i32, i32, i32, 16, 32, 16",
                                {4, 3, 1}, {&a, &b, &c, m, n, k, k, int64_t(1), n, int64_t(1)},
                                tolerance, &results),
              "");
    for (int64_t i = 0; i < m; ++i) {
      for (int64_t j = 0; j < n; ++j) {
        double sum = 0;
        for (int64_t l = 0; l < k; ++l) {
          sum += a.at(i * k + l) * b.at(l * n + j);
        }
        ASSERT_NEAR(results[2].at(i * n + j), sum, tolerance * 30);
      }
    }
  }
}

TEST(LowerDot, ShapesTransposeAndIntegers) {
  const char *kernel = R"(
@triton.jit
def kernel(a, b, c, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, ACC: tl.constexpr):
    m = tl.arange(0, M)
    n = tl.arange(0, N)
    k = tl.arange(0, K)
    x = tl.load(a + m[:, None] * K + k[None, :])
    y = tl.load(b + n[:, None] * K + k[None, :])
    r = tl.dot(x, tl.trans(y), out_dtype=ACC) * 2
    tl.store(c + m[:, None] * N + n[None, :], r)
)";
  for (auto [m, n, k] : {std::tuple{16, 16, 16}, {32, 64, 16}, {64, 128, 32}, {16, 32, 64}}) {
    std::string sizes = std::to_string(m) + ", " + std::to_string(n) + ", " + std::to_string(k);
    Tensor a = randomTensor({m, k}, DType::F32, 1), b = randomTensor({n, k}, DType::F32, 2);
    Tensor c = randomTensor({m, n}, DType::F32, 3);
    EXPECT_EQ(compareWithOracle(kernel, "*fp32, *fp32, *fp32, " + sizes + ", tl.float32", {1, 1, 1},
                                {&a, &b, &c}, 1e-4),
              "")
        << sizes;
    Tensor ai = randomTensor({m, k}, DType::I8, 1), bi = randomTensor({n, k}, DType::I8, 2);
    Tensor ci = randomTensor({m, n}, DType::I32, 3);
    EXPECT_EQ(compareWithOracle(kernel, "*i8, *i8, *i32, " + sizes + ", tl.int32", {1, 1, 1},
                                {&ai, &bi, &ci}, 0),
              "")
        << sizes;
  }
}

TEST(LowerDot, BatchesAndChains) {
  const char *kernel = R"(
@triton.jit
def kernel(a, b, c, B: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, B)[:, None, None] * (N * N)
    p = i + tl.arange(0, N)[None, :, None] * N + tl.arange(0, N)[None, None, :]
    x = tl.load(a + p)
    y = tl.load(b + p)
    z = tl.dot(x, y)
    tl.store(c + p, tl.dot(z, x) + z)
)";
  Tensor a = randomTensor({4, 16, 16}, DType::F32, 1), b = randomTensor({4, 16, 16}, DType::F32, 2);
  Tensor c = randomTensor({4, 16, 16}, DType::F32, 3);
  EXPECT_EQ(compareWithOracle(kernel, "*fp32, *fp32, *fp32, 4, 16", {1, 1, 1}, {&a, &b, &c}, 1e-3),
            "");
}

TEST(LowerDot, AttentionWithARunningMaximum) {
  const char *kernel = R"(
@triton.jit
def kernel(q, k, v, out, n, M: tl.constexpr, N: tl.constexpr, D: tl.constexpr):
    m = tl.arange(0, M)
    d = tl.arange(0, D)
    j = tl.arange(0, N)
    x = tl.load(q + m[:, None] * D + d[None, :])
    top = tl.full((M,), -float('inf'), tl.float32)
    total = tl.zeros((M,), tl.float32)
    acc = tl.zeros((M, D), tl.float32)
    for start in range(0, n, N):
        y = tl.load(k + (start + j)[None, :] * D + d[:, None], mask=(start + j)[None, :] < n, other=0.0)
        s = tl.dot(x, y)
        s = tl.where((start + j)[None, :] <= m[:, None] + 8, s, -float('inf'))
        next_top = tl.maximum(top, tl.max(s, 1))
        p = tl.exp(s - next_top[:, None])
        scale = tl.exp(top - next_top)
        total = total * scale + tl.sum(p, 1)
        z = tl.load(v + (start + j)[:, None] * D + d[None, :], mask=(start + j)[:, None] < n, other=0.0)
        acc = tl.dot(p, z, acc * scale[:, None])
        top = next_top
    tl.store(out + m[:, None] * D + d[None, :], acc / total[:, None])
)";
  Tensor q = randomTensor({16, 32}, DType::F32, 1), k = randomTensor({40, 32}, DType::F32, 2);
  Tensor v = randomTensor({40, 32}, DType::F32, 3), out = randomTensor({16, 32}, DType::F32, 4);
  EXPECT_EQ(compareWithOracle(kernel, "*fp32, *fp32, *fp32, *fp32, i32, 16, 16, 32", {1, 1, 1},
                              {&q, &k, &v, &out, int64_t(40)}, 1e-4),
            "");
}

} // namespace
