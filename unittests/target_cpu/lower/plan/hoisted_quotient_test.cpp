// SPDX-License-Identifier: Apache-2.0
// Quotients and remainders that are made in front of a loop and are addresses inside it: against
// the interpreter on every vector width, and against indices computed here. Blocks inside one group
// read one element for all lanes; the others must not.
#include "unittests/target_cpu/LowerHarness.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

using namespace nereid;
using namespace nereid::cpu::test;
using runtime::Tensor;

namespace {

/// y[g, i] = the sum over r of w[INDEX + r], with INDEX made in front of the loop; each g has a
/// group size h of its own: 1, 10, 19 … 64.
std::string sourceFor(const std::string &index, bool isMasked) {
  return fmt::format(R"(
@triton.jit
def kernel(w, y, n, h, BLOCK: tl.constexpr, H: tl.constexpr):
    h = tl.program_id(1) * h + 1
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    at = {}
    inside = i < 100
    acc = tl.zeros((BLOCK,), tl.float32)
    for r in range(0, n):
        acc += tl.load(w + at + r{})
    tl.store(y + tl.program_id(1) * 128 + i, acc)
)",
                     index, isMasked ? ", mask=inside, other=0.0" : "");
}

struct Hoisted {
  const char *index;
  int64_t (*at)(int64_t i, int64_t h);
};

const Hoisted hoisted[] = {
    {"i // h", [](int64_t i, int64_t h) { return i / h; }},
    {"i // H", [](int64_t i, int64_t) { return i / 24; }},
    {"i % h", [](int64_t i, int64_t h) { return i % h; }},
    {"i >> 4", [](int64_t i, int64_t) { return i >> 4; }},
    {"(i // h) % 3", [](int64_t i, int64_t h) { return i / h % 3; }},
    {"(i // h) * 2 + (i // h) % 2", [](int64_t i, int64_t h) { return i / h * 2 + i / h % 2; }},
    {"(i + 5) // h * h + i % h", [](int64_t i, int64_t h) { return (i + 5) / h * h + i % h; }},
    {"(i // h).to(tl.int64)", [](int64_t i, int64_t h) { return i / h; }},
    {"i // h * 2 + i % h", [](int64_t i, int64_t h) { return i / h * 2 + i % h; }},
    {"(127 - i) // h", [](int64_t i, int64_t h) { return (127 - i) / h; }},
};

TEST(HoistedQuotient, EveryLaneReadsItsGroup) {
  constexpr int64_t n = 3, sizes = 8;
  for (const Hoisted &form : hoisted) {
    for (bool isMasked : {false, true}) {
      Tensor w = randomTensor({400}, DType::F32, 1), y = randomTensor({sizes * 128}, DType::F32, 2);
      Arguments arguments = {&w, &y, n, int64_t{9}};
      std::vector<Tensor> results;
      ASSERT_EQ(compareWithOracle(sourceFor(form.index, isMasked),
                                  "w=*fp32, y=*fp32, n=i32, h=i32, BLOCK=64, H=24", {2, sizes, 1},
                                  arguments, 0, &results),
                "")
          << form.index << " masked " << isMasked;
      for (int64_t at = 0; at < sizes * 128; ++at) {
        const int64_t i = at % 128, h = at / 128 * 9 + 1;
        float sum = 0;
        for (int64_t r = 0; r < n; ++r) {
          sum += static_cast<float>(w.at(form.at(i, h) + r));
        }
        ASSERT_EQ(results[1].at(at), isMasked && i >= 100 ? 0 : sum) << form.index << " " << at;
      }
    }
  }
}

