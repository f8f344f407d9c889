// SPDX-License-Identifier: Apache-2.0
// Arguments that share memory: what is in place or interleaved is fine, what is shifted is not.
#include "CheckSource.h"

namespace nereid::test {
namespace {

runtime::Tensor part(const runtime::Tensor &whole, int64_t offset, int64_t count) {
  return std::get<runtime::Tensor>(whole.view(offset, {count}));
}

constexpr const char *addOne = R"(
@triton.jit
def k(x, out, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(out + at, tl.load(x + at) + 1)  # HERE
)";

TEST(CheckOverlaps, AShiftedOutput) {
  auto whole = floats(320);
  auto x = part(whole, 0, 256), out = part(whole, 64, 256);
  Checked checked = checkSource(addOne, "*fp32, *fp32, 256", {1, 1, 1}, {&x, &out});
  expectOnly(checked, "E0807",
             "'out' and 'x' overlap: writes bytes 0 to 3 of 'out' as element 0 of 256, where the "
             "program has read bytes 256 to 259 of 'x' as element 64 of 256");
  EXPECT_EQ(checked.only().occurrences, 192u);
  const auto &notes = checked.only().diagnostic.notes;
  const std::string line = ":" + std::to_string(checked.markedLine);
  EXPECT_NE(checked.text().find("the store is at "), std::string::npos) << checked.text();
  EXPECT_NE(checked.text().find(line + ", the load is at "), std::string::npos) << checked.text();
  EXPECT_NE(checked.text().find("in memory bytes 0 to 767 of 'out' are bytes 256 to 1023 of 'x'"),
            std::string::npos)
      << checked.text();
  EXPECT_GE(notes.size(), 3u);
}

TEST(CheckOverlaps, AnotherProgramsElements) {
  auto whole = floats(320);
  auto x = part(whole, 0, 256), out = part(whole, 64, 256);
  Checked checked = checkSource(addOne, "*fp32, *fp32, 64", {4, 1, 1}, {&x, &out});
  expectOnly(checked, "E0807",
             "'x' and 'out' overlap: reads bytes 256 to 259 of 'x' as element 0 of 64, where "
             "program (0, 0, 0) has written bytes 0 to 3 of 'out' as element 0 of 64");
}

TEST(CheckOverlaps, InPlace) {
  auto x = floats(256);
  expectClean(checkSource(addOne, "*fp32, *fp32, 64", {4, 1, 1}, {&x, &x}));
}

/// A turn stores what the next one loads, at the same position of the tiles.
TEST(CheckOverlaps, AProductsOperandsAreLoadedAhead) {
  const std::string source = R"(
@triton.jit
def k(x, out, sums, PRODUCT: tl.constexpr, WAITS: tl.constexpr):
    i = tl.arange(0, 16)
    at = i[:, None] * 16 + i[None, :]
    acc = tl.zeros((16, 16), dtype=tl.float32)
    for turn in range(3):
        tile = tl.load(x + turn * 256 + at)  # HERE
        if PRODUCT:
            acc = tl.dot(tile, tile, acc)
        tl.store(out + turn * 256 + at, tile + 1)
        if WAITS:
            tl.debug_barrier()
    tl.store(sums + at, acc)
)";
  auto whole = floats(4 * 256), sums = floats(256);
  auto x = part(whole, 0, 768), next = part(whole, 256, 768);
  auto check = [&](int64_t product, int64_t waits, const runtime::Tensor &out) {
    return checkSource(
        source, "*fp32, *fp32, *fp32, " + std::to_string(product) + ", " + std::to_string(waits),
        {1, 1, 1}, {&x, &out, &sums});
  };
  Checked checked = check(1, 0, next);
  expectOnly(
      checked, "E0807",
      "'x' and 'out' overlap: reads bytes 1024 to 1027 of 'x' as element 0 of 256, where the "
      "program has written bytes 0 to 3 of 'out' as element 0 of 256");
  EXPECT_EQ(checked.only().occurrences, 512u);
  expectClean(check(0, 0, next));
  expectClean(check(1, 1, next));
  expectClean(check(1, 0, x)); // in place
}

TEST(CheckOverlaps, NeighboursAndViewsThatOnlyTouch) {
  auto whole = floats(512);
  auto x = part(whole, 0, 256), out = part(whole, 256, 256);
  expectClean(checkSource(addOne, "*fp32, *fp32, 64", {4, 1, 1}, {&x, &out}));
  expectClean(checkSource(addOne, "*fp32, *fp32, 64", {4, 1, 1}, {&out, &x}));
}

/// Rows of q, k and v in one tensor, as a projection leaves them; q and k are rotated in place.
TEST(CheckOverlaps, InterleavedViews) {
  auto whole = floats(8 * 48);
  auto view = [&](int64_t offset) {
    return std::get<runtime::Tensor>(whole.view(offset, {8, 16}, {48, 1}));
  };
  auto q = view(0), key = view(16), v = view(32);
  expectClean(checkSource(R"(
@triton.jit
def k(q, key, v, out, stride):
    row = tl.program_id(0) * stride
    at = tl.arange(0, 8)
    for p in tl.static_range(2):
        x = q if p == 0 else key
        left = tl.load(x + row + at)
        right = tl.load(x + row + 8 + at)
        tl.store(x + row + at, left - right)
        tl.store(x + row + 8 + at, left + right)
    full = tl.arange(0, 16)
    tl.store(out + row + full, tl.load(v + row + full) + tl.sum(tl.load(q + row + full), 0))
)",
                          "*fp32, *fp32, *fp32, *fp32, i32", {8, 1, 1},
                          {&q, &key, &v, &v, int64_t{48}}));
}

