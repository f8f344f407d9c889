// SPDX-License-Identifier: Apache-2.0
// Accesses outside a pointer's own tensor, wherever the pointer came from, and reads of memory that
// holds no value.
#include "CheckSource.h"

namespace nereid::test {
namespace {

const char *copyKernel = R"(
@triton.jit
def copy(x, y, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + at, mask=at < n, other=0)  # HERE
    tl.store(y + at, value, mask=at < 10)
)";

TEST(CheckAccess, LoadBeyondTheEnd) {
  auto x = floats(5), y = floats(10);
  Checked checked =
      checkSource(copyKernel, "*fp32, *fp32, i32, 4", {3, 1, 1}, {&x, &y, int64_t(7)});
  expectOnly(checked, "E0801", "load reads outside 'x' at element [1] of the tile");
  const check::Report &report = checked.only();
  EXPECT_EQ(report.occurrences, 2u); // elements 5 and 6
  EXPECT_EQ(report.programs, 1u);
  ASSERT_EQ(report.diagnostic.notes.size(), 2u);
  EXPECT_EQ(report.diagnostic.notes[0], "in program (1, 0, 0) of the grid (3, 1, 1)");
  EXPECT_EQ(report.diagnostic.notes[1],
            "the address is at byte 20 of 'x', which has 20 bytes, and the element takes 4");
  EXPECT_EQ(report.diagnostic.lineText,
            "    value = tl.load(x + at, mask=at < n, other=0)  # HERE");
  // The rest went on, and what lies outside is not touched.
  EXPECT_EQ(y.at(4), 4);
  EXPECT_EQ(y.at(5), 0);
}

TEST(CheckAccess, LoadUpToTheEndIsFine) {
  auto x = floats(5), y = floats(10);
  expectClean(checkSource(copyKernel, "*fp32, *fp32, i32, 4", {3, 1, 1}, {&x, &y, int64_t(5)}));
}

TEST(CheckAccess, StoreBeforeTheStart) {
  auto y = floats(4);
  Checked checked = checkSource(R"(
@triton.jit
def k(y):
    tl.store(y - 2, 1.0)  # HERE
    tl.store(y + 3, 1.0)
)",
                                "*fp32", {1, 1, 1}, {&y});
  expectOnly(checked, "E0801", "store writes outside 'y'");
  EXPECT_EQ(checked.only().diagnostic.notes[1],
            "the address is 8 bytes before the start of 'y', which has 16 bytes, and the element "
            "takes 4");
}

/// Rows of 3 that are 5 apart: elements 3, 4, 8 and 9 of the memory are nobody's.
TEST(CheckAccess, GapsBetweenRowsAreOutside) {
  const char *kernel = R"(
@triton.jit
def k(x, y, columns, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    value = tl.load(x + tl.program_id(0) * 5 + at, mask=at < columns)  # HERE
    tl.store(y + tl.program_id(0) * 4 + at, value, mask=at < 3)
)";
  auto memory = floats(13), y = floats(12);
  auto x = runtime::Tensor::borrow(memory.data(), {3, 3}, DType::F32, {5, 1});
  expectClean(checkSource(kernel, "*fp32, *fp32, i32, 4", {3, 1, 1}, {&x, &y, int64_t(3)}));
  Checked checked = checkSource(kernel, "*fp32, *fp32, i32, 4", {2, 1, 1}, {&x, &y, int64_t(4)});
  expectOnly(checked, "E0801", "load reads outside 'x' at element [3] of the tile");
  EXPECT_EQ(checked.only().occurrences, 2u);
  EXPECT_EQ(checked.only().diagnostic.notes[1],
            "the address is at byte 12 of 'x', which has 52 bytes with the gaps between its rows, "
            "and in one of them, and the element takes 4");
}

TEST(CheckAccess, AnotherTensorsMemoryIsOutsideToo) {
  // One block of memory cut in two: the address behind x is a good one, of y.
  auto whole = floats(8);
  auto x = runtime::Tensor::borrow(whole.as<float>(), {4}, DType::F32);
  auto y = runtime::Tensor::borrow(whole.as<float>() + 4, {4}, DType::F32);
  Checked checked = checkSource(R"(
@triton.jit
def k(x, y):
    at = tl.arange(0, 4)
    tl.store(y + at, tl.load(x + at + 1))  # HERE
)",
                                "*fp32, *fp32", {1, 1, 1}, {&x, &y});
  expectOnly(checked, "E0801", "load reads outside 'x' at element [3] of the tile");
}

const char *chosenKernel = R"(
@triton.jit
def k(x, y, out, n):
    at = tl.arange(0, 4)
    both = tl.where(at < 2, x + at, y + at)
    moved = both
    for i in range(0, n):
        moved += 1
    tl.store(out + at, tl.load(moved))  # HERE
)";

TEST(CheckAccess, PointersKeepTheirTensorThroughSelectAndLoops) {
  auto x = floats(4), y = floats(5), out = floats(4);
  Checked checked =
      checkSource(chosenKernel, "*fp32, *fp32, *fp32, i32", {1, 1, 1}, {&x, &y, &out, int64_t(2)});
  expectOnly(checked, "E0801", "load reads outside 'y' at element [3] of the tile");
  EXPECT_EQ(checked.only().diagnostic.notes[1],
            "the address is at byte 20 of 'y', which has 20 bytes, and the element takes 4");
}