/// A reshaped and permuted view: the quotients of quotients of one index.
TEST(HoistedQuotient, ChainsOfViews) {
  const char *source = R"(
@triton.jit
def kernel(x, y, n, n2, n1, n0, s0, s1, BX: tl.constexpr):
    X = tl.program_id(0) * BX + tl.arange(0, BX)
    i2 = X % n2
    rest = X // n2
    i1 = rest % n1
    rest1 = rest // n1
    inside = X < n2 * n1 * n0
    acc = tl.full([BX], 0.0, tl.float32)
    for r in range(0, n):
        acc = acc + tl.load(x + i1 * s0 + rest1 * s1 + r, mask=inside, other=0.0)
    tl.store(y + X, acc, mask=inside)
)";
  for (int64_t n2 : {3, 16, 70}) {
    for (int64_t n1 : {1, 5}) {
      Tensor x = randomTensor({400}, DType::F32, 1), y = randomTensor({2000}, DType::F32, 2);
      constexpr int64_t n0 = 3;
      Arguments arguments = {&x, &y, int64_t{5}, n2, n1, n0, int64_t{5}, int64_t{20}};
      std::vector<Tensor> results;
      ASSERT_EQ(compareWithOracle(source,
                                  "x=*fp32, y=*fp32, n=i32, n2=i32, n1=i32, n0=i32, s0=i32, "
                                  "s1=i32, BX=128",
                                  {9, 1, 1}, arguments, 0, &results),
                "")
          << n2 << " " << n1;
      for (int64_t X = 0; X < n2 * n1 * n0; ++X) {
        float sum = 0;
        for (int64_t r = 0; r < 5; ++r) {
          sum += static_cast<float>(x.at(X / n2 % n1 * 5 + X / n2 / n1 * 20 + r));
        }
        ASSERT_EQ(results[1].at(X), sum) << n2 << " " << n1 << " " << X;
      }
    }
  }
}

/// The divisors come from memory that the loop overwrites: whether a block lies inside one group
/// cannot be asked again inside the loop.
TEST(HoistedQuotient, OfOverwrittenDivisors) {
  const char *source = R"(
@triton.jit
def kernel(w, y, sizes, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)[None, :]
    row = tl.arange(0, 4)
    h = tl.load(sizes + row)
    at = i // h[:, None]
    acc = tl.zeros((4, BLOCK), tl.float32)
    for r in range(0, n):
        acc += tl.load(w + at + r)
        tl.store(sizes + row, row * 0 + 64)
    tl.store(y + row[:, None] * BLOCK + i, acc)
)";
  Tensor w = randomTensor({400}, DType::F32, 1), y = randomTensor({4 * 64}, DType::F32, 2);
  Tensor sizes = Tensor::empty({4}, DType::I32);
  for (int64_t row = 0; row < 4; ++row) {
    sizes.set(row, static_cast<double>(row * 5 + 3));
  }
  Arguments arguments = {&w, &y, &sizes, int64_t{3}};
  EXPECT_EQ(compareWithOracle(source, "w=*fp32, y=*fp32, sizes=*i32, n=i32, BLOCK=64", {1, 1, 1},
                              arguments, 0),
            "");
}

/// Columns are kept where rows are: a remainder whose quotient is there as well.
TEST(HoistedQuotient, ColumnsOfMasksAreNotComputedInTheLoop) {
  const std::string source = R"(
@triton.jit
def kernel(x, y, n, w, h, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    column = i % w
    row = ROW
    acc = tl.zeros((BLOCK,), tl.float32)
    for r in range(0, n):
        acc += tl.load(x + i + r, mask=(column + r < w) & (row + r < h), other=0.0)
    for r in range(0, n):
        acc += tl.load(x + i - r, mask=(column >= r) & (row >= r), other=0.0)
    tl.store(y + i, acc)
)";
  auto divisionsOf = [&](const std::string &row) {
    std::string own = source;
    LoweredKernel kernel =
        lowerSource(own.replace(own.find("ROW"), 3, row), "*fp32, *fp32, i32, i32, i32, 64");
    EXPECT_EQ(kernel.error, "");
    return countOf(kernel.loops, "arith.remsi") + countOf(kernel.loops, "arith.divsi");
  };
  EXPECT_EQ(divisionsOf("i // w"), 8u) << "one of each for each of four vectors";
  EXPECT_GE(divisionsOf("i"), 8u) << "once in each loop: addresses may wrap there";
}

} // namespace
