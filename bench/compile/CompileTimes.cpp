// SPDX-License-Identifier: Apache-2.0
// How long each kernel of kernels/ takes to compile: as a process with an empty cache, in a process
// that has compiled before, phase by phase, and read back from the cache. The table is Markdown.
//   compile_times NEREID KERNELS REPEATS     (NEREID: the program; KERNELS: a folder of folders)
#include "bench/Figures.h"
#include "lib/launch/KernelCases.h"
#include "lib/machine/Machine.h"
#include "lib/measure/results/Environment.h"
#include "lib/pipeline/Compiler.h"
#include "lib/report/Table.h"
#include "lib/targets/Targets.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <set>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace nereid {
namespace {

namespace fs = std::filesystem;

std::string scratchFolder() {
  return (fs::temp_directory_path() / fmt::format("nereid-compile-times-{}", getpid())).string();
}

double millisSince(double start) { return (nanosNow() - start) * 1e-6; }

/// The first case of each kernel that is benchmarked, of the others the first of all.
std::vector<launch::KernelCase> kernelsBelow(const std::string &folder) {
  std::vector<std::string> folders;
  for (const auto &entry : fs::directory_iterator(folder)) {
    if (fs::exists(entry.path() / "cases.toml")) {
      folders.push_back(entry.path());
    }
  }
  std::sort(folders.begin(), folders.end());
  std::vector<launch::KernelCase> chosen;
  for (const std::string &one : folders) {
    Result<std::vector<launch::KernelCase>> cases = launch::loadCases(one);
    if (!cases) {
      std::fprintf(stderr, "%s", render(cases.error()).c_str());
      std::exit(2);
    }
    std::set<std::string> seen;
    for (bool wantsBench : {true, false}) {
      for (const launch::KernelCase &kernelCase : *cases) {
        if (kernelCase.isBench >= wantsBench && seen.insert(kernelCase.kernel).second) {
          chosen.push_back(kernelCase);
        }
      }
    }
  }
  return chosen;
}

/// Wall time of `nereid compile` with a cache folder that does not exist yet.
double processMillis(const std::string &program, const launch::KernelCase &one,
                     const std::string &scratch) {
  fs::remove_all(scratch);
  setenv("NEREID_CACHE_DIR", scratch.c_str(), 1);
  const char *argv[] = {program.c_str(),       "compile", one.kernel.c_str(), "--signature",
                        one.signature.c_str(), "--to",    "object",           "--output",
                        "/dev/null",           nullptr};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t child = 0;
  int status = -1;
  const double start = nanosNow();
  if (posix_spawn(&child, program.c_str(), &actions, nullptr, const_cast<char **>(argv), environ) !=
          0 ||
      waitpid(child, &status, 0) != child || status != 0) {
    std::fprintf(stderr, "error: '%s compile %s' failed with status %d\n", program.c_str(),
                 one.kernel.c_str(), status);
    std::exit(2);
  }
  const double millis = millisSince(start);
  posix_spawn_file_actions_destroy(&actions);
  return millis;
}

pipeline::CompileInput inputOf(const launch::KernelCase &one) {
  size_t colon = one.kernel.rfind(':');
  return {one.kernel.substr(0, colon), one.kernel.substr(colon + 1), one.signature};
}

/// Wall time of compiling and loading here, on top of nothing but a used process.
double liveMillis(const launch::KernelCase &one, bool useCache) {
  Diagnostics diags;
  pipeline::CompileOptions options;
  options.useCache = useCache;
  const double start = nanosNow();
  auto kernel = pipeline::compileKernel(inputOf(one), options, diags);
  const double millis = millisSince(start);
  if (!kernel) {
    std::fprintf(stderr, "%s", diags.render().c_str());
    std::exit(2);
  }
  return millis;
}

std::string digits(double millis) { return fmt::format("{:.{}f}", millis, millis < 1 ? 3 : 1); }

int run(const std::string &program, const std::string &folder, int repeats) {
  std::vector<launch::KernelCase> kernels = kernelsBelow(folder);
  std::string scratch = scratchFolder();
  size_t count = kernels.size();
  std::vector<std::vector<double>> process(count), live(count), cached(count);
  std::vector<std::map<std::string, std::vector<double>>> phases(count);
  for (size_t k = 0; k < count; ++k) {
    liveMillis(kernels[k], false); // what a first use costs is part of the process column
  }
  // Kernel after kernel in every round: a slow moment of the machine then falls on all of them.
  for (int round = 0; round < repeats; ++round) {
    for (size_t k = 0; k < count; ++k) {
      process[k].push_back(processMillis(program, kernels[k], scratch));
      live[k].push_back(liveMillis(kernels[k], false));
      Diagnostics diags;
      pipeline::CompileOptions options;
      options.useCache = false;
      auto compiled = pipeline::compile(inputOf(kernels[k]), options, diags);
      for (const pipeline::PhaseTime &time : compiled->times) {
        phases[k][time.phase].push_back(time.millis);
      }
      fs::remove_all(scratch);
      liveMillis(kernels[k], true);
      for (int i = 0; i < 5; ++i) {
        cached[k].push_back(liveMillis(kernels[k], true));
      }
    }
  }
  fs::remove_all(scratch);
  std::vector<std::string> titles = {"kernel", ">process", ">live", ">cached"};
  const std::vector<pipeline::PhaseName> all =
      *pipeline::phaseNames(pipeline::CompileOptions().target);
  for (const pipeline::PhaseName &phase : all) {
    if (!phase.isSideExit) {
      titles.push_back(">" + phase.name);
    }
  }
  report::Table table(titles);
  for (size_t k = 0; k < count; ++k) {
    std::string name = fs::path(kernels[k].kernel).filename().string();
    std::vector<std::string> row = {"`" + name + "`", digits(median(process[k])),
                                    digits(median(live[k])), digits(median(cached[k]))};
    for (const pipeline::PhaseName &phase : all) {
      if (!phase.isSideExit) {
        row.push_back(digits(median(phases[k][phase.name])));
      }
    }
    table.add(row);
  }
  measure::Environment where = measure::describeEnvironment(detectMachine());
  fmt::print(
      "# Compile times\n\n"
      "Milliseconds, median of {} rounds; written by `./dev compile-times` on {}, {}.\n\n"
      "- process: `nereid compile KERNEL --to object`, start to exit, with an empty cache\n"
      "- live: compiled and loaded in a process that has compiled before, no cache\n"
      "- cached: loaded from a filled cache in such a process\n"
      "- the rest: the live time by phase (ARCHITECTURE.md has the list)\n\n"
      "Of this machine's target; GPUs are in [performance.md](performance.md#on-a-gpu).\n\n{}",
      repeats, where.chip, where.date.substr(0, 10), table.markdown());
  return 0;
}

} // namespace
} // namespace nereid

int main(int argc, char **argv) {
  if (argc != 4 || std::atoi(argv[3]) < 1) {
    std::fprintf(stderr, "usage: compile_times NEREID KERNELS REPEATS\n");
    return 2;
  }
  // The folder must be chosen before the cache is opened for the first time.
  std::string scratch = nereid::scratchFolder();
  setenv("NEREID_CACHE_DIR", scratch.c_str(), 1);
  nereid::registerTargets();
  return nereid::run(argv[1], argv[2], std::atoi(argv[3]));
}
