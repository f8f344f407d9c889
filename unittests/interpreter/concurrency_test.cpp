// SPDX-License-Identifier: Apache-2.0
// Program instances that wait for each other, in every schedule: locks, flags of lower and of
// higher ids, and what is said when nobody can go on.
#include "RunKernel.h"

#include <algorithm>
#include <set>

namespace nereid::test {
namespace {

std::vector<InterpretOptions> allSchedules() {
  std::vector<InterpretOptions> all(2);
  all[1].schedule = Schedule::RoundRobin;
  for (uint64_t seed = 0; seed < 12; ++seed) {
    InterpretOptions random;
    random.schedule = Schedule::Random;
    random.seed = seed;
    all.push_back(random);
  }
  return all;
}

std::string nameOf(const InterpretOptions &options) {
  return "schedule " + std::to_string(static_cast<int>(options.schedule)) + ", seed " +
         std::to_string(options.seed);
}

std::string waitLoop(const std::string &body) {
  return "scf.while : () -> () {\n" + body + "\n  scf.condition(%busy)\n} do {\n  scf.yield\n}\n";
}

std::string kernel(const std::string &parameters, const std::string &body) {
  return "func.func @k(" + parameters +
         ") attributes {tile.kernel} {\n  %zero = arith.constant 0 : i32\n"
         "  %one = arith.constant 1 : i32\n  %id = tile.program_id 0\n" +
         body + "  return\n}";
}

const std::string increment = R"(
  %c = tile.load %count : !tile.ptr<i32> -> i32
  %d = arith.addi %c, %one : i32
  tile.store %count, %d : !tile.ptr<i32>, i32
)";

const std::string acquire = waitLoop(R"(
  %old = tile.atomic_cas %lock, %zero, %one : !tile.ptr<i32>, i32
  %busy = arith.cmpi ne, %old, %zero : i32)");

const std::string release = "%o = tile.atomic_rmw xchg %lock, %zero : !tile.ptr<i32>, i32\n";

const std::string lockParameters = "%lock: !tile.ptr<i32>, %count: !tile.ptr<i32>";

TEST(Concurrency, ASpinLockProtectsACounter) {
  for (const InterpretOptions &options : allSchedules()) {
    auto lock = tensorOf<int32_t>(DType::I32, {0}), count = tensorOf<int32_t>(DType::I32, {0});
    Diagnostics diags;
    EXPECT_TRUE(runText(kernel(lockParameters, acquire + increment + release), {3, 4, 5},
                        {&lock, &count}, diags, options))
        << nameOf(options) << diags.render();
    EXPECT_EQ(valuesOf<int32_t>(count)[0], 60) << nameOf(options);
    EXPECT_EQ(valuesOf<int32_t>(lock)[0], 0);
  }
}

TEST(Concurrency, WithoutTheLockIncrementsAreLost) {
  std::set<int32_t> results;
  for (const InterpretOptions &options : allSchedules()) {
    auto lock = tensorOf<int32_t>(DType::I32, {0}), count = tensorOf<int32_t>(DType::I32, {0});
    Diagnostics diags;
    EXPECT_TRUE(
        runText(kernel(lockParameters, increment), {8, 1, 1}, {&lock, &count}, diags, options));
    const int32_t counted = valuesOf<int32_t>(count)[0];
    results.insert(counted);
    if (options.schedule == Schedule::InOrder) {
      EXPECT_EQ(counted, 8);
    } else if (options.schedule == Schedule::RoundRobin) {
      EXPECT_EQ(counted, 1) << "all read 0 before the first one writes";
    }
  }
  EXPECT_GE(results.size(), 4u) << "the seeds give different orders";
}

/// Waits until the flag of program id + distance is set, then sets its own to id + 1.
std::string waitFor(int distance, const std::string &skipping) {
  return "%far = arith.constant " + std::to_string(distance) + R"( : i32
  %last = tile.num_programs 0
  %end = arith.subi %last, %one : i32
  %other = arith.addi %id, %far : i32
  %theirs = tile.addptr %flags, %other : !tile.ptr<i32>, i32
  %mine = tile.addptr %flags, %id : !tile.ptr<i32>, i32
  %isFree = arith.cmpi eq, %id, )" +
         skipping + R"( : i32
  scf.if %isFree {
  } else {
  )" + waitLoop(R"(
    %flag = tile.load %theirs {isVolatile} : !tile.ptr<i32> -> i32
    %busy = arith.cmpi eq, %flag, %zero : i32)") +
         R"(}
  %ticket = tile.atomic_rmw add %order, %one : !tile.ptr<i32>, i32
  %set = arith.addi %ticket, %one : i32
  tile.store %mine, %set : !tile.ptr<i32>, i32
)";
}

