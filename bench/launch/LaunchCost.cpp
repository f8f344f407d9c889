// SPDX-License-Identifier: Apache-2.0
// What launching a compiled kernel costs a C++ program, through the same header and library that
// users have: one program, and 64 programs shared by two threads, beside an OpenMP parallel region.
// Shared launches are judged by what they add to perfectly divided work. One line or JSON per row.
//   launch_cost [--json]
#include "bench/Figures.h"

#include <nereid/nereid.hpp>

#include <dlfcn.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr const char *source = R"(
import triton
import triton.language as tl

@triton.jit
def count_down(out, steps):
    value = 1.0
    for i in range(steps):
        value = value * 0.5 + 1.0
    tl.store(out + tl.program_id(0) * 16, value)
)";

constexpr int programs = 64;
constexpr int threads = 2;
constexpr int rounds = 41;

/// Nanoseconds of one call, the mean of `calls` in a row.
template <class Body> double nanosPerCall(int calls, const Body &body) {
  const double start = nanosNow();
  for (int i = 0; i < calls; ++i) {
    body();
  }
  return (nanosNow() - start) / calls;
}

/// The region that compilers call for "#pragma omp parallel"; found at run time as every peer is.
using ParallelRegion = void (*)(void (*)(void *), void *, unsigned, unsigned);

ParallelRegion findOpenMp() {
  void *library = dlopen("libgomp.so.1", RTLD_NOW | RTLD_LOCAL);
  return library ? reinterpret_cast<ParallelRegion>(dlsym(library, "GOMP_parallel")) : nullptr;
}

struct Row {
  std::string name;
  std::vector<double> samples; ///< nanoseconds
  double limit;                ///< 0 = none asked
  double nanos() const { return median(samples); }
};

struct Launcher {
  nereid::Kernel kernel;
  nereid::Tensor out;
  void operator()(int64_t count, int steps) const { kernel.launch({count}, out, steps); }
};

/// Steps that make one program last about `nanos`.
int stepsFor(const Launcher &launch, double nanos) {
  const double perStep = nanosPerCall(200, [&] { launch(1, 10000); }) / 10000;
  return std::max(1, static_cast<int>(nanos / perStep));
}

/// What sharing adds to work divided perfectly: launch of 64 programs on two threads minus half of
/// 64 launches of one program, timed in turns. With an idle pause before each launch the workers
/// are asleep.
Row sharedRow(const Launcher &launch, double programNanos, int pauseMicros) {
  const int steps = stepsFor(launch, programNanos);
  std::vector<double> added;
  for (int round = 0; round < rounds; ++round) {
    const double alone = nanosPerCall(programs, [&] { launch(1, steps); }) * programs;
    for (int i = 0; i < 8; ++i) {
      launch(programs, steps); // wakes the workers, and lets the pool learn what a program costs
    }
    double shared = 0;
    constexpr int calls = 10;
    for (int i = 0; i < calls; ++i) {
      if (pauseMicros > 0) {
        std::this_thread::sleep_for(std::chrono::microseconds(pauseMicros));
      }
      shared += nanosPerCall(1, [&] { launch(programs, steps); }) / calls;
    }
    added.push_back(shared - alone / threads);
  }
  char name[120];
  std::snprintf(name, sizeof name, "64 programs of %.2g us over 2 threads%s, added",
                programNanos / 1e3, pauseMicros ? " after a pause" : "");
  return {name, added, 5000};
}

std::vector<Row> measure() {
  nereid::check(nereid_set_thread_count(threads));
  const Launcher launch{nereid::Kernel::loadSource(source, "count_down", "*fp32, i32"),
                        nereid::Tensor::empty({programs * 16}, nereid::DType::F32)};
  std::vector<double> one, many;
  std::vector<double> region;
  const ParallelRegion openMp = findOpenMp();
  launch(programs, 1);
  for (int round = 0; round < rounds; ++round) {
    one.push_back(nanosPerCall(2000, [&] { launch(1, 1); }));
    many.push_back(nanosPerCall(500, [&] { launch(programs, 1); }));
    if (openMp) {
      region.push_back(nanosPerCall(500, [&] { openMp([](void *) {}, nullptr, threads, 0); }));
    }
  }
  std::vector<Row> rows = {{"one program", one, 1000},
                           {"64 programs of next to nothing", many, 5000}};
  if (openMp) {
    rows.push_back({"peer: an empty OpenMP region of 2 threads", region, 0});
  }
  for (double nanos : {300.0, 1000.0, 10000.0}) {
    rows.push_back(sharedRow(launch, nanos, 0));
  }
  rows.push_back(sharedRow(launch, 1000, 2000));
  return rows;
}

} // namespace

int main(int argc, char **argv) {
  const bool isJson = argc > 1 && std::strcmp(argv[1], "--json") == 0;
  try {
    const std::vector<Row> rows = measure();
    std::printf(isJson ? "{\"schema\": 1, \"rows\": [\n" : "");
    for (size_t i = 0; i < rows.size(); ++i) {
      const Row &row = rows[i];
      if (isJson) {
        std::printf("  {\"case\": \"%s\", \"nanos\": %.1f, \"limit\": %.0f, %s}%s\n",
                    row.name.c_str(), row.nanos(), row.limit, figuresJson(row.samples).c_str(),
                    i + 1 < rows.size() ? "," : "");
      } else {
        std::printf("%-50s %9.2f us  at most %s\n", row.name.c_str(), row.nanos() / 1e3,
                    row.limit > 0
                        ? (std::to_string(static_cast<int>(row.limit / 1e3)) + " us").c_str()
                        : "-");
      }
    }
    std::printf(isJson ? "]}\n" : "");
    return 0;
  } catch (const nereid::Error &error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  }
}
