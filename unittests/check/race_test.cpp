// SPDX-License-Identifier: Apache-2.0
// Races between programs, and the patterns of synchronisation that have none.
#include "CheckSource.h"

namespace nereid::test {
namespace {

TEST(CheckRaces, TwoProgramsStoreToOneElement) {
  auto out = floats(8);
  Checked checked = checkSource(R"(
@triton.jit
def k(out):
    at = tl.program_id(0) * 3 + tl.arange(0, 4)
    tl.store(out + at, tl.program_id(0) + 5.0)  # HERE
)",
                                "*fp32", {2, 1, 1}, {&out});
  expectOnly(checked, "E0803",
             "race: writes byte 12 of 'out', which program (0, 0, 0) writes with nothing that "
             "orders the two");
  EXPECT_EQ(checked.only().occurrences, 1u);
  const auto &notes = checked.only().diagnostic.notes;
  ASSERT_EQ(notes.size(), 3u);
  EXPECT_EQ(notes[0], "in program (1, 0, 0) of the grid (2, 1, 1)");
  EXPECT_EQ(notes[1].substr(notes[1].rfind(':')), ":" + std::to_string(checked.markedLine));
  EXPECT_EQ(notes[2], "it stores 6 where 5 is");
}

TEST(CheckRaces, DisjointStoresAndSharedLoadsAreFine) {
  auto x = floats(8), out = floats(8);
  expectClean(checkSource(R"(
@triton.jit
def k(x, out):
    at = tl.program_id(0) * 4 + tl.arange(0, 4)
    tl.store(out + at, tl.load(x + at) + tl.load(x))
)",
                          "*fp32, *fp32", {2, 1, 1}, {&x, &out}));
}

TEST(CheckRaces, AProgramReadsItsNeighboursResult) {
  auto out = floats(8);
  Checked checked = checkSource(R"(
@triton.jit
def k(out):
    pid = tl.program_id(0)
    tl.store(out + pid, 1.0)
    value = tl.load(out + pid - 1, mask=pid > 0, other=0.0)  # HERE
    tl.store(out + 4 + pid, value)
)",
                                "*fp32", {4, 1, 1}, {&out});
  expectOnly(checked, "E0803",
             "race: reads byte 0 of 'out', which program (0, 0, 0) writes with nothing that orders "
             "the two");
  EXPECT_EQ(checked.only().occurrences, 3u);
  EXPECT_EQ(checked.only().programs, 3u);
}

TEST(CheckRaces, OverlapOfDifferentWidths) {
  auto out = integers(2);
  Checked checked = checkSource(R"(
@triton.jit
def k(out):
    if tl.program_id(0) == 0:
        tl.store(out, 1)
    else:
        narrow = out.to(tl.pointer_type(tl.int16))
        tl.store(narrow + 2, 2)
        tl.store(narrow + 1, 3)  # HERE
)",
                                "*i32", {2, 1, 1}, {&out});
  expectOnly(checked, "E0803",
             "race: writes byte 2 of 'out', which program (0, 0, 0) writes with nothing that "
             "orders the two");
}

TEST(CheckRaces, AtomicsDoNotRaceWithEachOther) {
  auto out = integers(4);
  expectClean(checkSource(R"(
@triton.jit
def k(out):
    tl.atomic_add(out + tl.arange(0, 4), 1, sem="relaxed")
)",
                          "*i32", {8, 1, 1}, {&out}));
  EXPECT_EQ(out.at(3), 8);
}

TEST(CheckRaces, AnAtomicRacesWithAPlainStore) {
  auto out = integers(4);
  Checked checked = checkSource(R"(
@triton.jit
def k(out):
    if tl.program_id(0) == 0:
        tl.atomic_add(out, 1)
    else:
        tl.store(out, 7)  # HERE
)",
                                "*i32", {2, 1, 1}, {&out});
  expectOnly(checked, "E0803",
             "race: writes byte 0 of 'out', which program (0, 0, 0) writes with nothing that "
             "orders the two");
  const std::string &note = checked.only().diagnostic.notes[1];
  EXPECT_NE(note.find(", an atomic one"), std::string::npos) << note;
}

/// The last program to finish sums what all have stored, then leaves the counter as it was.
const char *lastBlockKernel = R"(
@triton.jit
def k(partial, counter, out, N: tl.constexpr, SEM: tl.constexpr):
    pid = tl.program_id(0)
    tl.store(partial + pid, pid + 1.0)
    before = tl.atomic_add(counter, 1, sem=SEM)
    if before == N - 1:
        total = tl.sum(tl.load(partial + tl.arange(0, N)), axis=0)  # HERE
        tl.store(out, total)
)";

TEST(CheckRaces, ACounterOfFinishedProgramsOrders) {
  for (const char *schedule : {"in-order", "round-robin", "random"}) {
    auto partial = floats(8), out = floats(1);
    auto counter = integers(1);
    expectClean(checkSource(lastBlockKernel, "*fp32, *i32, *fp32, 8, 'acq_rel'", {8, 1, 1},
                            {&partial, &counter, &out},
                            {.emptyTensors = {"partial", "out"}, .schedule = schedule}));
    EXPECT_EQ(out.at(0), 36);
  }
}

