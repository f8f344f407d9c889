// SPDX-License-Identifier: Apache-2.0
// Overflowing addresses, undefined values that are used, divisions by zero, failed assertions.
#include "CheckSource.h"

#include <cmath>

namespace nereid::test {
namespace {

/// Rows of a matrix with a stride that a 32-bit product does not reach.
const char *rowKernel = R"(
@triton.jit
def k(x, out, stride, n_rows):
    row = tl.program_id(0)
    offset = row * stride  # HERE
    tl.store(out + row, tl.load(x + offset, mask=row < n_rows, other=0.0))
)";

TEST(CheckOverflow, ProductOf32Bits) {
  auto x = floats(4), out = floats(4);
  Checked checked = checkSource(rowKernel, "*fp32, *fp32, i32, i32", {4, 1, 1},
                                {&x, &out, int64_t(1073741824), int64_t(4)});
  // Rows 2 and 3 are 2147483648 and 3221225472; row 1 does fit and lies outside.
  ASSERT_EQ(checked.reports.size(), 2u) << checked.text();
  EXPECT_EQ(checked.reports[0].diagnostic.code, "E0801");
  EXPECT_EQ(checked.reports[0].occurrences, 1u);
  const Diagnostic &diagnostic = checked.reports[1].diagnostic;
  EXPECT_EQ(diagnostic.code, "E0805");
  EXPECT_EQ(diagnostic.message, "address arithmetic overflows: 2 * 1073741824 is 2147483648, which "
                                "does not fit i32");
  EXPECT_EQ(diagnostic.range.line, checked.markedLine);
  EXPECT_EQ(checked.reports[1].occurrences, 2u);
}

TEST(CheckOverflow, MaskedElementsMayWrap) {
  auto x = floats(4), out = floats(4);
  expectClean(checkSource(rowKernel, "*fp32, *fp32, i32, i32", {4, 1, 1},
                          {&x, &out, int64_t(1073741824), int64_t(1)}));
}

TEST(CheckOverflow, A64BitProductFits) {
  auto x = floats(4), out = floats(4);
  std::string wide = rowKernel;
  wide.replace(wide.find("row * stride"), 12, "row.to(tl.int64) * stride");
  Checked checked = checkSource(wide, "*fp32, *fp32, i32, i32", {4, 1, 1},
                                {&x, &out, int64_t(1073741824), int64_t(4)});
  ASSERT_EQ(checked.reports.size(), 1u) << checked.text();
  EXPECT_EQ(checked.reports[0].diagnostic.code, "E0801"); // it is outside, but not by overflow
}

TEST(CheckOverflow, SumsCarriedByALoop) {
  auto x = floats(4), out = floats(1);
  Checked checked =
      checkSource(R"(
@triton.jit
def k(x, out, n, step):
    at = tl.arange(0, 4)
    total = tl.zeros((4,), tl.float32)
    for i in range(0, n):
        total += tl.load(x + at, mask=at < 0, other=0.0)
        at += step  # HERE
    total += tl.load(x + at)
    tl.store(out, tl.sum(total, axis=0))
)",
                  "*fp32, *fp32, i32, i32", {1, 1, 1}, {&x, &out, int64_t(2), int64_t(2147483645)});
  // Element 3 wraps in the first round, which makes it negative and loads it in the second; then
  // all four are wrapped and loaded.
  expectOnly(checked, "E0805",
             "address arithmetic overflows: 3 + 2147483645 is 2147483648, which does not fit i32");
  EXPECT_EQ(checked.only().occurrences, 5u);
}

TEST(CheckOverflow, HashesMayWrap) {
  auto x = floats(8), out = floats(8);
  expectClean(checkSource(R"(
@triton.jit
def k(x, out):
    at = tl.arange(0, 8)
    hashed = (at * 1103515245 + 2147483647) & 7
    tl.store(out + at, tl.load(x + hashed))
)",
                          "*fp32, *fp32", {1, 1, 1}, {&x, &out}));
}

TEST(CheckOverflow, RandomNumbersMayWrap) {
  auto out = floats(8);
  expectClean(checkSource(R"(
@triton.jit
def k(out):
    at = tl.arange(0, 8)
    tl.store(out + at, tl.rand(7, at))
)",
                          "*fp32", {1, 1, 1}, {&out}));
}

const char *sumKernel = R"(
@triton.jit
def k(x, out, n, GIVES: tl.constexpr):
    at = tl.arange(0, 8)
    if GIVES:
        value = tl.load(x + at, mask=at < n, other=0.0)
    else:
        value = tl.load(x + at, mask=at < n)  # HERE
    tl.store(out, tl.sum(value, axis=0))
)";

