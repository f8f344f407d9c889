// SPDX-License-Identifier: Apache-2.0
// Products of bfloat16 and int8 by instructions that multiply VNNI groups of k: against sums by the
// definition, with matrices that end where memory ends, so that nothing behind them may be read.
#include "unittests/target_cpu/LowerHarness.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <random>
#include <sys/mman.h>
#include <unistd.h>

using namespace nereid;
using namespace nereid::cpu::test;

namespace {

bool canRun() {
  std::vector<std::string> all = runnableArchitectures();
  return std::find(all.begin(), all.end(), narrowDots) != all.end();
}

/// Memory that ends in front of a page that cannot be read.
template <class T> class Guarded {
public:
  explicit Guarded(size_t count) : count(count) {
    const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    const size_t used = (count * sizeof(T) + page - 1) / page * page;
    bytes = used + page;
    memory = static_cast<uint8_t *>(
        mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    mprotect(memory + used, page, PROT_NONE);
    data = reinterpret_cast<T *>(memory + used - count * sizeof(T));
  }
  Guarded(const Guarded &) = delete;
  Guarded &operator=(const Guarded &) = delete;
  ~Guarded() { munmap(memory, bytes); }

  T *data = nullptr;
  const size_t count;

private:
  uint8_t *memory = nullptr;
  size_t bytes = 0;
};

struct Sizes {
  int64_t m, n, k;
  int blockM, blockN, blockK;
};

const std::vector<Sizes> ragged = {
    {37, 51, 45, 32, 64, 16},     {64, 64, 64, 32, 32, 32},    {1, 1, 1, 16, 16, 16},
    {130, 70, 1000, 128, 64, 32}, {9, 200, 129, 16, 128, 64},  {127, 33, 543, 128, 32, 16},
    {20, 144, 256, 8, 128, 256},  {5, 17, 33, 4, 16, 32},      {64, 128, 1030, 64, 128, 64},
    {33, 100, 2, 32, 128, 32},    {20, 104, 550, 32, 128, 32}, {37, 86, 1060, 32, 128, 64}};

std::string kernelText(const std::string &left, const std::string &right, const char *type) {
  return fmt::format(R"(
@triton.jit
def kernel(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    rk = tl.arange(0, BK)
    acc = tl.full((BM, BN), 3, {2})
    for k in range(0, K, BK):
        ks = k + rk
        x = {0}
        y = {1}
        acc += tl.dot(x, y, out_dtype={2})
    tl.store(c + rm[:, None] * N + rn[None, :], acc, mask=(rm[:, None] < M) & (rn[None, :] < N))
)",
                     left, right, type);
}

const std::string maskedLeft =
    "tl.load(a + rm[:, None] * K + ks[None, :], mask=(rm[:, None] < M) & (ks[None, :] < K), "
    "other=0)";
const std::string maskedRight =
    "tl.load(b + ks[:, None] * N + rn[None, :], mask=(ks[:, None] < K) & (rn[None, :] < N), "
    "other=0)";

template <class T> double numberOf(T value) { return value; }
template <> double numberOf(uint16_t bits) {
  return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
}

void fill(Guarded<uint16_t> &matrix, std::mt19937 &random) {
  std::normal_distribution<float> normal;
  for (size_t i = 0; i < matrix.count; ++i) {
    matrix.data[i] = static_cast<uint16_t>(std::bit_cast<uint32_t>(normal(random)) >> 16);
  }
}

/// All of the type's numbers; the smallest one often, which has no opposite.
void fill(Guarded<int8_t> &matrix, std::mt19937 &random) {
  for (size_t i = 0; i < matrix.count; ++i) {
    const auto bits = random();
    matrix.data[i] = static_cast<int8_t>(bits % 5 == 0 ? -128 : bits >> 8);
  }
}

/// Compiles, launches and compares c = 3 + a b, where `element` is the type of a and b and
/// `columnShift` says which column of b makes column 0.
template <class T, class Sum>
void expectProduct(const std::string &text, const std::string &types, const Sizes &s,
                   const char *instruction, int64_t columnShift = 0, bool isColumnMajor = false) {
  SCOPED_TRACE(fmt::format("{}x{}x{}", s.m, s.n, s.k));
  LoweredKernel kernel =
      lowerSource(text,
                  types + fmt::format(", M=i32, N=i32, K=i32, BM={}, BN={}, BK={}", s.blockM,
                                      s.blockN, s.blockK),
                  narrowDots);
  ASSERT_EQ(kernel.error, "");
  EXPECT_NE(kernel.assembly.find(instruction), std::string::npos);
  std::mt19937 random(static_cast<unsigned>(s.m * 31 + s.n * 7 + s.k));
  Guarded<T> a(s.m * s.k), b(s.k * s.n);
  Guarded<Sum> c(s.m * s.n);
  fill(a, random);
  fill(b, random);
  const std::array<int32_t, 3> grid{static_cast<int32_t>((s.m + s.blockM - 1) / s.blockM),
                                    static_cast<int32_t>((s.n + s.blockN - 1) / s.blockN), 1};
  ASSERT_TRUE(kernel.launch(grid, {address(a.data), address(b.data), address(c.data), number(s.m),
                                   number(s.n), number(s.k)}));
  for (int64_t i = 0; i < s.m; ++i) {
    for (int64_t j = 0; j < s.n; ++j) {
      double expected = 3, size = 3;
      for (int64_t k = 0; k < s.k; ++k) {
        const int64_t column = (j + columnShift) % s.n;
        const T right = b.data[isColumnMajor ? column * s.k + k : k * s.n + column];
        const double term = numberOf(a.data[i * s.k + k]) * numberOf(right);
        expected += term;
        size += std::abs(term);
      }
      // Products of bfloat16 are exact in float32; each of k additions rounds a sum of at most
      // `size`. Integers are exact.
      const double bound = std::is_integral_v<Sum> ? 0 : size * std::ldexp(s.k + 1.0, -24);
      ASSERT_NEAR(c.data[i * s.n + j], expected, bound) << i << ", " << j;
    }
  }
}

const std::string halves = "a=*bf16, b=*bf16, c=*fp32", bytes = "a=*i8, b=*i8, c=*i32";

TEST(GemmNarrow, Bfloat16OfManySizes) {
  if (!canRun()) {
    GTEST_SKIP() << "needs AVX512_BF16";
  }
  for (const Sizes &s : ragged) {
    expectProduct<uint16_t, float>(kernelText(maskedLeft, maskedRight, "tl.float32"), halves, s,
                                   "vdpbf16ps");
  }
}

TEST(GemmNarrow, SubnormalOperandsCountAsZero) {
  if (!canRun()) {
    GTEST_SKIP() << "needs AVX512_BF16";
  }
  LoweredKernel kernel =
      lowerSource(kernelText(maskedLeft, maskedRight, "tl.float32"),
                  halves + ", M=i32, N=i32, K=i32, BM=16, BN=16, BK=16", narrowDots);
  ASSERT_EQ(kernel.error, "");
  Guarded<uint16_t> a(16 * 16), b(16 * 16);
  Guarded<float> c(16 * 16);
  for (size_t i = 0; i < a.count; ++i) {
    a.data[i] = i % 16 == 3 ? 0x0040 : 0;      // 2^-127
    b.data[i] = i / 16 == 3 ? 0x7f00 : 0x3f80; // 2^127, 1
  }
  ASSERT_TRUE(kernel.launch({1, 1, 1}, {address(a.data), address(b.data), address(c.data),
                                        number(16), number(16), number(16)}));
  for (size_t i = 0; i < c.count; ++i) {
    ASSERT_EQ(c.data[i], 3) << i;
  }
}

TEST(GemmNarrow, Int8OfManySizes) {
  if (!canRun()) {
    GTEST_SKIP() << "needs AVX512_VNNI";
  }
  for (const Sizes &s : ragged) {
    expectProduct<int8_t, int32_t>(kernelText(maskedLeft, maskedRight, "tl.int32"), bytes, s,
                                   "vpdpbusd");
  }
}

TEST(GemmNarrow, ColumnsWrapInTheMiddleOfATile) {
  if (!canRun()) {
    GTEST_SKIP() << "needs AVX512_BF16 and AVX512_VNNI";
  }
  const std::string right =
      "tl.load(b + ks[:, None] * N + ((rn + 7) % N)[None, :], mask=ks[:, None] < K, other=0)";
  for (const Sizes &s : ragged) {
    expectProduct<uint16_t, float>(kernelText(maskedLeft, right, "tl.float32"), halves, s,
                                   "vdpbf16ps", 7);
    expectProduct<int8_t, int32_t>(kernelText(maskedLeft, right, "tl.int32"), bytes, s, "vpdpbusd",
                                   7);
  }
}

TEST(GemmNarrow, ColumnMajorRightOperand) {
  if (!canRun()) {
    GTEST_SKIP() << "needs AVX512_BF16 and AVX512_VNNI";
  }
  const std::string right = "tl.load(b + ks[:, None] + rn[None, :] * K, mask=(ks[:, None] < K) & "
                            "(rn[None, :] < N), other=0)";
  for (const Sizes &s : ragged) {
    expectProduct<uint16_t, float>(kernelText(maskedLeft, right, "tl.float32"), halves, s,
                                   "vdpbf16ps", 0, /*isColumnMajor=*/true);
    expectProduct<int8_t, int32_t>(kernelText(maskedLeft, right, "tl.int32"), bytes, s, "vpdpbusd",
                                   0, /*isColumnMajor=*/true);
  }
}

TEST(GemmNarrow, OperandsThatAreComputedFirst) {
  if (!canRun()) {
    GTEST_SKIP() << "needs AVX512_BF16 and AVX512_VNNI";
  }
  const std::string left = "tl.where(K > 0, " + maskedLeft + ", 0)";
  const std::string right = "tl.where(K > 0, " + maskedRight + ", 0)";
  for (const Sizes &s : ragged) {
    for (const auto &[x, y] :
         {std::pair(left, maskedRight), std::pair(maskedLeft, right), std::pair(left, right)}) {
      // Small tiles are not worth copies of both operands. In floats a bound of k that only one of
      // them shows is copied with its zeros, as the other one may have an infinity there.
      const bool isSmall = s.blockM * s.blockN * s.blockK < (16 << 10);
      const bool copiesBoth = x == left && y == right;
      expectProduct<uint16_t, float>(kernelText(x, y, "tl.float32"), halves, s,
                                     isSmall ? "" : "vdpbf16ps");
      expectProduct<int8_t, int32_t>(kernelText(x, y, "tl.int32"), bytes, s,
                                     copiesBoth && isSmall ? "" : "vpdpbusd");
    }
  }
}

TEST(GemmNarrow, ColumnMajorOperands) {
  if (!canRun()) {
    GTEST_SKIP() << "needs AVX512_BF16 and AVX512_VNNI";
  }
  const char *source = R"(
@triton.jit
def kernel(a, b, c, M, N, K, sam, sak, sbk, sbn, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    rk = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), tl.{})
    for k in range(0, K, BK):
        x = tl.load(a + rm[:, None] * sam + (k + rk)[None, :] * sak, mask=(k + rk)[None, :] < K, other=0)
        y = tl.load(b + (k + rk)[:, None] * sbk + rn[None, :] * sbn, mask=(k + rk)[:, None] < K, other=0)
        acc += tl.dot(x, y, out_dtype=tl.{})
    tl.store(c + rm[:, None] * N + rn[None, :], acc)
)";
  const int64_t m = 32, n = 64, k = 75;
  for (DType type : {DType::BF16, DType::I8}) {
    const bool isFloat = type == DType::BF16;
    runtime::Tensor a = randomTensor({m * k}, type, 1), b = randomTensor({k * n}, type, 2);
    runtime::Tensor c = randomTensor({m, n}, isFloat ? DType::F32 : DType::I32, 3);
    std::string text = source;
    for (size_t at = 0; (at = text.find("{}")) != std::string::npos;) {
      text.replace(at, 2, isFloat ? "float32" : "int32");
    }
    for (bool leftAcross : {false, true}) {
      for (bool rightAcross : {false, true}) {
        std::string signature =
            (isFloat ? halves : bytes) +
            ", M=i32, N=i32, K=i32, sam=" + (leftAcross ? "1, sak=i32" : "i32, sak=1") +
            ", sbk=" + (rightAcross ? "1, sbn=i32" : "i32, sbn=1") + ", BM=32, BN=64, BK=16";
        Arguments arguments = {&a, &b, &c, m, n, k, leftAcross ? m : k, rightAcross ? k : n};
        EXPECT_EQ(compareWithOracle(text, signature, {1, 1, 1}, arguments, 1e-4), "");
      }
    }
  }
}

