// SPDX-License-Identifier: Apache-2.0
#include "lib/measure/Peers.h"

#include "runtime/ThreadPool.h"

#include <regex>

#include <dlfcn.h>

namespace nereid::measure {

using runtime::Tensor;

namespace {

/// cblas_sgemm of the CBLAS interface: order, transposes, sizes, alpha, a, lda, b, ldb, beta, c,
/// ldc.
using Sgemm = void (*)(int, int, int, int, int, int, float, const float *, int, const float *, int,
                       float, float *, int);
using SetThreads = void (*)(int);

constexpr int cblasRowMajor = 101;
constexpr int cblasNoTrans = 111;

Sgemm findSgemm() {
  static Sgemm found = [] {
    void *library = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
      return static_cast<Sgemm>(nullptr);
    }
    if (auto *setThreads =
            reinterpret_cast<SetThreads>(dlsym(library, "openblas_set_num_threads"))) {
      setThreads(runtime::defaultPool().threadCount());
    }
    return reinterpret_cast<Sgemm>(dlsym(library, "cblas_sgemm"));
  }();
  return found;
}

bool isFloatMatrix(const Tensor &tensor) {
  return tensor.dtype() == DType::F32 && tensor.shape().size() == 2 && tensor.isContiguous();
}

} // namespace

std::optional<Peer> findPeer(const std::string &expression,
                             const std::map<std::string, Tensor> &tensors) {
  static const std::regex product(
      R"(\s*(?:torch\.)?(?:matmul|mm)\(\s*(\w+)\s*,\s*(\w+)\s*\)\s*|\s*(\w+)\s*@\s*(\w+)\s*)");
  std::smatch match;
  if (!std::regex_match(expression, match, product)) {
    return std::nullopt;
  }
  auto a = tensors.find(match[1].matched ? match[1].str() : match[3].str());
  auto b = tensors.find(match[2].matched ? match[2].str() : match[4].str());
  bool isKnown = a != tensors.end() && b != tensors.end() && isFloatMatrix(a->second) &&
                 isFloatMatrix(b->second);
  Sgemm sgemm = isKnown ? findSgemm() : nullptr;
  if (sgemm == nullptr) {
    return std::nullopt;
  }
  int m = static_cast<int>(a->second.shape()[0]), k = static_cast<int>(a->second.shape()[1]);
  int n = static_cast<int>(b->second.shape()[1]);
  Tensor c = Tensor::empty({m, n}, DType::F32);
  if (!c.isValid()) {
    return std::nullopt;
  }
  return Peer{"OpenBLAS", [=, first = a->second, second = b->second] {
                sgemm(cblasRowMajor, cblasNoTrans, cblasNoTrans, m, n, k, 1.0F, first.as<float>(),
                      k, second.as<float>(), n, 0.0F, c.as<float>(), n);
              }};
}

} // namespace nereid::measure
