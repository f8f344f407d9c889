// SPDX-License-Identifier: Apache-2.0
// Matrix products of this project's kernels beside cblas_sgemm of OpenBLAS, in turns within one
// run: GFLOP/s of both, their ratio, and the share of the arithmetic peak, which is timed in the
// same turns.
//   gemm_rates KERNEL_FOLDER [--json] [--threads N] [--millis PER_CASE] [NAME_PART]
// OpenBLAS chooses its kernels by the chip's name and takes old ones for chips it does not know:
// with AVX-512 it is told to take those, unless OPENBLAS_CORETYPE in the environment says something
// else. The choice is printed.
#include "lib/measure/peaks/PeakLoops.h"

#include "bench/Figures.h"

#include <nereid/nereid.hpp>

#include <dlfcn.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <numeric>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

using nereid::Tensor;

constexpr size_t fewestSamples = 20; // whatever the time

struct Case {
  std::string name;
  std::string kernel; ///< file in the folder, and function
  int64_t m, n, k;
  int blockM = 128, blockN = 128, blockK = 32;
  int64_t batch = 1;
  bool transposedA = false, transposedB = false; ///< column-major in memory
};

std::vector<Case> cases() {
  std::vector<Case> all;
  auto both = [&](const std::string &shape, int64_t m, int64_t n, int64_t k, int blockM) {
    all.push_back({shape + " masked", "matmul_v1", m, n, k, blockM});
    all.push_back({shape + " wrapped", "matmul_grouped", m, n, k, blockM});
  };
  for (int64_t size : {512, 1024, 2048, 4096}) {
    both(std::to_string(size), size, size, size, 128);
  }
  for (int64_t size : {2048, 4096}) {
    all.push_back({std::to_string(size) + " wrapped 256x256", "matmul_grouped", size, size, size,
                   256, 256, 64});
  }
  for (int64_t size : {777, 1000, 1023}) {
    both(std::to_string(size), size, size, size, 128);
  }
  for (int64_t rows : {8, 32}) {
    both(std::to_string(rows) + "x4096x4096", rows, 4096, 4096, rows == 8 ? 16 : 32);
  }
  all.push_back({"16 times 256", "matmul_batched", 256, 256, 256, 128, 128, 32, 16});
  all.push_back({"64 times 128", "matmul_batched", 128, 128, 128, 128, 128, 32, 64});
  all.push_back({"1024 a column-major", "matmul_v1", 1024, 1024, 1024, 128, 128, 32, 1, true});
  all.push_back(
      {"1024 b column-major", "matmul_v1", 1024, 1024, 1024, 128, 128, 32, 1, false, true});
  return all;
}

using Sgemm = void (*)(int, int, int, int, int, int, float, const float *, int, const float *, int,
                       float, float *, int);

struct Peer {
  Sgemm sgemm = nullptr;
  std::string kernels = "none";

  explicit Peer(int threads) {
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx512f")) {
      setenv("OPENBLAS_CORETYPE", "SKYLAKEX", /*overwrite=*/0);
    }
#endif
    void *library = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
    if (!library) {
      return;
    }
    sgemm = reinterpret_cast<Sgemm>(dlsym(library, "cblas_sgemm"));
    auto setThreads = reinterpret_cast<void (*)(int)>(dlsym(library, "openblas_set_num_threads"));
    auto coreName = reinterpret_cast<char *(*)()>(dlsym(library, "openblas_get_corename"));
    if (setThreads) {
      setThreads(threads);
    }
    kernels = coreName ? coreName() : "unknown";
  }

  void run(const Case &c, const Tensor &a, const Tensor &b, const Tensor &out) const {
    constexpr int rowMajor = 101, plain = 111, transposed = 112;
    const int m = static_cast<int>(c.m), n = static_cast<int>(c.n), k = static_cast<int>(c.k);
    for (int64_t i = 0; i < c.batch; ++i) {
      sgemm(rowMajor, c.transposedA ? transposed : plain, c.transposedB ? transposed : plain, m, n,
            k, 1, a.as<float>() + i * c.m * c.k, c.transposedA ? m : k,
            b.as<float>() + i * c.k * c.n, c.transposedB ? k : n, 0,
            out.as<float>() + i * c.m * c.n, n);
    }
  }
};

