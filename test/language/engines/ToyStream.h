// SPDX-License-Identifier: Apache-2.0
// Streams of the toy device: each is a thread that does what it is given in order, so that work of
// two of them truly runs at once, and later than the calls that queued it.
#pragma once

#include "runtime/Stream.h"

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

namespace nereid::conformance {

/// What the driver of a toy has for a stream. Another library that uses toys has such ones as well.
class ToyQueue {
public:
  ToyQueue() : thread([this] { run(); }) {}
  /// Does first what was given to it.
  ~ToyQueue();
  void push(std::function<void()> work);
  /// Until all that was pushed is done.
  void wait();

private:
  void run();

  std::mutex lock;
  std::condition_variable changed;
  std::deque<std::function<void()>> works;
  bool isBusy = false, isEnding = false;
  std::thread thread; ///< last, as it uses the others
};

class ToyDevice;

/// On a queue of its own, or on that of another library.
std::unique_ptr<runtime::Stream> makeToyStream(ToyDevice &device, ToyQueue *foreign = nullptr);

} // namespace nereid::conformance
