// SPDX-License-Identifier: Apache-2.0
#include "test/fuzz/Campaign.h"

#include "lib/support/AtomicFile.h"
#include "lib/targets/cpu/lower/Recognisers.h"
#include "test/fuzz/Reducer.h"
#include "test/fuzz/programs/statements/Statements.h"

#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <set>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

namespace nereid::fuzz {
namespace {

constexpr size_t mostClasses = 512, mostWorkers = 256, mostRecognisers = 64;

/// What the processes of a run share.
struct Shared {
  std::atomic<int64_t> next, done, failures;
  std::atomic<uint64_t> drawn[mostClasses];
  std::atomic<uint64_t> fired[mostRecognisers], declined[mostRecognisers];
  struct Worker {
    std::atomic<pid_t> process;
    std::atomic<int64_t> number; ///< of the program it works on; -1 = none
  } workers[mostWorkers];
};

bool isWanted(const Program &program, const std::string &only) {
  if (only.empty()) {
    return true;
  }
  for (size_t number : program.drawn) {
    if (classTexts()[number].find(only) != std::string::npos) {
      return true;
    }
  }
  return false;
}

class Campaign {
public:
  explicit Campaign(const CampaignOptions &options) : options(options) {
    void *memory =
        ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    shared = memory == MAP_FAILED ? nullptr : new (memory) Shared();
  }

  int run() {
    if (!shared) {
      fmt::print(stderr, "no shared memory\n");
      return 2;
    }
    auto start = std::chrono::steady_clock::now();
    std::fflush(nullptr);
    for (int64_t i = 0; i < options.workers; ++i) {
      startWorker(i);
    }
    int status = 0;
    for (pid_t ended = 0; (ended = ::wait(&status)) > 0;) {
      for (int64_t i = 0; i < options.workers; ++i) {
        if (shared->workers[i].process == ended) {
          endWorker(i, status);
        }
      }
    }
    std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    fmt::print("{} programs on {}, {} failures, {:.0f} s, {:.1f} programs/s\n", shared->done.load(),
               options.engine, shared->failures.load(), seconds.count(),
               static_cast<double>(shared->done) / seconds.count());
    bool isCovered = printTable();
    return shared->failures == 0 &&
                   (isCovered || options.count < enoughPrograms || !options.only.empty())
               ? 0
               : 1;
  }

private:
  void startWorker(int64_t i) {
    Shared::Worker &own = shared->workers[i];
    own.number = -1;
    pid_t child = ::fork();
    if (child == 0) {
      work(own);
      std::fflush(nullptr);
      ::_exit(0);
    }
    own.process = child;
  }

  /// A worker that was killed names the program it was working on; another one goes on.
  void endWorker(int64_t i, int status) {
    Shared::Worker &own = shared->workers[i];
    own.process = 0;
    int64_t number = own.number;
    if (!WIFSIGNALED(status) || number < 0) {
      return;
    }
    ++shared->done;
    uint64_t seed = options.seed + static_cast<uint64_t>(number);
    report(seed, writeProgram(seed), {Verdict::Crashed, signalText(WTERMSIG(status))});
    startWorker(i);
  }

  void work(Shared::Worker &own) {
    std::string problem;
    auto engine = conformance::Engine::start(options.engine, problem);
    if (!engine) {
      fmt::print(stderr, "{}\n", problem);
      ++shared->failures;
      return;
    }
    while (shared->failures < options.mostFailures) {
      int64_t number = shared->next++;
      if (number >= options.count) {
        return;
      }
      uint64_t seed = options.seed + static_cast<uint64_t>(number);
      Program program = writeProgram(seed);
      if (!isWanted(program, options.only)) {
        continue;
      }
      if (options.printsPrograms) {
        fmt::print("# seed {}: {}\n{}\n", seed, program.signature(), program.source());
      }
      own.number = number;
      ::alarm(secondsPerProgram);
      Outcome outcome = judge(program, *engine);
      ::alarm(0);
      own.number = -1;
      ++shared->done;
      for (size_t one : std::set<size_t>(program.drawn.begin(), program.drawn.end())) {
        ++shared->drawn[one];
      }
      countRecognised();
      if (outcome.verdict != Verdict::Same) {
        report(seed, program, outcome);
      }
    }
  }

  void countRecognised() {
    std::vector<cpu::RecogniserCount> counts = cpu::recogniserCounts();
    for (size_t i = 0; i < counts.size(); ++i) {
      shared->fired[i] += counts[i].fired;
      shared->declined[i] += counts[i].declined;
    }
    cpu::resetRecogniserCounts();
  }

  void report(uint64_t seed, const Program &program, const Outcome &outcome) {
    if (++shared->failures > options.mostFailures) {
      return;
    }
    bool isShrinkable = outcome.verdict != Verdict::Refused;
    Program small = isShrinkable ? reduced(program,
                                           [&](const Program &candidate) {
                                             return judgeApart(candidate, options.engine).verdict ==
                                                    outcome.verdict;
                                           })
                                 : program;
    Outcome last = isShrinkable ? judgeApart(small, options.engine) : outcome;
    if (last.verdict != outcome.verdict) {
      // A device's driver does not work in a child of the process that has begun to use it.
      const std::string again = last.verdict == Verdict::Refused
                                    ? ", and could not be run again by itself: " + last.text
                                    : ", but not when it was run again by itself";
      last = {outcome.verdict, outcome.text + again};
    }
    std::string text = fmt::format("seed {}: {}\n", seed, last.text.substr(0, 2000));
    std::string path = fmt::format("{}/program-{}.py", options.folder, seed);
    std::string comment = "# " + text;
    for (size_t at = 0; (at = comment.find('\n', at)) + 1 < comment.size(); at += 3) {
      comment.replace(at, 1, "\n# ");
    }
    comment += fmt::format("# {}, n={} m={} h={}, grid {}\n", small.signature(), small.n, small.m,
                           small.h, small.programs);
    for (const View &view : small.views) {
      comment +=
          fmt::format("# {} is {} from element {} on\n", view.name, view.buffer, view.offset);
    }
    for (size_t one : std::set<size_t>(program.drawn.begin(), program.drawn.end())) {
      comment += fmt::format("# class: {}\n", classTexts()[one]);
    }
    (void)createFolders(options.folder);
    (void)writeFileAtomically(path, comment + small.source());
    fmt::print("{}{}\n", text, path);
    std::fflush(stdout);
  }

  /// What is missing is shown in any case, once there were enough programs; true when nothing is.
  bool printTable() const {
    bool isCovered = true, isEnough = options.count >= enoughPrograms;
    for (size_t i = 0; i < classTexts().size(); ++i) {
      uint64_t count = shared->drawn[i];
      isCovered &= count > 0;
      if (options.printsTable || (count == 0 && isEnough)) {
        fmt::print("{:>9}            {}\n", count, classTexts()[i]);
      }
    }
    std::vector<cpu::RecogniserCount> counts = cpu::recogniserCounts();
    for (size_t i = 0; i < counts.size(); ++i) {
      uint64_t fired = shared->fired[i], declined = shared->declined[i];
      bool isMissing = fired == 0 || declined == 0;
      isCovered &= !isMissing;
      if (options.printsTable || (isMissing && isEnough)) {
        fmt::print("{:>9} {:>9}  {}\n", fired, declined, counts[i].what);
      }
    }
    return isCovered;
  }

  const CampaignOptions &options;
  Shared *shared = nullptr;
};

} // namespace

int runCampaign(const CampaignOptions &options) { return Campaign(options).run(); }

} // namespace nereid::fuzz