/// One of the folder's kernels with its operands bound.
class Product {
public:
  Product(const Case &c, const std::string &folder, const std::string &activation = "none")
      : c(c), a(Tensor::empty({c.batch, c.m, c.k}, nereid::DType::F32)),
        b(Tensor::empty({c.batch, c.k, c.n}, nereid::DType::F32)),
        out(Tensor::empty({c.batch, c.m, c.n}, nereid::DType::F32)),
        bias(Tensor::empty({c.n}, nereid::DType::F32)) {
    a.fillNormal(1);
    b.fillNormal(2);
    bias.fillNormal(3);
    out.poison();
    const std::string pointer = "=*fp32:16, ", integer = "=i32, ", one = "=1, ";
    const bool batched = c.kernel == "matmul_batched";
    std::string signature = "a" + pointer + "b" + pointer + (batched ? "bias" + pointer : "") +
                            "c" + pointer + "M" + integer + "N" + integer + "K" + integer;
    auto strides = [&](const char *tensor, const char *row, const char *column, bool transposed) {
      const std::string name = std::string("stride_") + tensor;
      signature += batched ? name + "b" + integer : "";
      signature +=
          name + row + (transposed ? one : integer) + name + column + (transposed ? integer : one);
    };
    strides("a", "m", "k", c.transposedA);
    strides("b", "k", "n", c.transposedB);
    strides("c", "m", "n", false);
    signature += batched ? "ACTIVATION='" + activation +
                               "', HAS_BIAS=" + (activation == "none" ? "False, " : "True, ")
                         : "";
    signature += "BLOCK_M=" + std::to_string(c.blockM) + ", BLOCK_N=" + std::to_string(c.blockN) +
                 ", BLOCK_K=" + std::to_string(c.blockK) +
                 (c.kernel == "matmul_v1" ? "" : ", GROUP_M=4");
    kernel = std::make_unique<nereid::Kernel>(
        nereid::Kernel::load(folder + "/" + c.kernel + ".py", c.kernel, signature));
  }

  void run() const {
    const int64_t tilesM = nereid::cdiv(c.m, c.blockM), tilesN = nereid::cdiv(c.n, c.blockN);
    const int64_t strideA = c.transposedA ? c.m : c.k, strideB = c.transposedB ? c.k : c.n;
    if (c.kernel == "matmul_batched") {
      kernel->launch({tilesM * tilesN, c.batch}, a, b, bias, out, c.m, c.n, c.k, c.m * c.k, strideA,
                     c.k * c.n, strideB, c.m * c.n, c.n);
    } else {
      const nereid::Grid grid =
          c.kernel == "matmul_v1" ? nereid::Grid{tilesM, tilesN} : nereid::Grid{tilesM * tilesN};
      kernel->launch(grid, a, b, out, c.m, c.n, c.k, strideA, strideB, c.n);
    }
  }

  const Case c;
  const Tensor a, b, out, bias;

private:
  std::unique_ptr<nereid::Kernel> kernel;
};

/// GFLOP/s of multiply-adds in registers on `threads` threads, for about a millisecond; 0 =
/// unknown.
double peakRate(int threads) {
  static const auto loops = nereid::measure::peakLoops();
  const auto loop = loops.find("fp32");
  if (loop == loops.end()) {
    return 0;
  }
  constexpr int64_t rounds = 500000;
  // Each thread times itself: starting it takes long beside a millisecond.
  std::vector<double> rates(threads);
  auto runOn = [&](int thread) {
    const double start = nanosNow();
    loop->second.run(rounds);
    rates[thread] = loop->second.flopsPerRound * rounds / (nanosNow() - start);
  };
  std::vector<std::thread> others;
  for (int thread = 1; thread < threads; ++thread) {
    others.emplace_back(runOn, thread);
  }
  runOn(0);
  for (std::thread &other : others) {
    other.join();
  }
  return std::accumulate(rates.begin(), rates.end(), 0.0);
}

struct Row {
  std::string name, peerName;
  double ours, peer, ratio; ///< GFLOP/s; how many times as fast
  double ofPeak;
  std::vector<double> samples; ///< nanoseconds of ours
};

/// Runs both in turns, the peak before and after each run of ours.
Row measure(const Case &c, const std::string &peerName, const std::function<void()> &ours,
            const std::function<void()> &peer, int threads, double millis) {
  const double flops = 2.0 * c.batch * c.m * c.n * c.k;
  std::vector<double> oursNanos, peerNanos, ratios, shares;
  const double stop = nanosNow() + millis * 1e6;
  do {
    double peak = peakRate(threads) / 2;
    double start = nanosNow();
    ours();
    oursNanos.push_back(nanosNow() - start);
    peak += peakRate(threads) / 2;
    shares.push_back(peak > 0 ? flops / oursNanos.back() / peak : 0);
    if (peer) {
      start = nanosNow();
      peer();
      peerNanos.push_back(nanosNow() - start);
      ratios.push_back(peerNanos.back() / oursNanos.back());
    }
  } while (nanosNow() < stop || oursNanos.size() < fewestSamples);
  return {c.name,
          peerName,
          flops / median(oursNanos),
          peer ? flops / median(peerNanos) : 0,
          peer ? median(ratios) : 0,
          median(shares),
          oursNanos};
}

Row measureProduct(const Case &c, const std::string &folder, const Peer &peer, int threads,
                   double millis) {
  const Product ours(c, folder);
  const Tensor expected = Tensor::empty({c.batch, c.m, c.n}, nereid::DType::F32);
  ours.run();
  if (!peer.sgemm) {
    return measure(c, "none", [&] { ours.run(); }, nullptr, threads, millis);
  }
  auto theirs = [&] { peer.run(c, ours.a, ours.b, expected); };
  theirs();
  for (int64_t i = 0; i < expected.elementCount(); i += 97) {
    const double difference = std::abs(ours.out.at(i) - expected.at(i));
    if (!(difference <= 1e-3 * std::sqrt(static_cast<double>(c.k)))) {
      std::fprintf(stderr, "%s: element %ld is %g, but the peer has %g\n", c.name.c_str(),
                   static_cast<long>(i), ours.out.at(i), expected.at(i));
      std::exit(1);
    }
  }
  return measure(c, "OpenBLAS", [&] { ours.run(); }, theirs, threads, millis);
}

