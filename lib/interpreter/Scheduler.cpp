// SPDX-License-Identifier: Apache-2.0
#include "lib/interpreter/Scheduler.h"

namespace nereid::interpreter {
namespace {

/// The interpreter calls itself for every nested region.
constexpr uint64_t stackBytes = uint64_t(1) << 20;
/// A loop whose values change may be counting how often it polls: it yields now and then.
constexpr uint64_t iterationsPerTurn = 256;
/// How many programs take turns from the start when accesses interleave.
constexpr size_t interleavedPrograms = 64;
/// The random schedule changes programs after 1, 2, 4 … 256 accesses.
constexpr uint64_t burstLengths = 9;

/// A grid beyond 2^63 programs never comes to its end, whatever their number.
int64_t programsOf(runtime::Grid grid) {
  int64_t programs = 0;
  if (grid[0] == 0 || grid[1] == 0 || grid[2] == 0) {
    return 0;
  }
  return __builtin_mul_overflow(grid[0], grid[1], &programs) ||
                 __builtin_mul_overflow(programs, grid[2], &programs)
             ? INT64_MAX
             : programs;
}

bool areEqual(const Tiles &a, const Tiles &b) {
  return a.size() == b.size() && llvm::all_of(llvm::zip(a, b), [](const auto &pair) {
           const auto &[x, y] = pair;
           return std::equal(x.words.begin(), x.words.end(), y.words.begin(), y.words.end());
         });
}

} // namespace

struct Scheduler::Program {
  Program(Scheduler &scheduler, runtime::Grid id)
      : scheduler(scheduler), instance(scheduler.launch, id, scheduler.diags, &scheduler),
        memory(runtime::takeStack(stackBytes - runtime::ProgramMemory::stackBytes)) {}
  ~Program() {
    runtime::dropContext(context);
    runtime::giveBack(memory);
  }
  Program(const Program &) = delete;
  Program &operator=(const Program &) = delete;