TEST(CheckUndefined, MaskedOffElementsInASum) {
  auto x = floats(8), out = floats(1);
  Checked checked =
      checkSource(sumKernel, "*fp32, *fp32, i32, False", {1, 1, 1}, {&x, &out, int64_t(5)});
  expectOnly(checked, "E0806",
             "an element that the mask keeps from being loaded is used, and the load says no "
             "'other'");
  const std::string &note = checked.only().diagnostic.notes[1];
  EXPECT_EQ(note.substr(0, 25), "the result is stored, at ");
  EXPECT_EQ(note.substr(note.rfind(':')), ":" + std::to_string(checked.markedLine + 1));
}

TEST(CheckUndefined, OtherAndFullMasksAreFine) {
  auto x = floats(8), out = floats(1);
  expectClean(checkSource(sumKernel, "*fp32, *fp32, i32, True", {1, 1, 1}, {&x, &out, int64_t(5)}));
  EXPECT_EQ(out.at(0), 10);
  expectClean(
      checkSource(sumKernel, "*fp32, *fp32, i32, False", {1, 1, 1}, {&x, &out, int64_t(8)}));
}

TEST(CheckUndefined, ElementsThatAreDroppedAreFine) {
  auto x = floats(64), out = floats(64);
  expectClean(checkSource(R"(
@triton.jit
def k(x, out, n):
    rows = tl.arange(0, 8)
    cols = tl.arange(0, 8)
    inside = (rows[:, None] < n) & (cols[None, :] < n)
    at = rows[:, None] * 8 + cols[None, :]
    value = tl.load(x + at, mask=inside)
    kept = tl.where(inside, value, 0.0)
    tl.store(out + at, tl.trans(tl.trans(value)) + tl.sum(kept, axis=1)[:, None], mask=inside)
    positive = (value > 0) & inside
    tl.store(out + at, kept, mask=positive)
    again = tl.reshape(value, (64,))
    tl.store(out + tl.arange(0, 64), again, mask=tl.reshape(inside, (64,)))
)",
                          "*fp32, *fp32, i32", {1, 1, 1}, {&x, &out, int64_t(5)}));
}

TEST(CheckUndefined, ThroughShapesAndAcrossRows) {
  auto x = floats(64), out = floats(8);
  Checked checked = checkSource(R"(
@triton.jit
def k(x, out, n):
    rows = tl.arange(0, 8)
    at = rows[:, None] * 8 + tl.arange(0, 8)[None, :]
    value = tl.load(x + at, mask=rows[:, None] < n)  # HERE
    doubled = tl.trans(value + value)
    tl.store(out + rows, tl.max(doubled, axis=0))
)",
                                "*fp32, *fp32, i32", {1, 1, 1}, {&x, &out, int64_t(6)});
  expectOnly(checked, "E0806",
             "an element that the mask keeps from being loaded is used, and the load says no "
             "'other'");
  EXPECT_EQ(checked.only().occurrences, 2u); // rows 6 and 7
  EXPECT_EQ(checked.only().diagnostic.notes[1].substr(0, 51),
            "the result is stored at element [6] of the tile, at");
}

TEST(CheckUndefined, TheRestOfAMatrixProduct) {
  const std::string kernel = R"(
@triton.jit
def k(x, y, out, n, depth, GIVES: tl.constexpr):
    rows = tl.arange(0, 16)
    inside = rows < depth
    if GIVES:
        left = tl.load(x + rows[:, None] * depth + rows[None, :],
                       mask=(rows[:, None] < n) & inside[None, :], other=0.0)
    else:
        left = tl.load(x + rows[:, None] * depth + rows[None, :],  # HERE
                       mask=(rows[:, None] < n) & inside[None, :])
    right = tl.load(y + rows[:, None] * 16 + rows[None, :], mask=inside[:, None])
    product = tl.dot(left, right, input_precision="ieee")
    tl.store(out + rows[:, None] * 16 + rows[None, :], product, mask=rows[:, None] < n)
)";
  auto x = floats(10 * 16), y = floats(16 * 16), out = floats(16 * 16);
  // 10 rows; of the depth only 12 or all 16.
  Checked checked = checkSource(kernel, "*fp32, *fp32, *fp32, i32, i32, False", {1, 1, 1},
                                {&x, &y, &out, int64_t(10), int64_t(12)});
  expectOnly(checked, "E0806",
             "an element that the mask keeps from being loaded is used, and the load says no "
             "'other'");
  EXPECT_EQ(checked.only().occurrences, 160u);
  expectClean(checkSource(kernel, "*fp32, *fp32, *fp32, i32, i32, True", {1, 1, 1},
                          {&x, &y, &out, int64_t(10), int64_t(12)}));
  for (int64_t i = 0; i < 10 * 16; ++i) { // what is left is compared with what a target leaves
    EXPECT_TRUE(std::isfinite(out.as<float>()[i])) << i;
  }
  expectClean(checkSource(kernel, "*fp32, *fp32, *fp32, i32, i32, False", {1, 1, 1},
                          {&x, &y, &out, int64_t(10), int64_t(16)}));
}