const std::string flagParameters = "%flags: !tile.ptr<i32>, %order: !tile.ptr<i32>";

TEST(Concurrency, ProgramsMayWaitForLowerAndForHigherIds) {
  for (const InterpretOptions &options : allSchedules()) {
    for (bool isHigher : {false, true}) {
      auto flags = tensorOf<int32_t>(DType::I32, std::vector<int32_t>(70, 0));
      auto order = tensorOf<int32_t>(DType::I32, {0});
      Diagnostics diags;
      EXPECT_TRUE(
          runText(kernel(flagParameters, waitFor(isHigher ? 1 : -1, isHigher ? "%end" : "%zero")),
                  {70, 1, 1}, {&flags, &order}, diags, options))
          << nameOf(options) << diags.render();
      std::vector<int32_t> expected(70);
      for (int i = 0; i < 70; ++i) {
        expected[i] = isHigher ? 70 - i : i + 1;
      }
      EXPECT_EQ(valuesOf<int32_t>(flags), expected) << nameOf(options);
    }
  }
}

TEST(Concurrency, TheSameSeedGivesTheSameOrder) {
  std::set<std::vector<int32_t>> orders;
  for (uint64_t seed = 0; seed < 10; ++seed) {
    std::vector<int32_t> first;
    for (int run = 0; run < 2; ++run) {
      auto flags = tensorOf<int32_t>(DType::I32, std::vector<int32_t>(12, 0));
      auto order = tensorOf<int32_t>(DType::I32, {0});
      InterpretOptions options;
      options.schedule = Schedule::Random;
      options.seed = seed;
      Diagnostics diags;
      EXPECT_TRUE(runText(kernel(flagParameters, R"(
        %mine = tile.addptr %flags, %id : !tile.ptr<i32>, i32
        %ticket = tile.atomic_rmw add %order, %one : !tile.ptr<i32>, i32
        tile.store %mine, %ticket : !tile.ptr<i32>, i32
      )"),
                          {12, 1, 1}, {&flags, &order}, diags, options));
      std::vector<int32_t> tickets = valuesOf<int32_t>(flags);
      EXPECT_TRUE(run == 0 || tickets == first) << seed;
      first = tickets;
      std::sort(tickets.begin(), tickets.end());
      EXPECT_EQ(std::unique(tickets.begin(), tickets.end()), tickets.end());
    }
    orders.insert(first);
  }
  EXPECT_GE(orders.size(), 8u);
}

TEST(Concurrency, APollingLoopThatCountsLetsOthersRun) {
  // Its values change with every iteration, so it never repeats itself.
  for (const InterpretOptions &options : allSchedules()) {
    auto flag = tensorOf<int32_t>(DType::I32, {0, 0, 0});
    Diagnostics diags;
    EXPECT_TRUE(runText(kernel("%flag: !tile.ptr<i32>", R"(
      %two = arith.constant 2 : i32
      %isLast = arith.cmpi eq, %id, %two : i32
      scf.if %isLast {
        tile.store %flag, %one : !tile.ptr<i32>, i32
      } else {
        %polls = scf.while (%n = %zero) : (i32) -> i32 {
          %f = tile.load %flag : !tile.ptr<i32> -> i32
          %busy = arith.cmpi eq, %f, %zero : i32
          scf.condition(%busy) %n : i32
        } do {
        ^bb0(%n: i32):
          %next = arith.addi %n, %one : i32
          scf.yield %next : i32
        }
        %o = tile.addptr %flag, %one : !tile.ptr<i32>, i32
        %a = tile.atomic_rmw add %o, %one : !tile.ptr<i32>, i32
      }
    )"),
                        {3, 1, 1}, {&flag}, diags, options))
        << nameOf(options) << diags.render();
    EXPECT_EQ(valuesOf<int32_t>(flag), (std::vector<int32_t>{1, 2, 0})) << nameOf(options);
  }
}

