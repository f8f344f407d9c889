// SPDX-License-Identifier: Apache-2.0
#include "lib/measure/peers/Peers.h"

#include "lib/measure/peers/PeerLibrary.h"
#include "runtime/ThreadPool.h"
#include "runtime/cpu/CpuFeatures.h"

#include <array>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include <dlfcn.h>

namespace nereid::measure {

using runtime::Tensor;

namespace {

/// cblas_sgemm of the CBLAS interface: order, transposes, sizes, alpha, a, lda, b, ldb, beta, c,
/// ldc.
using Sgemm = void (*)(int, int, int, int, int, int, float, const float *, int, const float *, int,
                       float, float *, int);
using SetThreads = void (*)(int);

constexpr const char *openBlasFile = "libopenblas.so.0";
constexpr int cblasRowMajor = 101;
constexpr int cblasNoTrans = 111;

Sgemm findSgemm() {
  static Sgemm found = [] {
    // It knows chips by name, and takes kernels half as fast for one that is newer than itself.
    if (runtime::hasCpuFeature("avx512f")) {
      setenv("OPENBLAS_CORETYPE", "SKYLAKEX", /*overwrite=*/0);
    }
    void *library = dlopen(openBlasFile, RTLD_NOW | RTLD_LOCAL);
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

std::optional<Peer> openBlas(const PeerCall &call, const std::vector<Tensor> &inputs,
                             const Tensor &output) {
  bool isProduct = (call.operation == "matmul" || call.operation == "mm") && inputs.size() == 2 &&
                   isFloatMatrix(inputs[0]) && isFloatMatrix(inputs[1]) && isFloatMatrix(output);
  Sgemm sgemm = isProduct ? findSgemm() : nullptr;
  if (sgemm == nullptr) {
    return std::nullopt;
  }
  int m = static_cast<int>(inputs[0].shape()[0]), k = static_cast<int>(inputs[0].shape()[1]);
  int n = static_cast<int>(inputs[1].shape()[1]);
  return Peer{"OpenBLAS",
              [=] {
                sgemm(cblasRowMajor, cblasNoTrans, cblasNoTrans, m, n, k, 1.0F,
                      inputs[0].as<float>(), k, inputs[1].as<float>(), n, 0.0F, output.as<float>(),
                      n);
              },
              output};
}

/// Libraries that `./dev bench` builds of bench/peers, for what is installed.
struct PeerFile {
  const char *name, *file;
};
constexpr std::array<PeerFile, 2> peerFiles = {
    {{"oneDNN", "libnereid_peer_onednn.so"}, {"parallel STL", "libnereid_peer_parallel.so"}}};

std::filesystem::path peerFolder() {
  std::error_code ignored;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", ignored);
  return program.parent_path().parent_path() / "lib";
}

struct PeerLibrary {
  nereid_peer_open_function open = nullptr;
  nereid_peer_run_function run = nullptr;
  nereid_peer_close_function close = nullptr;
};

/// Those that are built, in the order in which they are asked.
const std::vector<PeerLibrary> &peerLibraries() {
  static const std::vector<PeerLibrary> found = [] {
    // A worker that keeps spinning after a library's own run would run into the next version's.
    ::setenv("GOMP_SPINCOUNT", "20000", 0);
    // Two threads of one library that wake up on one processor would wait for each other. Ours are
    // started before, so that they do not inherit the caller's place.
    runtime::defaultPool();
    ::setenv("OMP_PROC_BIND", "true", 0);
    std::vector<PeerLibrary> libraries;
    for (const PeerFile &one : peerFiles) {
      void *handle = dlopen((peerFolder() / one.file).c_str(), RTLD_NOW | RTLD_LOCAL);
      PeerLibrary library;
      if (handle != nullptr) {
        library.open =
            reinterpret_cast<nereid_peer_open_function>(dlsym(handle, "nereid_peer_open"));
        library.run = reinterpret_cast<nereid_peer_run_function>(dlsym(handle, "nereid_peer_run"));
        library.close =
            reinterpret_cast<nereid_peer_close_function>(dlsym(handle, "nereid_peer_close"));
      }
      if (library.open && library.run && library.close) {
        libraries.push_back(library);
      }
    }
    return libraries;
  }();
  return found;
}

/// A request and what its pointers point to.
struct OpenPeer {
  PeerCall call;
  std::vector<Tensor> inputs;
  Tensor output;
  std::vector<nereid_peer_tensor> views;
  std::vector<nereid_peer_attribute> attributes;
  std::array<char, 64> name{};
  nereid_peer_request request{};
  PeerLibrary library;
  nereid_peer *handle = nullptr;

  ~OpenPeer() {
    if (handle != nullptr) {
      library.close(handle);
    }
  }
};

nereid_peer_tensor viewOf(const Tensor &tensor) {
  return {tensor.data(), tensor.shape().data(), static_cast<int>(tensor.shape().size()),
          static_cast<int>(tensor.dtype())};
}

std::optional<Peer> fromLibraries(const PeerCall &call, const std::vector<Tensor> &inputs,
                                  const Tensor &output) {
  auto peer = std::make_shared<OpenPeer>();
  peer->call = call;
  peer->inputs = inputs;
  peer->output = output;
  for (const Tensor &tensor : peer->inputs) {
    peer->views.push_back(viewOf(tensor));
  }
  for (const auto &[name, value] : peer->call.attributes) {
    peer->attributes.push_back({name.c_str(), value});
  }
  peer->request = {peer->call.operation.c_str(),
                   peer->views.data(),
                   peer->views.size(),
                   peer->attributes.data(),
                   peer->attributes.size(),
                   viewOf(peer->output),
                   runtime::defaultPool().threadCount(),
                   peer->name.data()};
  for (const PeerLibrary &library : peerLibraries()) {
    peer->library = library;
    peer->handle = library.open(&peer->request);
    if (peer->handle != nullptr) {
      return Peer{peer->name.data(), [peer] { peer->library.run(peer->handle); }, peer->output};
    }
  }
  return std::nullopt;
}

} // namespace

std::vector<PeerSource> peerSources() {
  const auto sourceOf = [](const std::string &name, const std::string &file,
                           const std::string &remedy) {
    void *handle = dlopen(file.c_str(), RTLD_LAZY | RTLD_LOCAL);
    PeerSource source{name, handle != nullptr, file};
    if (handle == nullptr) {
      const char *why = dlerror();
      source.state = std::string(why != nullptr ? why : file) + "; " + remedy;
    }
    return source; // what is loaded stays: a peer would load it again
  };
  std::vector<PeerSource> sources = {sourceOf("OpenBLAS", openBlasFile, "install libopenblas0")};
  for (const PeerFile &one : peerFiles) {
    sources.push_back(
        sourceOf(one.name, (peerFolder() / one.file).string(), "./dev bench builds it"));
  }
  return sources;
}

std::optional<Peer> findPeer(const PeerCall &call, const std::map<std::string, Tensor> &tensors,
                             const Tensor &output) {
  std::vector<Tensor> inputs;
  for (const std::string &name : call.inputs) {
    auto found = tensors.find(name);
    if (found == tensors.end() || !found->second.isContiguous()) {
      return std::nullopt;
    }
    inputs.push_back(found->second);
  }
  Tensor own = output.to(output.dtype());
  if (!own.isValid()) {
    return std::nullopt;
  }
  std::optional<Peer> peer = openBlas(call, inputs, own);
  return peer ? peer : fromLibraries(call, inputs, own);
}

} // namespace nereid::measure