/// A separate pass over c, as the unfused pair needs it.
constexpr const char *biasAndActivation = R"(
import triton
import triton.language as tl

@triton.jit
def bias_activation(c, bias, N, GELU: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * N
    for start in range(0, N, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        x = tl.load(c + row + cols, mask=cols < N) + tl.load(bias + cols, mask=cols < N)
        if GELU:
            x = 0.5 * x * (1.0 + tl.erf(x * 0.7071067811865476))
        else:
            x = tl.maximum(x, 0.0)
        tl.store(c + row + cols, x, mask=cols < N)
)";

/// The product with bias and activation beside the bare product, and beside the unfused pair.
std::vector<Row> measureEpilogue(const Case &c, const std::string &folder,
                                 const std::string &activation, int threads, double millis) {
  const Product fused(c, folder, activation), bare(c, folder);
  const nereid::Kernel pass =
      nereid::Kernel::loadSource(biasAndActivation, "bias_activation",
                                 std::string("c=*fp32:16, bias=*fp32:16, N=i32, GELU=") +
                                     (activation == "gelu" ? "True" : "False") + ", BLOCK=1024");
  auto unfused = [&] {
    bare.run();
    pass.launch({c.m * c.batch}, bare.out, bare.bias, c.n);
  };
  fused.run();
  unfused();
  return {measure(
              c, "bare product", [&] { fused.run(); }, [&] { bare.run(); }, threads, millis),
          measure(c, "unfused pair", [&] { fused.run(); }, unfused, threads, millis)};
}

} // namespace

int main(int argc, char **argv) {
  std::string folder, part;
  bool isJson = false;
  int threads = 1;
  double millis = 600;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--json") == 0) {
      isJson = true;
    } else if (std::strcmp(argv[i], "--threads") == 0 && i + 1 < argc) {
      threads = std::atoi(argv[++i]);
    } else if (std::strcmp(argv[i], "--millis") == 0 && i + 1 < argc) {
      millis = std::atof(argv[++i]);
    } else {
      (folder.empty() ? folder : part) = argv[i];
    }
  }
  if (folder.empty()) {
    std::fprintf(stderr, "usage: gemm_rates KERNEL_FOLDER [--json] [--threads N] [--millis "
                         "PER_CASE] [NAME_PART]\n");
    return 2;
  }
  try {
    nereid::check(nereid_set_thread_count(threads));
    const Peer peer(threads);
    std::vector<Row> rows;
    if (!isJson) {
      std::printf("%d thread%s, OpenBLAS with its %s kernels\n", threads, threads == 1 ? "" : "s",
                  peer.kernels.c_str());
    }
    auto add = [&](const Row &row) {
      rows.push_back(row);
      if (!isJson) {
        std::printf("%-26s %8.1f GFLOP/s  %s %8.1f  ratio %.3f  %.2f of peak\n", row.name.c_str(),
                    row.ours, row.peerName.c_str(), row.peer, row.ratio, row.ofPeak);
        std::fflush(stdout);
      }
    };
    for (const Case &c : cases()) {
      if (c.name.find(part) == std::string::npos) {
        continue;
      }
      add(measureProduct(c, folder, peer, threads, millis));
    }
    for (const char *activation : {"relu", "gelu"}) {
      // The pair's second pass is a fixed part of the work of one k: it counts where k is short.
      for (auto [size, k] : {std::pair<int64_t, int64_t>{512, 128},
                             {1024, 1024},
                             {2048, 2048},
                             {2048, 64},
                             {4096, 64}}) {
        const Case c{std::to_string(size) + (k == size ? "" : " k " + std::to_string(k)) +
                         " bias " + activation,
                     "matmul_batched", size, size, k};
        if (c.name.find(part) != std::string::npos) {
          for (const Row &row : measureEpilogue(c, folder, activation, threads, millis)) {
            add(row);
          }
        }
      }
    }
    if (isJson) {
      std::printf("{\"schema\": 1, \"threads\": %d, \"peer\": \"OpenBLAS %s\", \"rows\": [\n",
                  threads, peer.kernels.c_str());
      for (size_t i = 0; i < rows.size(); ++i) {
        std::printf("  {\"case\": \"%s\", \"peer\": \"%s\", \"gflops\": %.2f, "
                    "\"peer_gflops\": %.2f, \"ratio\": %.4f, \"of_peak\": %.4f, %s}%s\n",
                    rows[i].name.c_str(), rows[i].peerName.c_str(), rows[i].ours, rows[i].peer,
                    rows[i].ratio, rows[i].ofPeak, figuresJson(rows[i].samples).c_str(),
                    i + 1 < rows.size() ? "," : "");
      }
      std::printf("]}\n");
    }
    return 0;
  } catch (const nereid::Error &error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  }
}
