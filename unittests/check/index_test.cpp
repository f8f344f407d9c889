// SPDX-License-Identifier: Apache-2.0
// Indices that wrap around within a tile, and what looks like them: hashes, random numbers, tiles
// of which every element has wrapped, comparisons that come to the same.
#include "CheckSource.h"

#include <fmt/format.h>

namespace nereid::test {
namespace {

constexpr int64_t nearEnd = 2147483600; // 48 elements before the end of int32

Checked checkMask(const std::string &mask, int64_t base, int64_t limit,
                  const std::string &type = "i32") {
  auto x = floats(64), out = floats(64);
  return checkSource(fmt::format(R"(
@triton.jit
def k(x, out, base, limit):
    c = tl.arange(0, 64)
    mask = {}  # HERE
    tl.store(out + c, tl.load(x + c, mask=mask, other=-1.0))
)",
                                 mask),
                     fmt::format("*fp32, *fp32, {0}, {0}", type), {1, 1, 1},
                     {&x, &out, base, limit});
}

TEST(CheckIndex, MaskOfAWrappedSum) {
  const std::string message = "indices that a comparison sees wrap around within the tile";
  for (const char *mask : {"c + base > limit", "limit < base + c", "c + 2147483600 > limit",
                           "(c[:, None] + base > limit).reshape(64)", "c - (-base) >= limit",
                           "(c + base).to(tl.int64) > limit"}) {
    Checked checked = checkMask(mask, nearEnd, nearEnd + 40);
    expectOnly(checked, "E0808", message);
    EXPECT_EQ(checked.only().occurrences, 16u) << mask;
  }
  Checked checked = checkMask("c + base > limit", nearEnd, nearEnd + 40);
  ASSERT_GE(checked.only().diagnostic.notes.size(), 2u);
  EXPECT_NE(checked.text().find("compares -2147483648 with 2147483640"), std::string::npos)
      << checked.text();
}

TEST(CheckIndex, ChoicesThatAreStored) {
  auto out = integers(64);
  expectOnly(checkSource(R"(
@triton.jit
def k(out, base, limit):
    c = tl.arange(0, 64)
    chosen = tl.where(c + base < limit, 1, 2)  # HERE
    tl.store(out + c, chosen)
)",
                         "*i32, i32, i32", {1, 1, 1}, {&out, nearEnd, nearEnd + 40}),
             "E0808", "indices that a comparison sees wrap around within the tile");
}

TEST(CheckIndex, SumsCarriedByALoop) {
  auto x = floats(64), out = floats(64);
  Checked checked =
      checkSource(R"(
@triton.jit
def k(x, out, step, limit):
    c = tl.arange(0, 64)
    at = c
    total = tl.zeros((64,), tl.float32)
    for i in range(2):
        total += tl.load(x + c, mask=at < limit, other=0.0)  # HERE
        at += step
    tl.store(out + c, total)
)",
                  "*fp32, *fp32, i32, i32", {1, 1, 1}, {&x, &out, nearEnd, nearEnd + 40});
  expectOnly(checked, "E0808", "indices that a comparison sees wrap around within the tile");
}

TEST(CheckIndex, NothingWraps) {
  expectClean(checkMask("c + base > limit", nearEnd - 16, nearEnd));
  expectClean(checkMask("c + base.to(tl.int64) > limit", nearEnd, nearEnd + 40));
  expectClean(checkMask("c.to(tl.int64) + base > limit", nearEnd, nearEnd + 40));
  expectClean(checkMask("c + base > limit", nearEnd, nearEnd + 40, "i64"));
}

TEST(CheckIndex, TheOutcomeIsTheSame) {
  // The scalar sum has wrapped, so that every element has, as on every target.
  expectClean(checkMask("c + (base + base) < limit", nearEnd, 0));
  // Elements behind the end are negative, and as numbers too large: both are not equal.
  expectClean(checkMask("c + base == limit", nearEnd, nearEnd + 40));
  // What wraps is wrapped back.
  expectClean(checkMask("(c + base) - base < limit", nearEnd, 40));
  // Decided by a mask that holds in exact numbers.
  expectClean(checkMask("(c + base > limit) & (c < 48)", nearEnd, nearEnd + 40));
}

TEST(CheckIndex, ResultsThatNobodyUses) {
  expectClean(checkMask("tl.where(c < 48, c + base > limit, False)", nearEnd, nearEnd + 40));
}

TEST(CheckIndex, HashesAndRandomNumbersMayWrap) {
  for (const char *mask :
       {"((c * 1103515245 + base) ^ (c >> 3)) * 1664525 > limit", "(c * 1103515245 + base) < limit",
        "tl.rand(base, c) > 0.5", "tl.randint(base, c) > limit", "tl.randn(base, c) > 0",
        "((c + base).to(tl.uint32) * 2654435761).to(tl.int32) > limit",
        "((c.to(tl.uint32) + base) >> 16).to(tl.int32) > 3"}) {
    expectClean(checkMask(mask, nearEnd, 40));
  }
}

TEST(CheckIndex, DataIsNoIndex) {
  auto x = tensorOf<int32_t>(DType::I32, {2000000000, -2000000000, 2147483647, -2147483647});
  auto out = integers(4);
  expectClean(checkSource(R"(
@triton.jit
def k(x, out):
    c = tl.arange(0, 4)
    v = tl.sort(tl.load(x + c))
    tl.store(out + c, tl.where(tl.load(x + c) + 1 > 0, v, 0))
)",
                          "*i32, *i32", {1, 1, 1}, {&x, &out}));
}

} // namespace
} // namespace nereid::test