TEST(CheckOverlaps, ATransposeInPlace) {
  auto x = floats(64);
  Checked checked = checkSource(R"(
@triton.jit
def k(x, out):
    i = tl.arange(0, 8)
    tl.store(out + i[None, :] * 8 + i[:, None], tl.load(x + i[:, None] * 8 + i[None, :]))  # HERE
)",
                                "*fp32, *fp32", {1, 1, 1}, {&x, &x});
  expectOnly(checked, "E0807",
             "'out' and 'x' overlap: writes bytes 32 to 35 of 'out' as element 1 of 64, where the "
             "program has read bytes 32 to 35 of 'x' as element 8 of 64");
  EXPECT_EQ(checked.only().occurrences, 56u);
}

TEST(CheckOverlaps, AStencilInPlace) {
  for (const char *sum : {"left + middle", "middle + left"}) {
    auto x = floats(65);
    std::string source = std::string(R"(
@triton.jit
def k(x, out):
    at = tl.arange(0, 64)
    left = tl.load(x + at)
    middle = tl.load(x + at + 1)
    tl.store(out + at + 1, )") +
                         sum + ")  # HERE\n";
    Checked checked = checkSource(source, "*fp32, *fp32", {1, 1, 1}, {&x, &x});
    EXPECT_EQ(checked.only().diagnostic.code, "E0807") << sum;
    EXPECT_EQ(checked.only().occurrences, 63u) << sum;
  }
}

/// As many programs as rows, each with a row of its own.
TEST(CheckOverlaps, ABarrierOrdersOneProgram) {
  const std::string source = R"(
@triton.jit
def k(x, out, WAITS: tl.constexpr):
    at = tl.program_id(0) * 128 + tl.arange(0, 32)
    y = tl.load(x + at) + 1
    if WAITS:
        tl.debug_barrier()
    tl.store(out + at, y)  # HERE
)";
  auto whole = floats(512);
  auto x = part(whole, 0, 448), out = part(whole, 16, 448);
  Checked checked = checkSource(source, "*fp32, *fp32, False", {4, 1, 1}, {&x, &out});
  EXPECT_EQ(checked.only().diagnostic.code, "E0807");
  EXPECT_EQ(checked.only().occurrences, 64u);
  expectClean(checkSource(source, "*fp32, *fp32, True", {4, 1, 1}, {&x, &out}));
}

TEST(CheckOverlaps, ABarrierOrdersNoOtherProgram) {
  auto whole = floats(320);
  auto x = part(whole, 0, 256), out = part(whole, 64, 256);
  Checked checked = checkSource(R"(
@triton.jit
def k(x, out):
    at = tl.program_id(0) * 64 + tl.arange(0, 64)
    y = tl.load(x + at)  # HERE
    tl.debug_barrier()
    tl.store(out + at, y)
)",
                                "*fp32, *fp32", {4, 1, 1}, {&x, &out});
  EXPECT_EQ(checked.only().diagnostic.code, "E0807");
}

TEST(CheckOverlaps, ARowThatIsReducedFirst) {
  auto x = floats(64);
  expectClean(checkSource(R"(
@triton.jit
def k(x, out):
    at = tl.arange(0, 64)
    row = tl.load(x + at)
    e = tl.exp(row - tl.max(row, 0))
    tl.store(out + at, e / tl.sum(e, 0))
)",
                          "*fp32, *fp32", {1, 1, 1}, {&x, &x}));
  // The statistics come from a tile of another shape.
  expectClean(checkSource(R"(
@triton.jit
def k(x, out):
    i = tl.arange(0, 8)
    mean = tl.sum(tl.sum(tl.load(x + i[None, :] * 8 + i[:, None]), 1), 0) / 64
    at = tl.arange(0, 64)
    tl.store(out + at, tl.load(x + at) - mean)
)",
                          "*fp32, *fp32", {1, 1, 1}, {&x, &x}));
}