/// The product [32, k] times [k, 64] of both narrow types, with `left` for a, is the oracle's.
/// `elements` are those of a.
void expectBothTypes(const std::string &left, int64_t k, int64_t elements) {
  const int64_t m = 32, n = 64;
  for (DType type : {DType::BF16, DType::I8}) {
    const bool isFloat = type == DType::BF16;
    runtime::Tensor a = randomTensor({elements}, type, 1), b = randomTensor({k * n}, type, 2);
    runtime::Tensor c = randomTensor({m, n}, isFloat ? DType::F32 : DType::I32, 3);
    std::string text = kernelText(left, maskedRight, isFloat ? "tl.float32" : "tl.int32");
    Arguments arguments = {&a, &b, &c, m, n, k};
    EXPECT_EQ(compareWithOracle(
                  text, (isFloat ? halves : bytes) + ", M=i32, N=i32, K=i32, BM=32, BN=64, BK=16",
                  {1, 1, 1}, arguments, 1e-4),
              "")
        << left << " " << k;
  }
}

TEST(GemmNarrow, RowsThatAreMaskedOneByOne) {
  if (!canRun()) {
    GTEST_SKIP() << "needs AVX512_BF16 and AVX512_VNNI";
  }
  const std::string left = "tl.load(a + rm[:, None] * K + ks[None, :], mask=(rm % 3 != 0)[:, None] "
                           "& (ks[None, :] < K), other=0)";
  for (int64_t k : {64, 75}) {
    expectBothTypes(left, k, 32 * k);
  }
}