TEST(Concurrency, APollingLoopThatWritesLetsOthersRun) {
  for (const InterpretOptions &options : allSchedules()) {
    auto flag = tensorOf<int32_t>(DType::I32, {0, 0});
    Diagnostics diags;
    EXPECT_TRUE(runText(kernel("%flag: !tile.ptr<i32>", R"(
      %polls = tile.addptr %flag, %one : !tile.ptr<i32>, i32
      %isLast = arith.cmpi eq, %id, %one : i32
      scf.if %isLast {
        tile.store %flag, %one : !tile.ptr<i32>, i32
      } else {
    )" + waitLoop(R"(
        %n = tile.atomic_rmw add %polls, %one : !tile.ptr<i32>, i32
        %f = tile.load %flag : !tile.ptr<i32> -> i32
        %busy = arith.cmpi eq, %f, %zero : i32)") + "}\n"),
                        {2, 1, 1}, {&flag}, diags, options))
        << nameOf(options) << diags.render();
    EXPECT_GE(valuesOf<int32_t>(flag)[1], 1);
  }
}

Diagnostic failure(const std::string &text, runtime::Grid grid,
                   const std::vector<runtime::ArgumentValue> &arguments,
                   const InterpretOptions &options) {
  Diagnostics diags;
  EXPECT_FALSE(runText(text, grid, arguments, diags, options)) << nameOf(options);
  EXPECT_EQ(diags.all().size(), 1u) << diags.render();
  return diags.all().empty() ? Diagnostic() : diags.all()[0];
}

bool hasNote(const Diagnostic &diagnostic, const std::string &part) {
  return std::any_of(diagnostic.notes.begin(), diagnostic.notes.end(),
                     [&](const std::string &note) { return note.find(part) != note.npos; });
}

TEST(Deadlock, ALockThatIsNeverReleased) {
  for (const InterpretOptions &options : allSchedules()) {
    auto lock = tensorOf<int32_t>(DType::I32, {0}), count = tensorOf<int32_t>(DType::I32, {0});
    const Diagnostic found =
        failure(kernel(lockParameters, acquire + increment), {9, 1, 1}, {&lock, &count}, options);
    EXPECT_EQ(found.code, "E0413");
    EXPECT_EQ(found.message, "the grid cannot make progress: each of the 8 programs that has "
                             "started and not ended waits for memory to change");
    EXPECT_TRUE(hasNote(found, " and 4 more wait in the loop at -:5")) << render(found);
    EXPECT_EQ(valuesOf<int32_t>(count)[0], 1) << "the one that got the lock";
  }
}

TEST(Deadlock, TwoLocksInOppositeOrder) {
  // Program 0 takes the first lock, then the second; program 1 the other way round. In order they
  // come through, in turns they block each other; each waits at its second loop.
  const std::string text = kernel("%locks: !tile.ptr<i32>", R"(
    %other = arith.subi %one, %id : i32
    %lock = tile.addptr %locks, %id : !tile.ptr<i32>, i32
    %second = tile.addptr %locks, %other : !tile.ptr<i32>, i32
  )" + acquire + waitLoop(R"(
    %old = tile.atomic_cas %second, %zero, %one : !tile.ptr<i32>, i32
    %busy = arith.cmpi ne, %old, %zero : i32)") + release + R"(
    %p = tile.atomic_rmw xchg %second, %zero : !tile.ptr<i32>, i32
  )");
  auto locks = tensorOf<int32_t>(DType::I32, {0, 0});
  mustRun(text, {2, 1, 1}, {&locks});
  InterpretOptions turns;
  turns.schedule = Schedule::RoundRobin;
  const Diagnostic found = failure(text, {2, 1, 1}, {&locks}, turns);
  EXPECT_EQ(found.code, "E0413");
  EXPECT_TRUE(hasNote(found, "programs (0, 0, 0), (1, 0, 0) wait in the loop at -:17"))
      << render(found);
}

