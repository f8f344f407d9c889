// SPDX-License-Identifier: Apache-2.0
// Kernels without reductions: masks, ragged ends, element types, strides, aliasing. Against the
// interpreter on every vector width, and the basic ones against plain C++ as well.
#include "unittests/target_cpu/LowerHarness.h"

#include <gtest/gtest.h>

using namespace nereid;
using namespace nereid::cpu::test;

using runtime::Tensor;

namespace {

const char *vectorAdd = R"(
@triton.jit
def kernel(x, y, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    a = tl.load(x + offsets, mask=mask)
    b = tl.load(y + offsets, mask=mask)
    tl.store(out + offsets, a + b, mask=mask)
)";

TEST(LowerElementwise, VectorAddOfEveryLength) {
  for (int64_t n : {1, 7, 16, 31, 64, 100, 127, 128, 129, 200}) {
    Tensor x = randomTensor({256}, DType::F32, 1), y = randomTensor({256}, DType::F32, 2);
    Tensor out = randomTensor({256}, DType::F32, 3);
    std::vector<Tensor> results;
    ASSERT_EQ(compareWithOracle(vectorAdd, "*fp32, *fp32, *fp32, i32, 128", {2, 1, 1},
                                {&x, &y, &out, n}, 0, &results),
              "")
        << n;
    for (int64_t i = 0; i < 256; ++i) {
      float expected = i < n ? x.as<float>()[i] + y.as<float>()[i] : out.as<float>()[i];
      ASSERT_EQ(results[2].as<float>()[i], expected) << n << " at " << i;
    }
  }
}

TEST(LowerElementwise, EveryElementType) {
  struct Row {
    DType type;
    const char *name;
  };
  for (auto [type, name] :
       {Row{DType::F64, "fp64"}, Row{DType::F16, "fp16"}, Row{DType::BF16, "bf16"},
        Row{DType::I8, "i8"}, Row{DType::I16, "i16"}, Row{DType::I32, "i32"},
        Row{DType::I64, "i64"}, Row{DType::Bool, "i1"}}) {
    Tensor x = randomTensor({256}, type, 1), y = randomTensor({256}, type, 2);
    Tensor out = randomTensor({256}, type, 3);
    std::string p = std::string("*") + name;
    std::string kernel = vectorAdd;
    if (type == DType::Bool) {
      kernel.replace(kernel.find("a + b"), 5, "a ^ b");
    }
    for (int64_t n : {1, 77, 128, 250}) {
      EXPECT_EQ(compareWithOracle(kernel, p + ", " + p + ", " + p + ", i32, 128", {2, 1, 1},
                                  {&x, &y, &out, n}, 0),
                "")
          << name << " " << n;
    }
  }
}

TEST(LowerElementwise, MixedWidthsAndConversions) {
  const char *kernel = R"(
@triton.jit
def kernel(a, b, c, out, flags, n, BLOCK: tl.constexpr):
    o = tl.arange(0, BLOCK)
    m = o < n
    x = tl.load(a + o, mask=m, other=0).to(tl.float32)
    y = tl.load(b + o, mask=m, other=0)
    z = tl.load(c + o, mask=m, other=3)
    r = tl.where(y > 0, x * 2.0, x - z)
    tl.store(out + o, r.to(tl.bfloat16), mask=m)
    tl.store(flags + o, r > 0, mask=m)
)";
  Tensor a = randomTensor({300}, DType::F16, 1), b = randomTensor({300}, DType::I8, 2);
  Tensor c = randomTensor({300}, DType::I64, 3), out = randomTensor({300}, DType::BF16, 4);
  Tensor flags = randomTensor({300}, DType::Bool, 5);
  for (int64_t n : {1, 33, 255, 256}) {
    EXPECT_EQ(compareWithOracle(kernel, "*fp16, *i8, *i64, *bf16, *i1, i32, 256", {1, 1, 1},
                                {&a, &b, &c, &out, &flags, n}),
              "");
  }
}

TEST(LowerElementwise, RowAndColumnMasks) {
  const char *kernel = R"(
@triton.jit
def kernel(x, out, rows, cols, stride, BM: tl.constexpr, BN: tl.constexpr):
    r = tl.program_id(0) * BM + tl.arange(0, BM)
    c = tl.program_id(1) * BN + tl.arange(0, BN)
    m = (r[:, None] < rows) & (c[None, :] < cols)
    p = r[:, None] * stride + c[None, :]
    v = tl.load(x + p, mask=m, other=7.0)
    tl.store(out + p, v * 2 + r[:, None] + c[None, :], mask=m)
)";
  Tensor x = randomTensor({48, 100}, DType::F32, 1), out = randomTensor({48, 100}, DType::F32, 2);
  for (auto [rows, cols] :
       {std::pair<int64_t, int64_t>{48, 100}, {1, 1}, {33, 70}, {16, 64}, {17, 31}}) {
    EXPECT_EQ(compareWithOracle(kernel, "*fp32, *fp32, i32, i32, i32, 16, 32", {3, 4, 1},
                                {&x, &out, rows, cols, int64_t(100)}, 0),
              "")
        << rows << "x" << cols;
  }
}

