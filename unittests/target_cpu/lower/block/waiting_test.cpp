// SPDX-License-Identifier: Apache-2.0
// Kernels whose programs wait for each other, compiled and launched on 1, 2 and 8 threads: which
// loops count as waiting, locks, flags, last-block counters, look-back scans, deadlocks.
#include "runtime/ThreadPool.h"
#include "unittests/target_cpu/LowerHarness.h"

#include <gtest/gtest.h>

#include <cstdlib>

using namespace nereid;
using namespace nereid::cpu::test;

namespace {

bool isBlocking(const LoweredKernel &kernel) {
  return kernel.loops.find("nereid.blocking") != std::string::npos;
}

runtime::LaunchError launchOn(int threads, const LoweredKernel &kernel, int64_t programs,
                              std::vector<uint64_t> slots) {
  runtime::Kernel loaded;
  loaded.info.name = "kernel";
  loaded.info.isBlocking = isBlocking(kernel);
  loaded.info.scratchBytes = kernel.scratchBytes;
  loaded.code = kernel.code;
  loaded.entry = kernel.entry;
  runtime::ThreadPool pool(threads);
  return runtime::launchPacked(loaded, {programs, 1, 1}, slots.data(), pool);
}

std::string kernelOf(const std::string &arguments, const std::string &body) {
  return "func.func @kernel(" + arguments + ") attributes {tile.kernel} {\n" + R"(
  %pid = tile.program_id 0
  %count = tile.num_programs 0
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %true = arith.constant true
)" + body +
         "\n  return\n}";
}

const std::string pointers = "%lock: !tile.ptr<i32>, %sum: !tile.ptr<i64>";

/// Takes the lock, adds the program id with a plain load and store, releases it.
const char *const spinLock = R"(
  scf.while : () -> () {
    %old = tile.atomic_cas %lock, %zero, %one : !tile.ptr<i32>, i32
    %taken = arith.cmpi eq, %old, %one : i32
    scf.condition(%taken)
  } do {
    scf.yield
  }
  %s = tile.load %sum : !tile.ptr<i64> -> i64
  %wide = arith.extsi %pid : i32 to i64
  %t = arith.addi %s, %wide : i64
  tile.store %sum, %t : !tile.ptr<i64>, i64
  %r = tile.atomic_rmw xchg %lock, %zero : !tile.ptr<i32>, i32
)";

/// Program i waits until flag i + 1 is set; LOAD reads %flag.
const char *const waitsForHigher = R"(
  %next = arith.addi %pid, %one : i32
  %isLast = arith.cmpi eq, %next, %count : i32
  %hasNext = arith.xori %isLast, %true : i1
  scf.if %hasNext {
    %p = tile.addptr %lock, %next : !tile.ptr<i32>, i32
    scf.while : () -> () {
      LOAD
      %wait = arith.cmpi eq, %flag, %zero : i32
      scf.condition(%wait)
    } do {
      scf.yield
    }
  }
  %o = tile.addptr %sum, %pid : !tile.ptr<i64>, i32
  %left = arith.subi %count, %pid : i32
  %wide = arith.extsi %left : i32 to i64
  tile.store %o, %wide : !tile.ptr<i64>, i64
  %own = tile.addptr %lock, %pid : !tile.ptr<i32>, i32
  %r = tile.atomic_rmw xchg %own, %one : !tile.ptr<i32>, i32
)";

std::string withLoad(std::string text, const std::string &load) {
  return text.replace(text.find("LOAD"), 4, load);
}

class Waiting : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Threads, Waiting, testing::Values(1, 2, 8));

TEST_P(Waiting, ASpinLockGuardsPlainMemory) {
  LoweredKernel kernel = lowerKernel(kernelOf(pointers, spinLock));
  ASSERT_EQ(kernel.error, "");
  ASSERT_TRUE(isBlocking(kernel));
  for (int repeat = 0; repeat < 1000; ++repeat) {
    int32_t lock = 0;
    int64_t sum = 0;
    auto error = launchOn(GetParam(), kernel, 50, {address(&lock), address(&sum)});
    ASSERT_FALSE(error) << error.message;
    ASSERT_EQ(sum, 49 * 50 / 2);
    ASSERT_EQ(lock, 0);
  }
}