/// The last group of k is completed in copies of the rows, of which there may be none.
TEST(GemmNarrow, PartGroupsWithoutRows) {
  if (!canRun()) {
    GTEST_SKIP() << "needs AVX512_BF16 and AVX512_VNNI";
  }
  for (const char *mask : {"(rm < M - 32)[:, None] & (ks[None, :] < K)",
                           "(rm < M)[:, None] & (ks[None, :] < K) & (M > 32)"}) {
    for (int64_t k : {5, 16, 75}) {
      expectBothTypes(
          fmt::format("tl.load(a + rm[:, None] * K + ks[None, :], mask={}, other=0)", mask), k,
          32 * k);
    }
  }
}

/// The mask of b alone ends k in the middle of a group, where an a that is computed goes on.
TEST(GemmNarrow, PartGroupsOfComputedRows) {
  if (!canRun()) {
    GTEST_SKIP() << "needs AVX512_BF16 and AVX512_VNNI";
  }
  for (const char *left : {"tl.load(a + rm[:, None] * 80 + ks[None, :]) + 1",
                           "tl.reshape(tl.load(a + k + tl.arange(0, BM * BK)), (BM, BK))"}) {
    for (int64_t k : {1, 5, 16, 18, 75, 79, 80}) {
      expectBothTypes(left, k, 32 * 96);
    }
  }
}

} // namespace