TEST(CheckRaces, ARelaxedCounterDoesNotOrder) {
  auto partial = floats(8), out = floats(1);
  auto counter = integers(1);
  Checked checked = checkSource(lastBlockKernel, "*fp32, *i32, *fp32, 8, 'relaxed'", {8, 1, 1},
                                {&partial, &counter, &out});
  expectOnly(checked, "E0803",
             "race: reads byte 0 of 'partial', which program (0, 0, 0) writes with nothing that "
             "orders the two");
  EXPECT_EQ(checked.only().occurrences, 7u);
}

/// Reads, adds and writes back; with TAKES under a lock.
const char *lockKernel = R"(
@triton.jit
def k(lock, out, TAKES: tl.constexpr):
    if TAKES:
        while tl.atomic_cas(lock, 0, 1) == 1:
            pass
    value = tl.load(out)
    tl.store(out, value + 1)
    if TAKES:
        tl.atomic_xchg(lock, 0)
)";

TEST(CheckRaces, ASpinLockOrders) {
  for (const char *schedule : {"in-order", "round-robin", "random"}) {
    auto out = floats(1);
    auto lock = integers(1);
    expectClean(checkSource(lockKernel, "*i32, *fp32, True", {6, 1, 1}, {&lock, &out},
                            {.schedule = schedule, .seed = 3}));
    EXPECT_EQ(out.at(0), 6);
  }
}

TEST(CheckRaces, WithoutTheLockEveryLineRaces) {
  auto out = floats(1);
  auto lock = integers(1);
  Checked checked = checkSource(lockKernel, "*i32, *fp32, False", {6, 1, 1}, {&lock, &out});
  ASSERT_EQ(checked.reports.size(), 2u) << checked.text();
  EXPECT_EQ(checked.reports[0].diagnostic.code, "E0803");
  EXPECT_EQ(checked.reports[0].occurrences, 5u);
  EXPECT_EQ(checked.reports[1].diagnostic.code, "E0803");
}

/// Decoupled look-back: each program waits for the sum of the one before it.
const char *lookBackKernel = R"(
@triton.jit
def k(x, flags, sums, out, B: tl.constexpr):
    pid = tl.program_id(0)
    at = pid * B + tl.arange(0, B)
    value = tl.load(x + at)
    before = 0.0
    if pid > 0:
        while tl.atomic_add(flags + pid - 1, 0) == 0:
            pass
        before = tl.load(sums + pid - 1)
    tl.store(sums + pid, before + tl.sum(value, axis=0))
    tl.atomic_xchg(flags + pid, 1)
    tl.store(out + at, before + tl.cumsum(value, axis=0))
)";

TEST(CheckRaces, LookBackOrders) {
  for (const char *schedule : {"in-order", "round-robin", "random"}) {
    auto x = floats(16), sums = floats(4), out = floats(16);
    auto flags = integers(4);
    expectClean(checkSource(lookBackKernel, "*fp32, *i32, *fp32, *fp32, 4", {4, 1, 1},
                            {&x, &flags, &sums, &out},
                            {.emptyTensors = {"sums", "out"}, .schedule = schedule, .seed = 1}));
    EXPECT_EQ(out.at(15), 120);
  }
}

/// The flag of the program before is read by a plain, a volatile or an uncached load.
const char *pollingKernel = R"(
@triton.jit
def k(flags, sums, out, KIND: tl.constexpr):
    pid = tl.program_id(0)
    tl.store(sums + pid, pid + 1.0)
    tl.atomic_xchg(flags + pid, 1, sem="release")
    before = tl.maximum(pid - 1, 0)
    if KIND == 0:
        flag = tl.load(flags + before)  # HERE
    elif KIND == 1:
        flag = tl.load(flags + before, volatile=True)
    else:
        flag = tl.load(flags + before, cache_modifier=".cv")
    if flag == 1:
        tl.store(out + pid, tl.load(sums + before))
)";

TEST(CheckRaces, AVolatileLoadAcquires) {
  for (const char *kind : {"1", "2"}) {
    auto sums = floats(2), out = floats(2);
    auto flags = integers(2);
    expectClean(checkSource(pollingKernel, std::string("*i32, *fp32, *fp32, ") + kind, {2, 1, 1},
                            {&flags, &sums, &out}));
    EXPECT_EQ(out.at(1), 1);
  }
}

TEST(CheckRaces, APlainLoadOfAFlagDoesNot) {
  auto sums = floats(2), out = floats(2);
  auto flags = integers(2);
  Checked checked =
      checkSource(pollingKernel, "*i32, *fp32, *fp32, 0", {2, 1, 1}, {&flags, &sums, &out});
  ASSERT_EQ(checked.reports.size(), 2u) << checked.text();
  EXPECT_EQ(checked.reports[0].diagnostic.code, "E0803");
  EXPECT_EQ(checked.reports[0].diagnostic.range.line, checked.markedLine);
  EXPECT_EQ(checked.reports[1].diagnostic.message,
            "race: reads byte 0 of 'sums', which program (0, 0, 0) writes with nothing that orders "
            "the two");
}

} // namespace
} // namespace nereid::test
