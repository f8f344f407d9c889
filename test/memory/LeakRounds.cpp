// SPDX-License-Identifier: Apache-2.0
// Compiles, launches and frees kernels round after round through the public header, and fails when
// the process keeps growing: `leak_rounds ROUNDS`. Every round compiles a text that no other round
// has and takes one kernel from the cache; every fourth also launches programs that wait for each
// other, and meets an error of the compiler and one of the launch. An operator is called in every
// round, whose calls must not become slower either; another one is loaded and freed now and then.
#include "nereid/nereid.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <malloc.h>
#include <string>
#include <unistd.h>
#include <vector>

namespace {

const std::string header = "import triton\nimport triton.language as tl\n\n@triton.jit\n";

const std::string doubling = header + R"py(def double(x, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + i, tl.load(x + i, mask=i < n) * 2, mask=i < n)
)py";

/// Adds a number of its own to every element: sums over rows, so that tiles live in scratch.
std::string addingText(int number) {
  return header + R"py(def adding(x, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    v = tl.load(x + i)
    total = tl.sum(v, 0)
    tl.store(x + i, v + (total - total) + )py" +
         std::to_string(number) + ")\n";
}

/// Programs count up under a lock.
const std::string waiting = header + R"py(def counted(lock, sum):
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    tl.store(sum, tl.load(sum) + 1)
    tl.atomic_xchg(lock, 0)
)py";

const std::string wrong = header + "def wrong(x):\n    tl.store(x, undefined)\n";

struct Use {
  long heapBytes = 0, residentBytes = 0;
};

Use memoryInUse() {
  const struct mallinfo2 heap = ::mallinfo2();
  std::ifstream statm("/proc/self/statm");
  long all = 0, resident = 0;
  statm >> all >> resident;
  return {static_cast<long>(heap.uordblks + heap.hblkhd), resident * ::sysconf(_SC_PAGESIZE)};
}

void require(bool holds, const char *what, int round) {
  if (!holds) {
    std::fprintf(stderr, "round %d: %s\n", round, what);
    std::exit(1);
  }
}

template <class Body> bool fails(const Body &body, const char *code) {
  try {
    body();
  } catch (const nereid::Error &error) {
    return code == nullptr || error.code() == code;
  }
  return false;
}

std::string scaledText(int number) {
  return "[operator]\nname = \"scaled\"\nsummary = \"s\"\ndtypes = [\"float32\"]\n"
         "body = \"\"\"\nout = torch.softmax(x, dim=-1) + " +
         std::to_string(number) +
         ".0\n\"\"\"\n[inputs.x]\nshape = [\"M\", \"N\"]\n[outputs.out]\nshape = [\"M\", "
         "\"N\"]\n[performance]\ncases = [{ M = 2, N = 4 }]\n";
}

/// Calls of one operator, as long as the process lives.
class LongCalls {
public:
  /// Results that are made, results that are given, and a call that is refused. Returns the
  /// shortest time of several of the second kind.
  double run(int round) const {
    const auto x = nereid::Tensor::empty({4 + round % 3, 33 * (1 + round % 4)}, nereid::DType::F32);
    x.fill(static_cast<double>(round));
    const nereid::Tensor made = scaled(x);
    require(std::fabs(made.at(0) - 7 - 1.0 / static_cast<double>(x.shape()[1])) < 1e-5,
            "the operator computes something else", round);
    const auto whole = nereid::Tensor::empty({3}, nereid::DType::I32);
    require(fails([&] { scaled(whole); }, nullptr), "the operator takes integers", round);
    const auto fixed = nereid::Tensor::empty({64, 256}, nereid::DType::F32);
    const auto out = nereid::Tensor::empty({64, 256}, nereid::DType::F32);
    fixed.fill(1);
    double shortest = 1;
    for (int i = 0; i < 5; ++i) {
      const auto begin = std::chrono::steady_clock::now();
      scaled.into({out}, fixed);
      const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
      shortest = std::min(shortest, taken.count());
    }
    if (round % 50 == 0) {
      const nereid::Operator other = nereid::Operator::loadSource(scaledText(round), "other");
      require(std::fabs(other(x).at(0) - round) < 1, "another operator computes something else",
              round);
    }
    return shortest;
  }

private:
  const nereid::Operator scaled = nereid::Operator::loadSource(scaledText(7), "scaled");
};

