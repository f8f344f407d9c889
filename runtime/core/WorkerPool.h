// SPDX-License-Identifier: Apache-2.0
// Threads that help the calling one. A job is offered, never assigned: the caller publishes it in
// one atomic word, works on it itself, and closes it when its own part is done; a worker joins only
// while the job is open. So a worker that wakes too late costs nothing, a job needs no worker at
// all, and the child of a fork, whose workers are gone, still completes its work. Shared by both
// runtimes; no C++ library.
#pragma once

#include "runtime/core/Placement.h"

#include <atomic>
#include <cstdint>

namespace nereid::runtime {

class WorkerPool {
public:
  /// What a job does on one thread. It must not throw.
  using Call = void (*)(void *data, int worker);
  /// What a caller does while another one has the workers.
  enum class WhenBusy : uint8_t {
    Wait,  ///< for its turn
    Alone, ///< does the whole job itself
  };

  /// 0 = one thread for each CPU this process may use, 4096 at most. Threads start with the first
  /// job that wants them. Null when memory is short.
  static WorkerPool *create(int threads);
  /// Null is allowed. No job may be running.
  static void destroy(WorkerPool *pool);

  int threadCount() const { return threads; }
  /// Whether a worker looks for work just now, so that sharing costs no system call.
  bool hasAwakeWorker() const { return awake.load(std::memory_order_relaxed) > 0; }
  /// The number by which this thread runs a job of this pool, in its innermost one; -1 outside.
  int workerHere() const;

  /// Calls call(data, 0) on this thread, and once on each worker that comes before it returns, with
  /// numbers from 1 to threadCount() - 1; at most `wanted` threads are asked to. Returns when all
  /// calls have. A job within a job of this pool is done by its thread alone, as number 0.
  void share(int wanted, Call call, void *data, WhenBusy whenBusy);

private:
  explicit WorkerPool(int threads, bool isCrowded) : threads(threads), isCrowded(isCrowded) {}
  ~WorkerPool() = default;

  static void countForks();
  static void *workerMain(void *argument);
  void run(Call runCall, void *runData, int worker);
  bool tryJoin(uint64_t &lastEpoch);
  bool awaitJob(uint64_t &lastEpoch);
  void workerLoop(int worker);
  void start();
  void ring(int wanted);
  void forgetWorkers();
  void leaveList();

  const int threads;
  const bool isCrowded; ///< more threads than CPUs
  bool isStarted = false;
  pthread_mutex_t callers = PTHREAD_MUTEX_INITIALIZER;
  PlacedWorker *workers = nullptr;
  int workerCount = 0; ///< that were started
  int excluded = -1;   ///< see runtime/core/Placement.h
  WorkerPool *nextPool = nullptr;

  // Written before the job is opened, read by workers inside it.
  Call call = nullptr;
  void *data = nullptr;

  /// Epoch in the high half, then one bit "open", then the number of workers inside.
  alignas(64) std::atomic<uint64_t> offer{0};
  alignas(64) std::atomic<uint32_t> bell{0};
  std::atomic<int> sleepers{0};
  std::atomic<int> awake{0};   ///< workers that look for a job, or have one
  std::atomic<int> arrived{0}; ///< workers that have taken their number
  std::atomic<bool> stop{false};
};

} // namespace nereid::runtime