TEST(CheckUndefined, AnIndexThatWasNotLoaded) {
  auto index = integers(4);
  auto x = floats(4), out = floats(4);
  const std::string kernel = R"(
@triton.jit
def k(index, x, out, n, SAME: tl.constexpr):
    at = tl.arange(0, 4)
    where = tl.load(index + at, mask=at < n)  # HERE
    value = tl.load(x + where, mask=at < (n if SAME else 4), other=0.0)
    tl.store(out + at, value)
)";
  expectClean(checkSource(kernel, "*i32, *fp32, *fp32, i32, True", {1, 1, 1},
                          {&index, &x, &out, int64_t(3)}));
  Checked checked = checkSource(kernel, "*i32, *fp32, *fp32, i32, False", {1, 1, 1},
                                {&index, &x, &out, int64_t(3)});
  expectOnly(checked, "E0806",
             "an element that the mask keeps from being loaded is used, and the load says no "
             "'other'");
}

const char *divideKernel = R"(
@triton.jit
def k(x, y, out, BOUND: tl.constexpr):
    at = tl.arange(0, 4)
    quotient = tl.load(x + at) // tl.load(y + at)  # HERE
    tl.store(out + at, quotient, mask=at < BOUND)
)";

TEST(CheckDivision, ByZeroInAStoredElement) {
  auto x = tensorOf<int32_t>(DType::I32, {8, 9, -10, 11});
  auto y = tensorOf<int32_t>(DType::I32, {2, 3, 0, 5});
  auto out = integers(4);
  Checked checked = checkSource(divideKernel, "*i32, *i32, *i32, 4", {1, 1, 1}, {&x, &y, &out});
  expectOnly(checked, "E0402", "integer division by zero");
  EXPECT_EQ(checked.only().diagnostic.notes[1], "the dividend is -10");
  expectClean(checkSource(divideKernel, "*i32, *i32, *i32, 2", {1, 1, 1}, {&x, &y, &out}));
}

TEST(CheckDivision, OfAScalarEndsTheLaunch) {
  auto out = integers(4);
  Checked checked = checkSource(R"(
@triton.jit
def k(out, n):
    tl.store(out, 10 % n)  # HERE
)",
                                "*i32, i32", {1, 1, 1}, {&out, int64_t(0)});
  expectOnly(checked, "E0402", "integer division by zero");
}

TEST(CheckAssertions, AFailedOne) {
  auto x = floats(4);
  const std::string kernel = R"(
@triton.jit
def k(x, n):
    at = tl.arange(0, 4)
    tl.device_assert(tl.load(x + at) < n, "too large")  # HERE
)";
  Checked checked = checkSource(kernel, "*fp32, i32", {1, 1, 1}, {&x, int64_t(3)});
  const Diagnostic &diagnostic = checked.only().diagnostic;
  EXPECT_EQ(diagnostic.code, "E0407");
  EXPECT_EQ(diagnostic.range.line, checked.markedLine);
  expectClean(checkSource(kernel, "*fp32, i32", {1, 1, 1}, {&x, int64_t(4)}));
}

TEST(CheckDeadlock, ALockThatNobodyReleases) {
  auto lock = integers(1);
  const std::string kernel = R"(
@triton.jit
def k(lock, RELEASES: tl.constexpr):
    while tl.atomic_cas(lock, 0, 1) == 1:  # HERE
        pass
    if RELEASES:
        tl.atomic_xchg(lock, 0)
)";
  Checked checked = checkSource(kernel, "*i32, False", {3, 1, 1}, {&lock});
  EXPECT_EQ(checked.only().diagnostic.code, "E0413");
  EXPECT_EQ(checked.only().diagnostic.range.line, checked.markedLine);
  auto free = integers(1);
  expectClean(checkSource(kernel, "*i32, True", {3, 1, 1}, {&free}));
}

TEST(CheckDeadlock, ABarrierOfTheGridNeedsAllProgramsAtOnce) {
  const std::string kernel = R"(
@triton.jit
def k(arrived, out):
    tl.atomic_add(arrived, 1)
    while tl.atomic_add(arrived, 0) < tl.num_programs(0):  # HERE
        pass
    tl.store(out + tl.program_id(0), 1.0)
)";
  auto arrived = integers(1);
  auto out = floats(4);
  expectClean(checkSource(kernel, "*i32, *fp32", {4, 1, 1}, {&arrived, &out}));
  arrived = integers(1);
  expectClean(
      checkSource(kernel, "*i32, *fp32", {4, 1, 1}, {&arrived, &out}, {.residentPrograms = 4}));
  arrived = integers(1);
  Checked checked =
      checkSource(kernel, "*i32, *fp32", {4, 1, 1}, {&arrived, &out}, {.residentPrograms = 3});
  EXPECT_EQ(checked.only().diagnostic.code, "E0413");
  EXPECT_EQ(checked.only().diagnostic.range.line, checked.markedLine);
}

} // namespace
} // namespace nereid::test
