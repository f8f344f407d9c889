// SPDX-License-Identifier: Apache-2.0
// Promises about values: in the signature and by the three hints of the language.
#include "CheckSource.h"

namespace nereid::test {
namespace {

const char *offsetKernel = R"(
@triton.jit
def k(x, start):
    at = tl.multiple_of(start + tl.arange(0, 8), 8)  # HERE
    tl.store(x + at, 1.0)
)";

TEST(CheckHints, MultipleOf) {
  auto x = floats(16);
  Checked checked = checkSource(offsetKernel, "*fp32, i32", {1, 1, 1}, {&x, int64_t(4)});
  expectOnly(checked, "E0804", "'tl.multiple_of(…, 8)' does not hold");
  EXPECT_EQ(checked.only().diagnostic.notes[1], "element [0] is 4");
}

TEST(CheckHints, MultipleOfIsAboutTheBeginningOfARun) {
  auto x = floats(16);
  expectClean(checkSource(offsetKernel, "*fp32, i32", {1, 1, 1}, {&x, int64_t(8)}));
}

TEST(CheckHints, MaxContiguous) {
  const std::string kernel = R"(
@triton.jit
def k(x, n):
    at = tl.max_contiguous(tl.arange(0, 8) % n, 8)  # HERE
    tl.atomic_add(x + at, 1.0)
)";
  auto x = floats(16);
  Checked checked = checkSource(kernel, "*fp32, i32", {1, 1, 1}, {&x, int64_t(5)});
  expectOnly(checked, "E0804", "'tl.max_contiguous(…, 8)' does not hold");
  EXPECT_EQ(checked.only().diagnostic.notes[1], "element [5] is 0 and the one before it is 4");
  expectClean(checkSource(kernel, "*fp32, i32", {1, 1, 1}, {&x, int64_t(8)}));
}

TEST(CheckHints, MaxConstancyInTwoDimensions) {
  const std::string kernel = R"(
@triton.jit
def k(x, STEP: tl.constexpr):
    rows = tl.arange(0, 4)[:, None] // STEP + tl.zeros((4, 8), tl.int32)
    same = tl.max_constancy(rows + 1, [2, 8])  # HERE
    tl.atomic_add(x + same, 1.0)
)";
  auto x = floats(16);
  Checked checked = checkSource(kernel, "*fp32, 1", {1, 1, 1}, {&x});
  expectOnly(checked, "E0804", "'tl.max_constancy(…, 2)' does not hold");
  EXPECT_EQ(checked.only().diagnostic.notes[1], "element [1, 0] is 2 and the one before it is 1");
  expectClean(checkSource(kernel, "*fp32, 2", {1, 1, 1}, {&x}));
}

TEST(CheckHints, TheSignature) {
  const std::string kernel = R"(
@triton.jit
def k(x, n):
    tl.store(x + tl.arange(0, 4), 1.0, mask=tl.arange(0, 4) < n)
)";
  auto whole = floats(64);
  // Two elements behind an address that is divisible by 16.
  const auto address = reinterpret_cast<uint64_t>(whole.data());
  float *even = whole.as<float>() + (address % 16 == 0 ? 2 : (16 - address % 16) / 4 + 2);
  auto x = runtime::Tensor::borrow(even, {8}, DType::F32);
  Checked checked = checkSource(kernel, "*fp32:16, i32:16", {1, 1, 1}, {&x, int64_t(20)});
  ASSERT_EQ(checked.reports.size(), 2u) << checked.text();
  EXPECT_EQ(checked.reports[0].diagnostic.code, "E0411");
  EXPECT_EQ(checked.reports[0].diagnostic.message,
            "the signature promises that 'x' is divisible by 16, but got an address that is 8 "
            "modulo it");
  EXPECT_EQ(checked.reports[1].diagnostic.message,
            "the signature promises that 'n' is divisible by 16, but got 20");
  auto aligned = runtime::Tensor::borrow(even + 2, {8}, DType::F32);
  expectClean(checkSource(kernel, "*fp32:16, i32:16", {1, 1, 1}, {&aligned, int64_t(32)}));
  expectClean(checkSource(kernel, "*fp32, i32", {1, 1, 1}, {&x, int64_t(20)}));
}

TEST(CheckHints, Assumptions) {
  const std::string kernel = R"(
@triton.jit
def k(x, n):
    tl.assume((n % 16 == 0) & (n > 0))  # HERE
    tl.atomic_add(x, 1.0)
)";
  auto x = floats(16);
  expectClean(checkSource(kernel, "*fp32, i32", {1, 1, 1}, {&x, int64_t(32)}));
  for (int64_t n : {8, 0, -16}) {
    expectOnly(checkSource(kernel, "*fp32, i32", {1, 1, 1}, {&x, n}), "E0804",
               "'tl.assume' does not hold");
  }
}

TEST(CheckHints, AssumptionsAboutTiles) {
  const std::string kernel = R"(
@triton.jit
def k(x, n):
    at = tl.arange(0, 8)
    tl.assume(at < n)  # HERE
    tl.store(x + at, 1.0)
)";
  auto x = floats(16);
  expectClean(checkSource(kernel, "*fp32, i32", {1, 1, 1}, {&x, int64_t(8)}));
  Checked checked = checkSource(kernel, "*fp32, i32", {1, 1, 1}, {&x, int64_t(5)});
  expectOnly(checked, "E0804", "'tl.assume' does not hold");
  EXPECT_EQ(checked.only().diagnostic.notes[1], "first at element [5]");
}

} // namespace
} // namespace nereid::test
