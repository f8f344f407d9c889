// SPDX-License-Identifier: Apache-2.0
// Matrix products whose masks have limits that the text names: a constant number of rows, columns
// or k may end inside of a register block, a panel or a group, as one known at run time may.
#include "unittests/target_cpu/LowerHarness.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

using namespace nereid;
using namespace nereid::cpu::test;
using runtime::Tensor;

namespace {

/// c [32, 64] = a [32, K] times b [K, 64]; ROWS of a, COLUMNS of b and DEPTH of k are not masked.
std::string source(const char *sum, bool isStoreMasked) {
  return fmt::format(R"(
@triton.jit
def kernel(a, b, c, K, ROWS: tl.constexpr, COLUMNS: tl.constexpr, DEPTH: tl.constexpr):
    rm = tl.arange(0, 32)
    rn = tl.arange(0, 64)
    rk = tl.arange(0, 32)
    acc = tl.zeros((32, 64), {})
    for k in range(0, K, 32):
        x = tl.load(a + rm[:, None] * K + (k + rk)[None, :],
                    mask=(rm < ROWS)[:, None] & (k + rk < DEPTH)[None, :], other=0)
        y = tl.load(b + (k + rk)[:, None] * 64 + rn[None, :],
                    mask=(k + rk < DEPTH)[:, None] & (rn < COLUMNS)[None, :], other=0)
        acc = tl.dot(x, y, acc)
    tl.store(c + rm[:, None] * 64 + rn[None, :], acc{})
)",
                     sum,
                     isStoreMasked ? ", mask=(rm < ROWS)[:, None] & (rn < COLUMNS)[None, :]" : "");
}

void expectEqual(DType type, const char *typeName, const char *sum, DType sumType) {
  for (int64_t limit : {1, 15, 16, 17, 20, 31, 32, 33, 48, 60, 63, 64}) {
    for (bool isStoreMasked : {false, true}) {
      Tensor a = Tensor::empty({32, 64}, type), b = Tensor::empty({64, 64}, type);
      runtime::fillIntegers(a, 1, -4, 5);
      runtime::fillIntegers(b, 2, -4, 5);
      Tensor c = Tensor::empty({32, 64}, sumType);
      runtime::fillConstant(c, 7);
      std::string signature =
          fmt::format("a=*{0}, b=*{0}, c=*{1}, K=i32, ROWS={2}, COLUMNS={3}, DEPTH={4}", typeName,
                      kernelName(sumType), std::min<int64_t>(limit, 27), limit, 70 - limit);
      EXPECT_EQ(compareWithOracle(source(sum, isStoreMasked), signature, {1, 1, 1},
                                  {&a, &b, &c, int64_t{64}}, 0),
                "")
          << signature;
    }
  }
}

TEST(GemmConstantLimit, Float32) { expectEqual(DType::F32, "fp32", "tl.float32", DType::F32); }
TEST(GemmConstantLimit, Float16) { expectEqual(DType::F16, "fp16", "tl.float32", DType::F32); }
TEST(GemmConstantLimit, BFloat16) { expectEqual(DType::BF16, "bf16", "tl.float32", DType::F32); }
TEST(GemmConstantLimit, Int8) { expectEqual(DType::I8, "i8", "tl.int32", DType::I32); }

} // namespace