TEST(CheckAccess, SelectedPointersWithinTheirTensorsAreFine) {
  auto x = floats(4), y = floats(5), out = floats(4);
  expectClean(
      checkSource(chosenKernel, "*fp32, *fp32, *fp32, i32", {1, 1, 1}, {&x, &y, &out, int64_t(1)}));
  EXPECT_EQ(out.at(0), 1);
  EXPECT_EQ(out.at(3), 4);
}

const char *tableKernel = R"(
@triton.jit
def k(table, out, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    source = tl.load(table + tl.program_id(0)).to(tl.pointer_type(tl.float32))
    value = tl.load(source + at)  # HERE
    tl.store(out + tl.program_id(0) * BLOCK + at, value)
)";

TEST(CheckAccess, PointersLoadedFromATable) {
  auto a = floats(4), b = floats(4), out = floats(8);
  auto table = tensorOf<uint64_t>(
      DType::I64, {reinterpret_cast<uint64_t>(b.data()), reinterpret_cast<uint64_t>(a.data())});
  // The tensors the table points to are arguments, or the kernel must not touch them.
  const std::string body = std::string(tableKernel);
  const std::string withTensors =
      std::string(body).replace(body.find("table, out"), 10, "table, a, b, out");
  expectClean(
      checkSource(withTensors, "*i64, *fp32, *fp32, *fp32, 4", {2, 1, 1}, {&table, &a, &b, &out}));
  EXPECT_EQ(out.at(7), 3);
  Checked checked = checkSource(tableKernel, "*i64, *fp32, 4", {2, 1, 1}, {&table, &out});
  expectOnly(checked, "E0801", "load reads outside every tensor at element [0] of the tile");
  EXPECT_EQ(checked.only().occurrences, 8u);
}

TEST(CheckAccess, PointersKeepTheirTensorThroughIntegers) {
  const std::string kernel = R"(
@triton.jit
def k(x, out, BYTES: tl.constexpr):
    moved = (x.to(tl.int64) + BYTES).to(tl.pointer_type(tl.int16))
    tl.store(out, tl.load(moved.to(tl.pointer_type(tl.float32))))  # HERE
)";
  auto x = floats(3), out = floats(1);
  expectClean(checkSource(kernel, "*fp32, *fp32, 8", {1, 1, 1}, {&x, &out}));
  EXPECT_EQ(out.at(0), 2);
  Checked checked = checkSource(kernel, "*fp32, *fp32, 12", {1, 1, 1}, {&x, &out});
  expectOnly(checked, "E0801", "load reads outside 'x'");
}

TEST(CheckAccess, AtomicsAreCheckedToo) {
  auto x = integers(2);
  Checked checked = checkSource(R"(
@triton.jit
def k(x):
    tl.atomic_add(x + tl.arange(0, 4), 1)  # HERE
)",
                                "*i32", {1, 1, 1}, {&x});
  expectOnly(checked, "E0801", "atomic operation works outside 'x' at element [2] of the tile");
  EXPECT_EQ(x.at(1), 1);
}

const char *twiceKernel = R"(
@triton.jit
def k(out, FIRST: tl.constexpr):
    at = tl.arange(0, 4)
    tl.store(out + at, 1.0, mask=at < FIRST)
    value = tl.load(out + at)  # HERE
    tl.store(out + at, value + 1)
)";

TEST(CheckAccess, ReadOfMemoryWithoutContents) {
  auto out = floats(4);
  Checked checked =
      checkSource(twiceKernel, "*fp32, 3", {1, 1, 1}, {&out}, {.emptyTensors = {"out"}});
  expectOnly(checked, "E0802",
             "load reads memory of 'out' that holds no value yet at element [3] of the tile");
  EXPECT_EQ(checked.only().occurrences, 1u);
  EXPECT_EQ(checked.only().diagnostic.notes[1],
            "4 bytes of the 4 from byte 12 on were never written; 'out' has 16 bytes and came "
            "without contents");
}

TEST(CheckAccess, ReadOfWhatWasWrittenOrGivenIsFine) {
  auto out = floats(4);
  expectClean(checkSource(twiceKernel, "*fp32, 4", {1, 1, 1}, {&out}, {.emptyTensors = {"out"}}));
  expectClean(checkSource(twiceKernel, "*fp32, 3", {1, 1, 1}, {&out}));
}

TEST(CheckAccess, HalfWrittenElements) {
  auto out = tensorOf<int32_t>(DType::I32, {0, 0});
  Checked checked = checkSource(R"(
@triton.jit
def k(out):
    narrow = out.to(tl.pointer_type(tl.int16))
    tl.store(narrow, 7)
    value = tl.load(out)  # HERE
    tl.store(out + 1, value)
)",
                                "*i32", {1, 1, 1}, {&out}, {.emptyTensors = {"out"}});
  expectOnly(checked, "E0802", "load reads memory of 'out' that holds no value yet");
  EXPECT_EQ(checked.only().diagnostic.notes[1],
            "2 bytes of the 4 from byte 0 on were never written; 'out' has 8 bytes and came "
            "without contents");
}

} // namespace
} // namespace nereid::test