TEST(LowerElementwise, GatherScatterAndTranspose) {
  const char *gather = R"(
@triton.jit
def kernel(x, index, out, n, BLOCK: tl.constexpr):
    o = tl.arange(0, BLOCK)
    i = tl.load(index + o, mask=o < n, other=0)
    v = tl.load(x + i, mask=o < n, other=-1)
    tl.store(out + o * 3, v, mask=o < n)
)";
  for (DType type : {DType::F32, DType::F64, DType::F16, DType::I8}) {
    Tensor x = randomTensor({64}, type, 1), out = randomTensor({200}, type, 2);
    Tensor index = Tensor::empty({64}, DType::I32);
    runtime::fillIntegers(index, 3, 0, 64);
    std::string p = type == DType::F32   ? "*fp32"
                    : type == DType::F64 ? "*fp64"
                    : type == DType::F16 ? "*fp16"
                                         : "*i8";
    for (int64_t n : {1, 40, 64}) {
      EXPECT_EQ(compareWithOracle(gather, p + ", *i32, " + p + ", i32, 64", {1, 1, 1},
                                  {&x, &index, &out, n}, 0),
                "");
    }
  }
  const char *transpose = R"(
@triton.jit
def kernel(x, out, rows, cols, BM: tl.constexpr, BN: tl.constexpr):
    r = tl.program_id(0) * BM + tl.arange(0, BM)
    c = tl.program_id(1) * BN + tl.arange(0, BN)
    v = tl.load(x + r[:, None] * cols + c[None, :], mask=(r[:, None] < rows) & (c[None, :] < cols))
    tl.store(out + c[:, None] * rows + r[None, :], tl.trans(v),
             mask=(c[:, None] < cols) & (r[None, :] < rows))
)";
  for (DType type : {DType::F32, DType::BF16}) {
    Tensor x = randomTensor({37, 53}, type, 1), out = randomTensor({53, 37}, type, 2);
    std::vector<Tensor> results;
    std::string p = type == DType::F32 ? "*fp32" : "*bf16";
    for (const char *blocks : {"16, 32", "32, 64", "64, 32"}) { // by gathers, or in registers
      EXPECT_EQ(compareWithOracle(transpose, p + ", " + p + ", i32, i32, " + blocks, {3, 2, 1},
                                  {&x, &out, int64_t(37), int64_t(53)}, 0, &results),
                "");
    }
    for (int64_t i = 0; i < 37; ++i) {
      for (int64_t j = 0; j < 53; ++j) {
        ASSERT_EQ(results[1].at(j * 37 + i), x.at(i * 53 + j));
      }
    }
  }
}

TEST(LowerElementwise, RunTimeStrides) {
  const char *kernel = R"(
@triton.jit
def kernel(x, out, n, sx, so, BLOCK: tl.constexpr):
    o = tl.arange(0, BLOCK)
    v = tl.load(x + o * sx, mask=o < n, other=0.0)
    tl.store(out + o * so, v + 1, mask=o < n)
)";
  Tensor x = randomTensor({256}, DType::F32, 1), out = randomTensor({256}, DType::F32, 2);
  for (auto [sx, so] : {std::pair<int64_t, int64_t>{1, 1}, {2, 1}, {1, 3}, {3, 2}, {0, 1}}) {
    for (int64_t n : {5, 60, 64}) {
      EXPECT_EQ(compareWithOracle(kernel, "*fp32, *fp32, i32, i32, i32, 64", {1, 1, 1},
                                  {&x, &out, n, sx, so}, 0),
                "")
          << sx << " " << so;
    }
  }
}

TEST(LowerElementwise, WrappedOffsets) {
  const char *kernel = R"(
@triton.jit
def kernel(x, out, n, BLOCK: tl.constexpr):
    o = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + o % n) + tl.load(x + o // n)
    tl.store(out + o, v)
)";
  Tensor x = randomTensor({256}, DType::F32, 1), out = randomTensor({256}, DType::F32, 2);
  for (int64_t n : {1, 3, 50, 64, 100, 200}) {
    EXPECT_EQ(compareWithOracle(kernel, "*fp32, *fp32, i32, 64", {4, 1, 1}, {&x, &out, n}, 0), "")
        << n;
  }
}

TEST(LowerElementwise, LowerBoundsAndUniformMasks) {
  const char *kernel = R"(
@triton.jit
def kernel(x, out, low, high, on, BLOCK: tl.constexpr):
    o = tl.arange(0, BLOCK)
    m = (o >= low) & (o <= high) & (on > 0)
    v = tl.load(x + o, mask=m, other=9.0)
    w = tl.where(o > low, v, v * 3)
    tl.store(out + o, w, mask=(o < high) | (o == 5))
)";
  Tensor x = randomTensor({128}, DType::F32, 1), out = randomTensor({128}, DType::F32, 2);
  for (int64_t low : {-5, 0, 1, 40, 200}) {
    for (int64_t high : {-1, 3, 64, 127, 500}) {
      for (int64_t on : {0, 1}) {
        ASSERT_EQ(compareWithOracle(kernel, "*fp32, *fp32, i32, i32, i32, 128", {1, 1, 1},
                                    {&x, &out, low, high, on}, 0),
                  "")
            << low << " " << high << " " << on;
      }
    }
  }
}

