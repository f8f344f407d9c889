// SPDX-License-Identifier: Apache-2.0
// What the fake driver knows: contexts, and in them memory, streams, events, modules. Every
// function of the driver begins with a Call, which holds the one lock.
#pragma once

#include "unittests/nvidia_driver/fake/FakeCuda.h"

#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <set>

#define FAKE_CUDA extern "C" __attribute__((visibility("default")))

namespace nereid::nvidia::test {

using Operation = std::function<cuda::Result()>;

struct FakeContext {
  int device = 0;
  unsigned long long id = 0; ///< another one for each context that there has been
  int retained = 0;
  cuda::Result sticky = cuda::Success; ///< what a fault has left
  struct FakeStream *unnamed = nullptr;
};

struct FakeStream {
  FakeContext *context = nullptr;
  std::deque<Operation> queue;
  uint64_t queued = 0, done = 0;
  std::vector<Operation> *capture = nullptr;
};

struct FakeEvent {
  FakeContext *context = nullptr;
  FakeStream *stream = nullptr; ///< null: never recorded
  uint64_t position = 0;
  std::shared_ptr<double> milliseconds = std::make_shared<double>(-1);
};

struct FakeKernel {
  std::string name;
  std::vector<size_t> parameterBytes;
  int threads = 0; ///< that every launch must have; 0 = any number
  int maxThreads = 1024, staticShared = 0, maxDynamicShared = 48 << 10;
};

struct FakeModule {
  FakeContext *context = nullptr;
  bool isMachineCode = false;
  std::map<std::string, FakeKernel> kernels;
  std::map<std::string, std::pair<cuda::Address, size_t>> globals;
};

struct FakeGraph {
  std::vector<Operation> operations;
};

struct Block {
  FakeContext *context = nullptr;
  std::vector<uint8_t> bytes;
};

class State final : public FakeCuda {
public:
  std::recursive_mutex lock;
  bool isInitialized = false;
  std::map<int, FakeContext> primaries;
  // Never freed, so that a handle that was destroyed is none that has been made since.
  std::deque<FakeContext> madeContexts;
  std::deque<FakeStream> madeStreams;
  std::deque<FakeEvent> madeEvents;
  std::deque<FakeModule> madeModules;
  // Those that are alive.
  std::set<FakeContext *> contexts;
  std::set<FakeStream *> streams;
  std::set<FakeEvent *> events;
  std::set<FakeModule *> modules;
  std::set<FakeGraph *> graphs, execs;
  std::map<cuda::Address, Block> memory; ///< the addresses are none of the host's
  std::map<void *, FakeContext *> pinned;
  cuda::Address nextAddress = 0x7d0000000000;
  unsigned long long nextContext = 1;

  cuda::Result violate(const std::string &what, cuda::Result result) {
    violations.push_back(what);
    return result;
  }
  /// Where the bytes lie, or null when they are not all of one allocation.
  uint8_t *at(cuda::Address address, size_t bytes);
  bool isPinned(const void *address) const { return pinned.contains(const_cast<void *>(address)); }
  /// Streams without a name live as long as their contexts.
  bool isAlive(FakeStream *stream) const {
    return streams.contains(stream) || (stream && stream->context->unnamed == stream);
  }
  /// Runs what is queued until so much is done. The first failure is the context's for ever.
  cuda::Result run(FakeStream &stream, uint64_t until);
  cuda::Result enqueue(FakeStream &stream, Operation operation);
  uint64_t usedBytes(int device) const;

  size_t liveObjects() override;
  cuda::Context makeContext(int device) override;
  cuda::Context primaryContext(int device) override;
  void setCurrent(cuda::Context context) override;
  cuda::Context current() override;
  cuda::Stream makeStream(cuda::Context context) override;
  void destroyStream(cuda::Stream stream) override;
  void revive(int device) override;
};

State &state();
/// Of the calling thread.
std::vector<FakeContext *> &contextStack();

/// One call of the driver. `result` is what to return when it is not Success.
class Call {
public:
  enum Needs : uint8_t { Nothing, Initialized, CurrentContext };
  explicit Call(const char *name, Needs needs = CurrentContext);

  cuda::Result result = cuda::Success;
  FakeContext *context = nullptr; ///< the current one
  /// The handle when it is alive and of the current context, else null and `result`.
  FakeStream *stream(cuda::Stream handle);
  FakeEvent *event(cuda::Event handle, bool ofAnyContext = false);

private:
  std::unique_lock<std::recursive_mutex> guard;
  std::string name;
};

/// The kernels that the tests' PTX has, on the host: see unittests/nvidia_driver/Kernels.h.
cuda::Result runKernel(const FakeCuda::Launch &launch, const std::vector<uint64_t> &parameters,
                       const FakeKernel &kernel);

} // namespace nereid::nvidia::test