TEST(Deadlock, TooFewPlacesForAProgramThatOthersWaitFor) {
  const std::string text = kernel(flagParameters, waitFor(1, "%end"));
  for (InterpretOptions options : allSchedules()) {
    auto flags = tensorOf<int32_t>(DType::I32, std::vector<int32_t>(5, 0));
    auto order = tensorOf<int32_t>(DType::I32, {0});
    options.residentPrograms = 4;
    const Diagnostic found = failure(text, {5, 1, 1}, {&flags, &order}, options);
    EXPECT_EQ(found.code, "E0413");
    EXPECT_TRUE(hasNote(found, "1 program has not started, because only 4 may run at a time"))
        << render(found);
    options.residentPrograms = 5;
    Diagnostics diags;
    EXPECT_TRUE(runText(text, {5, 1, 1}, {&flags, &order}, diags, options)) << diags.render();
  }
}

TEST(Deadlock, AWaitingLoopThatAlternatesRepeatsItselfToo) {
  auto flag = tensorOf<int32_t>(DType::I32, {0});
  const Diagnostic found = failure(kernel("%flag: !tile.ptr<i32>", R"(
    %r = scf.while (%n = %zero) : (i32) -> i32 {
      %f = tile.load %flag : !tile.ptr<i32> -> i32
      %busy = arith.cmpi eq, %f, %zero : i32
      scf.condition(%busy) %n : i32
    } do {
    ^bb0(%n: i32):
      %three = arith.constant 3 : i32
      %m = arith.addi %n, %one : i32
      %next = arith.remui %m, %three : i32
      scf.yield %next : i32
    }
  )"),
                                   {1, 1, 1}, {&flag}, {});
  EXPECT_EQ(found.code, "E0413");
  EXPECT_EQ(found.message, "the grid cannot make progress: the only program that has started and "
                           "not ended waits for memory to change");
}

TEST(Concurrency, AnErrorEndsTheProgramsThatWait) {
  for (const InterpretOptions &options : allSchedules()) {
    auto flag = tensorOf<int32_t>(DType::I32, {0});
    const Diagnostic found = failure(kernel("%flag: !tile.ptr<i32>", R"(
      %last = tile.num_programs 0
      %end = arith.subi %last, %one : i32
      %isLast = arith.cmpi eq, %id, %end : i32
      scf.if %isLast {
        %outside = tile.addptr %flag, %one : !tile.ptr<i32>, i32
        tile.store %outside, %one : !tile.ptr<i32>, i32
      } else {
    )" + waitLoop(R"(
        %f = tile.load %flag : !tile.ptr<i32> -> i32
        %busy = arith.cmpi eq, %f, %zero : i32)") + "}\n"),
                                     {7, 1, 1}, {&flag}, options);
    EXPECT_EQ(found.code, "E0403") << nameOf(options);
  }
}

TEST(Concurrency, LoopsThatOnlyReadRunToTheirEnd) {
  // A search over 3000 elements per program in a loop: no waiting, however long.
  std::vector<int32_t> numbers(3000, 7);
  numbers.back() = 0;
  for (const InterpretOptions &options : {allSchedules()[0], allSchedules()[1]}) {
    auto x = tensorOf(DType::I32, numbers);
    auto found = tensorOf<int32_t>(DType::I32, std::vector<int32_t>(4, 0));
    Diagnostics diags;
    EXPECT_TRUE(runText(kernel("%x: !tile.ptr<i32>, %found: !tile.ptr<i32>", R"(
      %at = scf.while (%i = %zero) : (i32) -> i32 {
        %p = tile.addptr %x, %i : !tile.ptr<i32>, i32
        %v = tile.load %p : !tile.ptr<i32> -> i32
        %goesOn = arith.cmpi ne, %v, %zero : i32
        scf.condition(%goesOn) %i : i32
      } do {
      ^bb0(%i: i32):
        %next = arith.addi %i, %one : i32
        scf.yield %next : i32
      }
      %q = tile.addptr %found, %id : !tile.ptr<i32>, i32
      tile.store %q, %at : !tile.ptr<i32>, i32
    )"),
                        {4, 1, 1}, {&x, &found}, diags, options))
        << diags.render();
    EXPECT_EQ(valuesOf<int32_t>(found), std::vector<int32_t>(4, 2999));
  }
}

} // namespace
} // namespace nereid::test