TEST(LowerElementwise, IntegerWrapAroundIsExact) {
  const char *kernel = R"(
@triton.jit
def kernel(out, wide, seed, BLOCK: tl.constexpr):
    o = tl.arange(0, BLOCK)
    h = o * 1640531527 + seed
    tl.store(out + o, h)
    tl.store(wide + o, h.to(tl.int64) * 3)
)";
  Tensor out = randomTensor({64}, DType::I32, 1), wide = randomTensor({64}, DType::I64, 2);
  EXPECT_EQ(compareWithOracle(kernel, "*i32, *i64, i32, 64", {1, 1, 1},
                              {&out, &wide, int64_t(2147483000)}, 0),
            "");
}

TEST(LowerElementwise, InPlaceAndShiftedInPlace) {
  const char *shift = R"(
@triton.jit
def kernel(x, BLOCK: tl.constexpr):
    o = tl.arange(0, BLOCK)
    v = tl.load(x + o)
    tl.store(x + o + 1, v)
    w = tl.load(x + o)
    tl.store(x + o, w * 2 + v)
)";
  Tensor x = randomTensor({130}, DType::F32, 1);
  std::vector<Tensor> results;
  EXPECT_EQ(compareWithOracle(shift, "*fp32, 128", {1, 1, 1}, {&x}, 0, &results), "");
  EXPECT_EQ(results[0].at(5), x.at(4) * 2 + x.at(5));
}

TEST(LowerElementwise, NonTemporalStoresAtEveryAlignment) {
  const char *kernel = R"(
@triton.jit
def kernel(x, out, skip, n, BLOCK: tl.constexpr):
    o = tl.arange(0, BLOCK)
    tl.store(out + skip + o, tl.load(x + o, mask=o < n), mask=o < n, cache_modifier=".cs")
)";
  Tensor x = randomTensor({300}, DType::F32, 1), out = randomTensor({300}, DType::F32, 2);
  for (int64_t skip : {0, 1, 4, 8, 16}) {
    EXPECT_EQ(compareWithOracle(kernel, "*fp32, *fp32, i32, i32, 256", {1, 1, 1},
                                {&x, &out, skip, int64_t(250)}, 0),
              "");
  }
}

TEST(LowerElementwise, BlockOfOneAndReshape) {
  const char *kernel = R"(
@triton.jit
def kernel(x, out):
    o = tl.arange(0, 1)
    tl.store(out + o, tl.load(x + o) + 1)
    q = tl.arange(0, 32)
    v = tl.reshape(tl.load(x + q), (4, 8))
    r = tl.arange(0, 4)
    c = tl.arange(0, 8)
    tl.store(out + 8 + c[:, None] * 4 + r[None, :], tl.trans(v))
)";
  Tensor x = randomTensor({64}, DType::F32, 1), out = randomTensor({64}, DType::F32, 2);
  EXPECT_EQ(compareWithOracle(kernel, "*fp32, *fp32", {1, 1, 1}, {&x, &out}, 0), "");
}

TEST(LowerElementwise, ExtremaBetweenHalfConversions) {
  // InstCombine makes extrema of f16 from these.
  const char *kernel = R"(
@triton.jit
def kernel(x, y, out, BLOCK: tl.constexpr):
    o = tl.arange(0, BLOCK)
    a = tl.load(x + o).to(tl.float32)
    b = tl.load(y + o).to(tl.float32)
    tl.store(out + o, tl.maximum(a, b).to(tl.float16))
    tl.store(out + BLOCK + o, tl.minimum(a, b).to(tl.float16))
    one = tl.load(x)
    tl.store(out + 2 * BLOCK, tl.maximum(one, 0.25))
    tl.store(out + 2 * BLOCK + 1, tl.maximum(tl.minimum(one, 0.5).to(tl.float32), 0.25))
)";
  for (int block : {1, 4, 8, 64}) {
    Tensor x = randomTensor({64}, DType::F16, 1), y = randomTensor({64}, DType::F16, 2);
    Tensor out = randomTensor({2 * block + 2}, DType::F16, 3);
    std::vector<Tensor> results;
    ASSERT_EQ(compareWithOracle(kernel, "*fp16, *fp16, *fp16, " + std::to_string(block), {1, 1, 1},
                                {&x, &y, &out}, 0, &results),
              "");
    for (int i = 0; i < block; ++i) {
      ASSERT_EQ(results[2].at(i), std::max(x.at(i), y.at(i)));
      ASSERT_EQ(results[2].at(block + i), std::min(x.at(i), y.at(i)));
    }
    ASSERT_EQ(results[2].at(2 * block), std::max(x.at(0), 0.25));
    ASSERT_EQ(results[2].at(2 * block + 1), std::max(std::min(x.at(0), 0.5), 0.25));
  }
}

} // namespace