void runRound(int round) {
  std::vector<float> data(100, 1);
  const auto kernel = nereid::Kernel::loadSource(doubling, "double", "*fp32, i32, 64");
  kernel.launch({2}, nereid::Tensor::borrow(data), 99);
  require(data[98] == 2 && data[99] == 1, "the cached kernel computes something else", round);
  std::vector<float> values(64, 3);
  const auto adding = nereid::Kernel::loadSource(addingText(round), "adding", "*fp32, 64");
  adding.launch({1}, nereid::Tensor::borrow(values));
  require(values[63] == 3 + static_cast<float>(round), "the compiled kernel adds something else",
          round);
  if (round % 4 != 0) {
    return;
  }
  const auto lock = nereid::Tensor::empty({1}, nereid::DType::I32);
  const auto sum = nereid::Tensor::empty({1}, nereid::DType::I32);
  lock.fill(0);
  sum.fill(0);
  nereid::Kernel::loadSource(waiting, "counted", "*i32, *i32").launch({20}, lock, sum);
  require(sum.at(0) == 20, "programs that wait count something else", round);
  require(fails([] { nereid::Kernel::loadSource(wrong, "wrong", "*fp32"); }, "E0202"),
          "the compiler accepts an undefined name", round);
  require(fails([&] { kernel.launch({1}, lock, 99); }, "E0410"),
          "the launch accepts a tensor of another type", round);
}

} // namespace

int main(int argumentCount, char **arguments) {
  const int rounds = argumentCount > 1 ? std::atoi(arguments[1]) : 0;
  if (rounds < 100) {
    std::fprintf(stderr, "usage: leak_rounds ROUNDS, 100 or more\n");
    return 2;
  }
  const auto cache =
      std::filesystem::temp_directory_path() / ("nereid_leak_" + std::to_string(::getpid()));
  ::setenv("NEREID_CACHE_DIR", cache.c_str(), 1);
  // Small enough that entries are evicted while the rounds run.
  ::setenv("NEREID_CACHE_BYTES", "1000000", 1);
  // What is made once and kept (threads, tables) is there after the first rounds; a context grows
  // until it is replaced.
  const LongCalls calls;
  double first = 1,
         last = 1; ///< shortest calls of the first tenth behind the warm ones, and of the last
  Use before;
  const int warm = rounds / 10;
  for (int round = 0; round < rounds; ++round) {
    if (round == warm) {
      before = memoryInUse();
    }
    runRound(round);
    const double seconds = calls.run(round);
    first = round >= warm && round < 2 * warm ? std::min(first, seconds) : first;
    last = round >= rounds - warm ? std::min(last, seconds) : last;
  }
  const Use after = memoryInUse();
  std::filesystem::remove_all(cache);
  const long heap = after.heapBytes - before.heapBytes;
  const long resident = after.residentBytes - before.residentBytes;
  std::printf("%d rounds after %d: heap %+ld bytes, resident %+ld bytes\n", rounds - warm, warm,
              heap, resident);
  std::printf("shortest call of the operator: %.1f us at first, %.1f us at last\n", first * 1e6,
              last * 1e6);
  constexpr double mostDecay = 2;
  if (last > mostDecay * first) {
    std::fprintf(stderr, "calls of the operator become slower\n");
    return 1;
  }
  constexpr long heapLimit = 512 << 10, residentLimit = 8 << 20;
  if (heap > heapLimit || resident > residentLimit) {
    std::fprintf(stderr, "memory grows: expects at most %ld and %ld bytes more\n", heapLimit,
                 residentLimit);
    return 1;
  }
  return 0;
}