/// The reduction does not help an element that is stored where another one was loaded.
TEST(CheckOverlaps, AReducedRowThatIsShifted) {
  auto whole = floats(80);
  auto x = part(whole, 0, 64), out = part(whole, 16, 64);
  Checked checked = checkSource(R"(
@triton.jit
def k(x, out):
    at = tl.arange(0, 64)
    row = tl.load(x + at)
    tl.store(out + at, row - tl.max(row, 0))  # HERE
)",
                                "*fp32, *fp32", {1, 1, 1}, {&x, &out});
  EXPECT_EQ(checked.only().diagnostic.code, "E0807");
  EXPECT_EQ(checked.only().occurrences, 48u);
}

TEST(CheckOverlaps, AProductThatBeginsInsideItsFactor) {
  auto whole = floats(512), b = floats(256);
  auto a = part(whole, 0, 256), c = part(whole, 128, 256);
  Checked checked = checkSource(R"(
@triton.jit
def k(a, b, c):
    i = tl.arange(0, 16)
    at = i[:, None] * 16 + i[None, :]
    acc = tl.dot(tl.load(a + at), tl.load(b + at))
    tl.store(c + at, acc)  # HERE
)",
                                "*fp32, *fp32, *fp32", {1, 1, 1}, {&a, &b, &c});
  EXPECT_EQ(checked.only().diagnostic.code, "E0807");
  EXPECT_EQ(checked.only().occurrences, 128u);
}

/// Each iteration loads rows of the one before again: that does not make the earlier loads agree.
TEST(CheckOverlaps, AProductWhoseRowsAreLoadedAgain) {
  auto whole = floats(512), b = floats(1280);
  auto a = part(whole, 0, 512), c = part(whole, 64, 256);
  Checked checked = checkSource(R"(
@triton.jit
def k(a, b, c):
    i = tl.arange(0, 16)
    at = i[:, None] * 16 + i[None, :]
    acc = tl.zeros((16, 16), tl.float32)
    for step in range(5):
        acc += tl.dot(tl.load(a + at + step * 16), tl.load(b + at + step * 256))
    tl.store(c + at, acc)  # HERE
)",
                                "*fp32, *fp32, *fp32", {1, 1, 1}, {&a, &b, &c});
  EXPECT_EQ(checked.only().diagnostic.code, "E0807");
}

TEST(CheckOverlaps, AColumnUnderARow) {
  auto x = floats(64);
  Checked checked = checkSource(R"(
@triton.jit
def k(x, out):
    i = tl.arange(0, 8)
    tl.store(out + i[:, None] * 8 + i[None, :], tl.load(x + i[:, None]) + i[None, :])  # HERE
)",
                                "*fp32, *fp32", {1, 1, 1}, {&x, &x});
  EXPECT_EQ(checked.only().diagnostic.code, "E0807");
}

TEST(CheckOverlaps, OtherWidths) {
  auto whole = integers(64);
  auto narrow = runtime::Tensor::borrow(whole.data(), {128}, DType::I16);
  Checked checked = checkSource(R"(
@triton.jit
def k(x, out):
    at = tl.arange(0, 64)
    tl.store(out + at, tl.load(x + at).to(tl.int16))  # HERE
)",
                                "*i32, *i16", {1, 1, 1}, {&whole, &narrow});
  EXPECT_EQ(checked.only().diagnostic.code, "E0807");
}

/// Scalars are read when it is their turn, and stored likewise.
TEST(CheckOverlaps, Scalars) {
  auto x = floats(64);
  expectClean(checkSource(R"(
@triton.jit
def k(x, out):
    first = tl.load(x + 5)
    tl.store(out + tl.arange(0, 64), first)
    tl.store(x + 7, first + 1)
)",
                          "*fp32, *fp32", {1, 1, 1}, {&x, &x}));
}

constexpr const char *handOver = R"(
@triton.jit
def k(data, same, flag):
    if tl.program_id(0) == 0:
        tl.store(data, 3.0)
        tl.atomic_add(flag, 1{0})
    else:
        while tl.atomic_add(flag, 0{0}) == 0:
            pass
        tl.store(data + 1, tl.load(same) + 1)
)";

std::string handOverWith(const std::string &semantics) {
  std::string source = handOver;
  for (size_t at = source.find("{0}"); at != std::string::npos; at = source.find("{0}")) {
    source.replace(at, 3, semantics);
  }
  return source;
}

TEST(CheckOverlaps, AnAtomicOrdersTwoPrograms) {
  auto data = floats(2);
  auto flag = integers(1);
  expectClean(
      checkSource(handOverWith(""), "*fp32, *fp32, *i32", {2, 1, 1}, {&data, &data, &flag}));
  flag = integers(1);
  Checked relaxed = checkSource(handOverWith(", sem='relaxed'"), "*fp32, *fp32, *i32", {2, 1, 1},
                                {&data, &data, &flag});
  EXPECT_EQ(relaxed.only().diagnostic.code, "E0807");
}

} // namespace
} // namespace nereid::test
