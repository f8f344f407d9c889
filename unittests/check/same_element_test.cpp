// SPDX-License-Identifier: Apache-2.0
// Elements of one store that have the same address.
#include "CheckSource.h"

namespace nereid::test {
namespace {

TEST(CheckSameElement, DifferentValues) {
  auto out = integers(4);
  Checked checked = checkSource(R"(
@triton.jit
def k(out):
    at = tl.arange(0, 8)
    tl.store(out + at % 4, at)  # HERE
)",
                                "*i32", {2, 1, 1}, {&out});
  // The programs race as well, at the same line.
  ASSERT_EQ(checked.reports.size(), 2u) << checked.text();
  const check::Report &report =
      checked.reports[0].diagnostic.code == "E0809" ? checked.reports[0] : checked.reports[1];
  EXPECT_EQ(report.diagnostic.code, "E0809");
  EXPECT_EQ(report.diagnostic.range.line, checked.markedLine);
  EXPECT_NE(report.diagnostic.message.find("0 as element [0] of the tile and 4 as element [4]"),
            std::string::npos)
      << checked.text();
  EXPECT_EQ(report.programs, 2u);
}

TEST(CheckSameElement, OneOfThemIsMaskedOff) {
  auto out = integers(4);
  expectClean(checkSource(R"(
@triton.jit
def k(out):
    at = tl.arange(0, 8)
    tl.store(out + at % 4, at, mask=at >= 4)
)",
                          "*i32", {1, 1, 1}, {&out}));
}

TEST(CheckSameElement, EqualValuesAndSeveralStores) {
  auto out = integers(4);
  expectClean(checkSource(R"(
@triton.jit
def k(out):
    at = tl.arange(0, 8)
    tl.store(out + at % 4, at % 4 + 1)
    tl.store(out + at % 4, at * 0)
    tl.store(out + at // 8, 5)
    tl.atomic_add(out + at % 4, at)
)",
                          "*i32", {1, 1, 1}, {&out}));
}

TEST(CheckSameElement, TheFirstPairInTheTile) {
  auto out = floats(8);
  Checked checked = checkSource(R"(
@triton.jit
def k(out):
    i = tl.arange(0, 4)
    j = tl.arange(0, 2)
    tl.store(out + (7 - i[:, None]) // 2 + j[None, :] * 0, (i[:, None] + 4 * j[None, :]).to(tl.float32))  # HERE
)",
                                "*fp32", {1, 1, 1}, {&out});
  expectOnly(
      checked, "E0809",
      "one store writes different values to one place: 0 as element [0, 0] of the tile and 4 "
      "as element [0, 1]");
}

} // namespace
} // namespace nereid::test