TEST_P(Waiting, AHigherProgramIsWaitedFor) {
  for (const char *load :
       {"%flag = tile.atomic_rmw add %p, %zero : !tile.ptr<i32>, i32",
        "%flag = tile.load %p {isVolatile} : !tile.ptr<i32> -> i32",
        "%flag = tile.load %p : !tile.ptr<i32> -> i32",
        "%flag = tile.load %p mask %true : i1 {isVolatile} : !tile.ptr<i32> -> i32",
        "%flag = tile.atomic_cas %p, %one, %one : !tile.ptr<i32>, i32"}) {
    LoweredKernel kernel = lowerKernel(kernelOf(pointers, withLoad(waitsForHigher, load)));
    ASSERT_EQ(kernel.error, "");
    ASSERT_TRUE(isBlocking(kernel));
    for (int repeat = 0; repeat < 20; ++repeat) {
      std::vector<int32_t> flags(40);
      std::vector<int64_t> out(40);
      auto error = launchOn(GetParam(), kernel, 40, {address(flags.data()), address(out.data())});
      ASSERT_FALSE(error) << error.message;
      for (int64_t i = 0; i < 40; ++i) {
        ASSERT_EQ(out[static_cast<size_t>(i)], 40 - i) << load;
      }
    }
  }
}

