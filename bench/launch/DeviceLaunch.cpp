// SPDX-License-Identifier: Apache-2.0
// What the host pays for kernels on a GPU, as a user's program: the public header and the shared
// library. Warm: a launch of a compiled kernel beside cuLaunchKernel of one with the same
// parameters, in turns. Cold: the first kernel of a process, from text to the end of its first
// launch, without what the driver's library and context take, which another library may have paid.
//   device_launch warm|cold [KERNEL.py]
// Prints one JSON object.
#include "bench/Figures.h"
#include "lib/targets/nvidia/driver/Cuda.h"

#include <nereid/nereid.hpp>

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace {

namespace cuda = nereid::nvidia::cuda;

constexpr const char *signature = "*fp32:16, *fp32:16, *fp32:16, i32, 1024";
constexpr int programsAtOnce = 256; ///< fewer than a stream holds, so that nobody waits for room
constexpr int rounds = 41;

/// The same parameters as vector_add's; every thread returns.
constexpr const char *emptyPtx = R"(
.version 8.0
.target sm_80
.address_size 64
.visible .entry nothing(.param .u64 x, .param .u64 y, .param .u64 out, .param .u32 n)
.reqntid 128, 1, 1
{
  ret;
}
)";

/// The launch that ours is held against, which is not among the calls that the project makes.
using LaunchKernel = cuda::Result (*)(cuda::Function, unsigned, unsigned, unsigned, unsigned,
                                      unsigned, unsigned, unsigned, cuda::Stream, void **, void **);

struct DriverCalls {
  LaunchKernel launchKernel = nullptr;
#define NEREID_CUDA(name, symbol, parameters) cuda::Result(*name) parameters = nullptr;
#include "lib/targets/nvidia/driver/CudaFunctions.def"
};

void require(cuda::Result result, const char *what) {
  if (result != cuda::Success) {
    std::fprintf(stderr, "device_launch: the driver refuses %s: %d\n", what, result);
    std::exit(2);
  }
}

DriverCalls openDriver() {
  void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    std::fprintf(stderr, "device_launch expects a GPU's driver: %s\n", dlerror());
    std::exit(77);
  }
  DriverCalls calls;
