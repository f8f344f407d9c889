// SPDX-License-Identifier: Apache-2.0
// Matrix products of this project's kernels beside cblas_sgemm of OpenBLAS, in turns within one
// run: GFLOP/s of both, their ratio, and the share of the FMA rate measured in the same minute.
//   gemm_rates KERNEL_FOLDER [--json] [--threads N] [--millis PER_CASE] [NAME_PART]
// OpenBLAS chooses its kernels by the chip's name and takes old ones for chips it does not know;
// OPENBLAS_CORETYPE in the environment overrides that, and the choice is printed.
#include <nereid/nereid.hpp>

#include <dlfcn.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace {

using nereid::Tensor;

double nanosNow() {
  using namespace std::chrono;
  return duration<double, std::nano>(steady_clock::now().time_since_epoch()).count();
}

double median(std::vector<double> samples) {
  std::nth_element(samples.begin(), samples.begin() + samples.size() / 2, samples.end());
  return samples[samples.size() / 2];
}

struct Case {
  std::string name;
  std::string kernel; ///< file in the folder, and function
  int64_t m, n, k;
  int blockM, blockN, blockK;
  int64_t batch = 1;
};

std::vector<Case> cases() {
  std::vector<Case> all;
  auto both = [&](const std::string &shape, int64_t m, int64_t n, int64_t k, int bm, int bn) {
    all.push_back({shape + " masked", "matmul_v1", m, n, k, bm, bn, 32});
    all.push_back({shape + " wrapped", "matmul_v2", m, n, k, bm, bn, 32});
  };
  for (int64_t size : {512, 1024, 2048, 4096}) {
    both(std::to_string(size), size, size, size, 128, 128);
  }
  for (int64_t size : {2048, 4096}) {
    all.push_back({std::to_string(size) + " wrapped 256x256", "matmul_v2", size, size, size, 256,
                   256, 64});
  }
  for (int64_t size : {777, 1000, 1023}) {
    both(std::to_string(size), size, size, size, 128, 128);
  }
  for (int64_t rows : {8, 32}) {
    both(std::to_string(rows) + "x4096x4096", rows, 4096, 4096, rows == 8 ? 16 : 32, 128);
  }
  return all;
}

using Sgemm = void (*)(int, int, int, int, int, int, float, const float *, int, const float *, int,
                       float, float *, int);

struct Peer {
  Sgemm sgemm = nullptr;
  std::string kernels = "none";

  explicit Peer(int threads) {
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
    constexpr int rowMajor = 101, plain = 111;
    const int m = static_cast<int>(c.m), n = static_cast<int>(c.n), k = static_cast<int>(c.k);
    sgemm(rowMajor, plain, plain, m, n, k, 1, a.as<float>(), k, b.as<float>(), n, 0,
          out.as<float>(), n);
  }
};

#ifdef __x86_64__
/// Multiply-adds in flight at once, as many as hide the latency of the widest unit.
template <class Vector> double fmaGflops(Vector *sums, Vector factor) {
  constexpr int chains = 16;
  constexpr int64_t steps = 400000;
  const double start = nanosNow();
  for (int64_t i = 0; i < steps; ++i) {
    for (int c = 0; c < chains; ++c) {
      sums[c] = sums[c] * factor + factor;
    }
    asm volatile("" ::: "memory");
  }
  return 2.0 * steps * chains * sizeof(Vector) / 4 / (nanosNow() - start);
}
#endif

struct Row {
  std::string name;
  double ours, peer, ratio;
};

Row measure(const Case &c, const std::string &folder, const Peer &peer, double millis) {
  const std::string sizes = ", BLOCK_M=" + std::to_string(c.blockM) +
                            ", BLOCK_N=" + std::to_string(c.blockN) +
                            ", BLOCK_K=" + std::to_string(c.blockK);
  const bool grouped = c.kernel == "matmul_v2";
  const std::string signature =
      "a=*fp32:16, b=*fp32:16, c=*fp32:16, M=i32, N=i32, K=i32, stride_am=i32, stride_ak=1, "
      "stride_bk=i32, stride_bn=1, stride_cm=i32, stride_cn=1" +
      sizes + (grouped ? ", GROUP_M=4" : "");
  const nereid::Kernel kernel =
      nereid::Kernel::load(folder + "/" + c.kernel + ".py", c.kernel, signature);
  const Tensor a = Tensor::empty({c.m, c.k}, nereid::DType::F32);
  const Tensor b = Tensor::empty({c.k, c.n}, nereid::DType::F32);
  const Tensor out = Tensor::empty({c.m, c.n}, nereid::DType::F32);
  const Tensor expected = Tensor::empty({c.m, c.n}, nereid::DType::F32);
  a.fillNormal(1);
  b.fillNormal(2);
  out.poison();
  const int64_t tilesM = nereid::cdiv(c.m, c.blockM), tilesN = nereid::cdiv(c.n, c.blockN);
  auto ours = [&] {
    const nereid::Grid grid = grouped ? nereid::Grid{tilesM * tilesN} : nereid::Grid{tilesM, tilesN};
    kernel.launch(grid, a, b, out, c.m, c.n, c.k, c.k, c.n, c.n);
  };
  auto theirs = [&] { peer.run(c, a, b, expected); };
  ours();
  if (peer.sgemm) {
    theirs();
    for (int64_t i = 0; i < c.m * c.n; i += 97) {
      const double difference = std::abs(out.at(i) - expected.at(i));
      if (!(difference <= 1e-4 * std::sqrt(static_cast<double>(c.k)) * 10)) {
        std::fprintf(stderr, "%s: element %ld is %g, but the peer has %g\n", c.name.c_str(),
                     static_cast<long>(i), out.at(i), expected.at(i));
        std::exit(1);
      }
    }
  }
  const double flops = 2.0 * c.m * c.n * c.k;
  std::vector<double> oursNanos, peerNanos, ratios;
  const double stop = nanosNow() + millis * 1e6;
  do {
    double start = nanosNow();
    ours();
    oursNanos.push_back(nanosNow() - start);
    if (peer.sgemm) {
      start = nanosNow();
      theirs();
      peerNanos.push_back(nanosNow() - start);
      ratios.push_back(peerNanos.back() / oursNanos.back());
    }
  } while (nanosNow() < stop || oursNanos.size() < 3);
  return {c.name, flops / median(oursNanos), peer.sgemm ? flops / median(peerNanos) : 0,
          peer.sgemm ? median(ratios) : 0};
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
    for (const Case &c : cases()) {
      if (c.name.find(part) == std::string::npos) {
        continue;
      }
      rows.push_back(measure(c, folder, peer, millis));
      if (!isJson) {
        const Row &row = rows.back();
        std::printf("%-26s %8.1f GFLOP/s  OpenBLAS %8.1f  ratio %.3f\n", row.name.c_str(),
                    row.ours, row.peer, row.ratio);
        std::fflush(stdout);
      }
    }
    if (isJson) {
      std::printf("{\"schema\": 1, \"threads\": %d, \"peer\": \"OpenBLAS %s\", \"rows\": [\n",
                  threads, peer.kernels.c_str());
      for (size_t i = 0; i < rows.size(); ++i) {
        std::printf("  {\"case\": \"%s\", \"gflops\": %.2f, \"peer_gflops\": %.2f, \"ratio\": "
                    "%.4f}%s\n",
                    rows[i].name.c_str(), rows[i].ours, rows[i].peer, rows[i].ratio,
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