/// A tile of flags is read again in every iteration until all are set.
TEST_P(Waiting, ATileOfFlagsIsReadAgain) {
  for (const char *isVolatile : {"", "{isVolatile} "}) {
    LoweredKernel kernel = lowerKernel(kernelOf(pointers, std::string(R"(
  %own = tile.addptr %lock, %pid : !tile.ptr<i32>, i32
  %r = tile.atomic_rmw xchg %own, %one : !tile.ptr<i32>, i32
  %i = tile.make_range 0 to 40 : tensor<40xi32>
  %ns = tile.splat %count : i32 -> tensor<40xi32>
  %mask = arith.cmpi slt, %i, %ns : tensor<40xi32>
  %other = arith.constant dense<1> : tensor<40xi32>
  %p0 = tile.splat %lock : !tile.ptr<i32> -> tensor<40x!tile.ptr<i32>>
  %ps = tile.addptr %p0, %i : tensor<40x!tile.ptr<i32>>, tensor<40xi32>
  scf.while : () -> () {
    %flags = tile.load %ps mask %mask : tensor<40xi1> other %other : tensor<40xi32> )") +
                                                              isVolatile + R"(
        : tensor<40x!tile.ptr<i32>> -> tensor<40xi32>
    %least = tile.reduce %flags axis 0 {
    ^bb0(%a: i32, %b: i32):
      %m = arith.minsi %a, %b : i32
      tile.combine_return %m : i32
    } : (tensor<40xi32>) -> i32
    %wait = arith.cmpi eq, %least, %zero : i32
    scf.condition(%wait)
  } do {
    scf.yield
  }
  %o = tile.addptr %sum, %pid : !tile.ptr<i64>, i32
  %wide = arith.extsi %one : i32 to i64
  tile.store %o, %wide : !tile.ptr<i64>, i64
)"));
    ASSERT_EQ(kernel.error, "");
    ASSERT_TRUE(isBlocking(kernel));
    std::vector<int32_t> flags(40);
    std::vector<int64_t> out(40);
    auto error = launchOn(GetParam(), kernel, 33, {address(flags.data()), address(out.data())});
    ASSERT_FALSE(error) << error.message;
    for (size_t i = 0; i < 40; ++i) {
      ASSERT_EQ(out[i], i < 33);
    }
  }
}

/// The program that counts last adds up what all have stored.
TEST_P(Waiting, TheLastBlockSeesEverything) {
  LoweredKernel kernel = lowerKernel(kernelOf(pointers + ", %parts: !tile.ptr<i64>", R"(
  %part = tile.addptr %parts, %pid : !tile.ptr<i64>, i32
  %wide = arith.extsi %pid : i32 to i64
  tile.store %part, %wide : !tile.ptr<i64>, i64
  %ticket = tile.atomic_rmw add %lock, %one : !tile.ptr<i32>, i32
  %last = arith.subi %count, %one : i32
  %isLast = arith.cmpi eq, %ticket, %last : i32
  scf.if %isLast {
    %i = tile.make_range 0 to 64 : tensor<64xi32>
    %p0 = tile.splat %parts : !tile.ptr<i64> -> tensor<64x!tile.ptr<i64>>
    %ps = tile.addptr %p0, %i : tensor<64x!tile.ptr<i64>>, tensor<64xi32>
    %x = tile.load %ps : tensor<64x!tile.ptr<i64>> -> tensor<64xi64>
    %s = tile.reduce %x axis 0 {
    ^bb0(%a: i64, %b: i64):
      %m = arith.addi %a, %b : i64
      tile.combine_return %m : i64
    } : (tensor<64xi64>) -> i64
    tile.store %sum, %s : !tile.ptr<i64>, i64
  }
)"));
  ASSERT_EQ(kernel.error, "");
  EXPECT_FALSE(isBlocking(kernel));
  for (int repeat = 0; repeat < 1000; ++repeat) {
    int32_t counter = 0;
    int64_t sum = 0;
    std::vector<int64_t> parts(64, -1000);
    auto error =
        launchOn(GetParam(), kernel, 64, {address(&counter), address(&sum), address(parts.data())});
    ASSERT_FALSE(error) << error.message;
    ASSERT_EQ(sum, 63 * 64 / 2);
  }
}

/// Decoupled look-back: state 1 carries a program's own sum, state 2 the sum of all before it too.
TEST_P(Waiting, ALookBackScan) {
  LoweredKernel kernel =
      lowerKernel(kernelOf("%status: !tile.ptr<i64>, %values: !tile.ptr<i32>, %out: !tile.ptr<i64>",
                           R"(
  %zero64 = arith.constant 0 : i64
  %two64 = arith.constant 2 : i64
  %bits = arith.constant 32 : i64
  %low = arith.constant 4294967295 : i64
  %own = arith.constant 4294967296 : i64
  %all = arith.constant 8589934592 : i64
  %vp = tile.addptr %values, %pid : !tile.ptr<i32>, i32
  %v = tile.load %vp : !tile.ptr<i32> -> i32
  %value = arith.extui %v : i32 to i64
  %sp = tile.addptr %status, %pid : !tile.ptr<i64>, i32
  %isFirst = arith.cmpi eq, %pid, %zero : i32
  %mark = arith.select %isFirst, %all, %own : i64
  %first = arith.ori %mark, %value : i64
  %r0 = tile.atomic_rmw xchg %sp, %first {sem = 2 : i32} : !tile.ptr<i64>, i64
  %start = arith.xori %isFirst, %true : i1
  %before = arith.subi %pid, %one : i32
  %r:3 = scf.while (%j = %before, %sum = %zero64, %go = %start)
      : (i32, i64, i1) -> (i32, i64, i1) {
    scf.condition(%go) %j, %sum, %go : i32, i64, i1
  } do {
  ^bb0(%j: i32, %sum: i64, %go: i1):
    %p = tile.addptr %status, %j : !tile.ptr<i64>, i32
    %s = tile.load %p {isVolatile} : !tile.ptr<i64> -> i64
    %state = arith.shrui %s, %bits : i64
    %carried = arith.andi %s, %low : i64
    %isKnown = arith.cmpi ne, %state, %zero64 : i64
    %isAll = arith.cmpi eq, %state, %two64 : i64
    %more = arith.addi %sum, %carried : i64
    %step = arith.extui %isKnown : i1 to i32
    %back = arith.subi %j, %step : i32
    %on = arith.xori %isAll, %true : i1
    scf.yield %back, %more, %on : i32, i64, i1
  }
  %total = arith.addi %r#1, %value : i64
  %done = arith.ori %all, %total : i64
  %r1 = tile.atomic_rmw xchg %sp, %done {sem = 2 : i32} : !tile.ptr<i64>, i64
  %op = tile.addptr %out, %pid : !tile.ptr<i64>, i32
  tile.store %op, %total : !tile.ptr<i64>, i64
)"));
  ASSERT_EQ(kernel.error, "");
  ASSERT_TRUE(isBlocking(kernel));
  for (int repeat = 0; repeat < 100; ++repeat) {
    std::vector<int64_t> status(500), out(500);
    std::vector<int32_t> values(500);
    for (size_t i = 0; i < 500; ++i) {
      values[i] = static_cast<int32_t>(i * 37 % 101);
    }
    auto error = launchOn(GetParam(), kernel, 500,
                          {address(status.data()), address(values.data()), address(out.data())});
    ASSERT_FALSE(error) << error.message;
    int64_t sum = 0;
    for (size_t i = 0; i < 500; ++i) {
      sum += values[i];
      ASSERT_EQ(out[i], sum);
    }
  }
}

/// Programs take tickets until none is left: nobody waits, and nothing is lost.
TEST_P(Waiting, AQueueOfTickets) {
  LoweredKernel kernel = lowerKernel(kernelOf(pointers, R"(
  %end = arith.constant 200 : i32
  %ticket0 = tile.atomic_rmw add %lock, %one : !tile.ptr<i32>, i32
  %last = scf.while (%ticket = %ticket0) : (i32) -> i32 {
    %more = arith.cmpi slt, %ticket, %end : i32
    scf.condition(%more) %ticket : i32
  } do {
  ^bb0(%ticket: i32):
    %p = tile.addptr %sum, %ticket : !tile.ptr<i64>, i32
    %wide = arith.extsi %one : i32 to i64
    %r = tile.atomic_rmw add %p, %wide : !tile.ptr<i64>, i64
    %next = tile.atomic_rmw add %lock, %one : !tile.ptr<i32>, i32
    scf.yield %next : i32
  }
)"));
  ASSERT_EQ(kernel.error, "");
  EXPECT_TRUE(isBlocking(kernel));
  int32_t lock = 0;
  std::vector<int64_t> out(200);
  auto error = launchOn(GetParam(), kernel, 7, {address(&lock), address(out.data())});
  ASSERT_FALSE(error) << error.message;
  EXPECT_EQ(lock, 207);
  EXPECT_EQ(out, std::vector<int64_t>(200, 1));
}

TEST_P(Waiting, ADeadlockIsAnError) {
  ::setenv("NEREID_DEADLOCK_SECONDS", "0.1", 1);
  // The lock is taken and never released.
  LoweredKernel kernel = lowerKernel(kernelOf(pointers, spinLock));
  int32_t lock = 1;
  int64_t sum = 0;
  auto error = launchOn(GetParam(), kernel, 50, {address(&lock), address(&sum)});
  ::unsetenv("NEREID_DEADLOCK_SECONDS");
  EXPECT_EQ(error.code, "E0413");
  EXPECT_NE(error.message.find("they wait at -:9"), std::string::npos) << error.message;
  EXPECT_EQ(sum, 0);
}

TEST(BlockingLoops, OnlyThoseThatDependOnMemory) {
  struct Row {
    const char *body;
    bool isWaiting;
  };
  const char *countsOnly = R"(
  %c10 = arith.constant 10 : i32
  %r = scf.while (%i = %zero) : (i32) -> i32 {
    %x = tile.load %lock : !tile.ptr<i32> -> i32
    tile.store %lock, %x : !tile.ptr<i32>, i32
    %more = arith.cmpi slt, %i, %c10 : i32
    scf.condition(%more) %i : i32
  } do {
  ^bb0(%i: i32):
    %next = arith.addi %i, %one : i32
    scf.yield %next : i32
  })";
  const char *carriedAround = R"(
  %r:2 = scf.while (%i = %zero, %seen = %zero) : (i32, i32) -> (i32, i32) {
    %more = arith.cmpi eq, %i, %zero : i32
    scf.condition(%more) %i, %seen : i32, i32
  } do {
  ^bb0(%i: i32, %seen: i32):
    %x = tile.load %lock : !tile.ptr<i32> -> i32
    scf.yield %seen, %x : i32, i32
  })";
  const char *insideABranch = R"(
  scf.while : () -> () {
    %odd = arith.andi %pid, %one : i32
    %isOdd = arith.cmpi eq, %odd, %one : i32
    %v = scf.if %isOdd -> i32 {
      %x = tile.load %lock : !tile.ptr<i32> -> i32
      scf.yield %x : i32
    } else {
      scf.yield %one : i32
    }
    %more = arith.cmpi eq, %v, %zero : i32
    scf.condition(%more)
  } do {
    scf.yield
  })";
  const char *addsInAFor = R"(
  %c10 = arith.constant 10 : i32
  scf.for %i = %zero to %c10 step %one : i32 {
    %x = tile.atomic_rmw add %lock, %one : !tile.ptr<i32>, i32
  })";
  const char *pollsInAFor = R"(
  %c10 = arith.constant 10 : i32
  %r = scf.for %i = %zero to %c10 step %one iter_args(%s = %zero) -> i32 : i32 {
    %x = tile.load %lock {isVolatile} : !tile.ptr<i32> -> i32
    %t = arith.addi %s, %x : i32
    scf.yield %t : i32
  })";
  for (auto [body, isWaiting] :
       {Row{countsOnly, false}, Row{carriedAround, true}, Row{insideABranch, true},
        Row{addsInAFor, false}, Row{pollsInAFor, true}}) {
    LoweredKernel kernel = lowerKernel(kernelOf(pointers, body));
    EXPECT_EQ(kernel.error, "") << body;
    EXPECT_EQ(isBlocking(kernel), isWaiting) << body;
    EXPECT_EQ(kernel.loops.find("call @nereid_rt_yield") != std::string::npos, isWaiting) << body;
  }
}

} // namespace