  Scheduler &scheduler;
  Instance instance;
  runtime::ProgramMemory memory; ///< its scratch continues the stack
  runtime::StackContext context;
  mlir::Operation *waitsIn = nullptr; ///< the loop that repeats itself
  uint64_t waitsSince = 0;            ///< Memory::changes() when it began to
  bool hasBegun = false;
  bool hasEnded = false;
  bool hasFailed = false;
};

Scheduler::Scheduler(const Launch &launch, Diagnostics &diags)
    : launch(launch), diags(diags), programs(programsOf(launch.grid)), random(launch.options.seed) {
}

Scheduler::~Scheduler() = default;

void Scheduler::programMain(void *argument) {
  auto &program = *static_cast<Program *>(argument);
  Scheduler &scheduler = program.scheduler;
  runtime::enteredContext(program.context, scheduler.own);
  program.hasBegun = true;
  program.hasFailed = !program.instance.run();
  program.hasEnded = true;
  runtime::leaveContext(program.context, scheduler.own);
}

bool Scheduler::canStart() const {
  const uint64_t most = launch.options.residentPrograms;
  return unstarted() > 0 && (most == 0 || live.size() < most);
}

bool Scheduler::start() {
  const int64_t row = started / launch.grid[0];
  const runtime::Grid id{started % launch.grid[0], row % launch.grid[1], row / launch.grid[1]};
  auto program = std::make_unique<Program>(*this, id);
  if (!program->memory) {
    diags.add(makeError("E0505", "no memory for the stack of program " + tuple(id) + " beside " +
                                     std::to_string(live.size()) + " that have not ended"));
    return false;
  }
  runtime::prepareContext(program->context, program->memory.stack(), stackBytes, programMain,
                          program.get());
  live.push_back(std::move(program));
  ++started;
  idleTurns = 0;
  return true;
}

bool Scheduler::isReady(const Program &program) const {
  return program.waitsIn == nullptr || program.waitsSince != launch.memory.changes();
}

Scheduler::Program *Scheduler::choose() {
  if (launch.options.schedule == Schedule::Random) {
    llvm::SmallVector<Program *, 64> ready;
    for (const auto &program : live) {
      if (isReady(*program)) {
        ready.push_back(program.get());
      }
    }
    return ready.empty() ? nullptr : ready[random() % ready.size()];
  }
  for (size_t tried = 0; tried < live.size(); ++tried) {
    nextInRing = nextInRing < live.size() ? nextInRing : 0;
    Program &program = *live[nextInRing++];
    if (isReady(program)) {
      return &program;
    }
  }
  return nullptr;
}

void Scheduler::resume(Program &program) {
  const bool isRandom = launch.options.schedule == Schedule::Random;
  accessesLeft = isRandom ? uint64_t(1) << random() % burstLengths : 1;
  program.waitsIn = nullptr;
  running = &program;
  runtime::switchContext(own, program.context);
  running = nullptr;
}

bool Scheduler::yield() {
  runtime::switchContext(running->context, own);
  return !isOver;
}

bool Scheduler::iterationBegins(mlir::Operation *loop, const Tiles &carried, LoopHistory &history) {
  const uint64_t changes = launch.memory.changes();
  if (history.iterations == 0 || history.changes != changes) {
    history.iterations = 0;
    history.changes = changes;
  } else if (areEqual(carried, history.carried)) {
    running->waitsIn = loop;
    running->waitsSince = changes;
    history.turn = 0;
    return yield();
  }
  // Kept at iterations 1, 2, 4 …: a cycle of any length is found (Brent, 1980).
  if (std::has_single_bit(++history.iterations)) {
    history.carried = carried;
  }
  if (++history.turn % iterationsPerTurn != 0) {
    return true;
  }
  ++idleTurns;
  return yield();
}

bool Scheduler::accessBegins() {
  if (launch.options.schedule == Schedule::InOrder || --accessesLeft > 0) {
    return true;
  }
  return yield();
}

bool Scheduler::run() {
  const size_t window = launch.options.schedule == Schedule::InOrder ? 1 : interleavedPrograms;
  while (started < programs || !live.empty()) {
    while (canStart() && live.size() < window) {
      if (!start()) {
        abandon();
        return false;
      }
    }
    Program *program = choose();
    // The ones that have started may all be waiting, or polling, for one that has not.
    if (canStart() && (program == nullptr || idleTurns > live.size())) {
      if (!start()) {
        abandon();
        return false;
      }
      program = live.back().get();
    }
    if (program == nullptr) {
      reportDeadlock();
      abandon();
      return false;
    }
    resume(*program);
    if (program->hasFailed) {
      abandon();
      return false;
    }
    if (program->hasEnded) {
      auto at = llvm::find_if(live, [&](const auto &other) { return other.get() == program; });
      nextInRing -= static_cast<size_t>(at - live.begin()) < nextInRing ? 1 : 0;
      live.erase(at);
    }
  }
  return true;
}

void Scheduler::abandon() {
  isOver = true;
  for (const auto &program : live) {
    // One that has not begun has nothing to clean up.
    if (!program->hasEnded && program->hasBegun) {
      resume(*program);
    }
  }
  live.clear();
}

void Scheduler::reportDeadlock() {
  const auto waiting = std::to_string(live.size());
  Program &first = *live.front();
  Diagnostic diagnostic = first.instance.diagnosticAt(
      first.waitsIn, "E0413",
      "the grid cannot make progress: " +
          (live.size() == 1 ? "the only program" : "each of the " + waiting + " programs") +
          " that has started and not ended waits for memory to change");
  llvm::SmallVector<mlir::Operation *, 4> loops;
  for (const auto &program : live) {
    if (!llvm::is_contained(loops, program->waitsIn)) {
      loops.push_back(program->waitsIn);
    }
  }
  for (mlir::Operation *loop : loops) {
    std::string place, ids;
    size_t count = 0;
    for (const auto &program : live) {
      if (program->waitsIn != loop) {
        continue;
      }
      if (++count <= 4) {
        const Diagnostic at = program->instance.diagnosticAt(loop, "E0413", "");
        place = at.file + ":" + std::to_string(at.range.line);
        ids += (count == 1 ? "" : ", ") + tuple(program->instance.id);
      }
    }
    if (count > 4) {
      ids += " and " + std::to_string(count - 4) + " more";
    }
    diagnostic.note((count == 1 ? "program " : "programs ") + ids +
                    (count == 1 ? " waits" : " wait") + " in the loop at " + place);
  }
  if (unstarted() > 0) {
    diagnostic.note((unstarted() == 1 ? std::string("1 program has")
                                      : std::to_string(unstarted()) + " programs have") +
                    " not started, because only " +
                    std::to_string(launch.options.residentPrograms) + " may run at a time");
  }
  diagnostic.withHelp("let programs wait only for programs with lower ids, and release every lock "
                      "that is taken");
  diags.add(std::move(diagnostic));
}

} // namespace nereid::interpreter