#define NEREID_CUDA(name, symbol, parameters)                                                      \
  calls.name = reinterpret_cast<decltype(calls.name)>(dlsym(library, #symbol));
#include "lib/targets/nvidia/driver/CudaFunctions.def"
  calls.launchKernel = reinterpret_cast<LaunchKernel>(dlsym(library, "cuLaunchKernel"));
  require(calls.init(0), "to start");
  return calls;
}

/// Made current and used once, so that nothing of it is left for later.
void makeContext(const DriverCalls &driver) {
  cuda::DeviceNumber device = 0;
  cuda::Context context = nullptr;
  cuda::Address memory = 0;
  require(driver.deviceGet(&device, 0), "a device");
  require(driver.primaryCtxRetain(&context, device), "a context");
  require(driver.ctxPushCurrent(context), "to make it current");
  require(driver.memAlloc(&memory, 1 << 20), "memory");
  require(driver.memFree(memory), "to free it");
}

struct Row {
  const char *name;
  std::vector<double> samples; ///< nanoseconds
};

void print(const std::vector<Row> &rows) {
  std::printf("{\"schema\": 1, \"rows\": [\n");
  for (size_t i = 0; i < rows.size(); ++i) {
    std::printf("  {\"case\": \"%s\", \"nanos\": %.1f, %s}%s\n", rows[i].name,
                median(rows[i].samples), figuresJson(rows[i].samples).c_str(),
                i + 1 < rows.size() ? "," : "");
  }
  std::printf("]}\n");
}

template <class Launch, class Wait> void sample(Row &row, const Launch &launch, const Wait &wait) {
  const double start = nanosNow();
  for (int i = 0; i < programsAtOnce; ++i) {
    launch();
  }
  row.samples.push_back((nanosNow() - start) / programsAtOnce);
  wait();
}

void warm(const char *path) {
  const DriverCalls driver = openDriver();
  makeContext(driver);
  cuda::Module module = nullptr;
  cuda::Function function = nullptr;
  cuda::Stream stream = nullptr;
  require(driver.moduleLoadDataEx(&module, emptyPtx, 0, nullptr, nullptr), "the empty kernel");
  require(driver.moduleGetFunction(&function, module, "nothing"), "its function");
  require(driver.streamCreate(&stream, cuda::streamNonBlocking), "a stream");
  nereid_kernel *kernel = nullptr;
  nereid_stream *queue = nullptr;
  nereid::check(nereid_kernel_load_on("nvidia:0", path, nullptr, signature, nullptr, &kernel));
  nereid::check(nereid_stream_wrap("nvidia:0", stream, &queue));
  const int64_t elements = 1024, grid[3] = {1, 1, 1};
  nereid_argument arguments[4] = {};
  cuda::Address addresses[3] = {};
  for (int i = 0; i < 3; ++i) {
    nereid_tensor *tensor = nullptr;
    nereid::check(nereid_tensor_create_on("nvidia:0", &elements, 1, NEREID_F32, &tensor));
    arguments[i].kind = NEREID_ARGUMENT_TENSOR;
    arguments[i].value.tensor = tensor;
    addresses[i] = reinterpret_cast<cuda::Address>(nereid_tensor_data(tensor));
  }
  arguments[3].kind = NEREID_ARGUMENT_INTEGER;
  arguments[3].value.integer = 0; // nothing is done, as by the other kernel
  int n = 0;
  void *parameters[] = {&addresses[0], &addresses[1], &addresses[2], &n};
  const auto ours = [&] { nereid::check(nereid_stream_launch(queue, kernel, grid, arguments, 4)); };
  const auto raw = [&] {
    require(driver.launchKernel(function, 1, 1, 1, 128, 1, 1, 0, stream, parameters, nullptr),
            "a launch");
  };
  const auto wait = [&] { require(driver.streamSynchronize(stream), "to wait"); };
  // A thread of a program that has no other use for the driver has no context of its own.
  const auto oursAlone = [&](Row &row) {
    cuda::Context context = nullptr;
    require(driver.ctxPopCurrent(&context), "to leave the context");
    sample(row, ours, [] {});
    require(driver.ctxPushCurrent(context), "to enter the context");
    wait();
  };
  std::vector<Row> rows = {{"cuLaunchKernel", {}},
                           {"nereid_stream_launch", {}},
                           {"nereid_stream_launch, no context current", {}},
                           {"added to cuLaunchKernel", {}},
                           {"added to cuLaunchKernel, no context current", {}}};
  Row ignored{"", {}};
  for (int i = 0; i < 3; ++i) {
    sample(ignored, raw, wait);
    sample(ignored, ours, wait);
  }
  for (int round = 0; round < rounds; ++round) {
    for (const bool isRaw : {round % 2 == 0, round % 2 != 0}) {
      isRaw ? sample(rows[0], raw, wait) : sample(rows[1], ours, wait);
    }
    oursAlone(rows[2]);
    for (const int who : {1, 2}) {
      rows[2 + who].samples.push_back(rows[who].samples.back() - rows[0].samples.back());
    }
  }
  print(rows);
}

void cold(const char *path) {
  const double begin = nanosNow();
  makeContext(openDriver());
  const double isUp = nanosNow();
  nereid_kernel *kernel = nullptr;
  nereid::check(nereid_kernel_load_on("nvidia:0", path, nullptr, signature, nullptr, &kernel));
  const double isLoaded = nanosNow();
  const int64_t elements = 1 << 20, grid[3] = {elements / 1024, 1, 1};
  nereid_argument arguments[4] = {};
  for (int i = 0; i < 3; ++i) {
    nereid_tensor *tensor = nullptr;
    nereid::check(nereid_tensor_create_on("nvidia:0", &elements, 1, NEREID_F32, &tensor));
    arguments[i].kind = NEREID_ARGUMENT_TENSOR;
    arguments[i].value.tensor = tensor;
  }
  arguments[3].kind = NEREID_ARGUMENT_INTEGER;
  arguments[3].value.integer = elements;
  nereid::check(nereid_kernel_launch(kernel, grid, arguments, 4));
  const double isDone = nanosNow();
  print({{"driver and context", {isUp - begin}},
         {"compile and load", {isLoaded - isUp}},
         {"memory and first launch", {isDone - isLoaded}},
         {"all but driver and context", {isDone - isUp}}});
}

} // namespace

int main(int argc, char **argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  const char *path = argc > 2 ? argv[2] : "kernels/vector_add/vector_add.py";
  if (what != "warm" && what != "cold") {
    std::fprintf(stderr, "usage: device_launch warm|cold [KERNEL.py]\n");
    return 2;
  }
  try {
    what == "warm" ? warm(path) : cold(path);
    return 0;
  } catch (const nereid::Error &error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  }
}
