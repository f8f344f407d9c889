// SPDX-License-Identifier: Apache-2.0
#include "test/language/engines/ToyStream.h"

#include "runtime/Kernel.h"
#include "runtime/core/Clock.h"
#include "test/language/engines/ToyDevice.h"

#include <cstring>
#include <utility>

namespace nereid::conformance {

using runtime::LaunchError;

ToyQueue::~ToyQueue() {
  {
    std::lock_guard guard(lock);
    isEnding = true;
  }
  changed.notify_all();
  thread.join();
}

void ToyQueue::push(std::function<void()> work) {
  {
    std::lock_guard guard(lock);
    works.push_back(std::move(work));
  }
  changed.notify_all();
}

void ToyQueue::wait() {
  std::unique_lock guard(lock);
  changed.wait(guard, [&] { return works.empty() && !isBusy; });
}

void ToyQueue::run() {
  std::unique_lock guard(lock);
  while (true) {
    changed.wait(guard, [&] { return isEnding || !works.empty(); });
    if (works.empty()) {
      return;
    }
    {
      const std::function<void()> work = std::move(works.front());
      works.pop_front();
      isBusy = true;
      guard.unlock();
      work();
    } // what it holds goes before anybody hears that it is done
    guard.lock();
    isBusy = false;
    changed.notify_all();
  }
}

namespace {

class ToyEvent final : public runtime::Event {
public:
  /// Outlives the event where the queue has not come to it, or others wait for it.
  struct Point {
    std::mutex lock;
    std::condition_variable changed;
    int64_t nanos = -1; ///< not reached
    void reach() {
      {
        std::lock_guard guard(lock);
        nanos = runtime::nowNanos();
      }
      changed.notify_all();
    }
    int64_t wait() {
      std::unique_lock guard(lock);
      changed.wait(guard, [&] { return nanos >= 0; });
      return nanos;
    }
  };

  using Event::Event;
  LaunchError synchronize() override {
    point->wait();
    return {};
  }
  std::variant<double, LaunchError> nanosSince(Event &start) override {
    const int64_t end = point->wait();
    return static_cast<double>(end - static_cast<ToyEvent &>(start).point->wait());
  }

  const std::shared_ptr<Point> point = std::make_shared<Point>();
};

class ToyStream final : public runtime::Stream {
public:
  ToyStream(ToyDevice &device, ToyQueue *foreign)
      : Stream(device), toy(device), own(foreign ? nullptr : std::make_unique<ToyQueue>()),
        queue(foreign ? *foreign : *own) {}

  LaunchError launch(const runtime::Kernel &kernel, runtime::Grid grid, const uint64_t *slots,
                     runtime::ProgramOrder) override {
    push([&device = toy, kernel, grid, copy = std::vector(slots, slots + kernel.info.slots())] {
      return launchToy(device, kernel, grid, copy.data());
    });
    return {};
  }
  LaunchError copyIn(void *to, const void *from, uint64_t bytes) override {
    return copy(otherSide(to), from, bytes);
  }
  LaunchError copyOut(void *to, const void *from, uint64_t bytes) override {
    return copy(to, otherSide(from), bytes);
  }
  std::variant<std::unique_ptr<runtime::Event>, LaunchError> record() override {
    auto event = std::make_unique<ToyEvent>(toy);
    queue.push([point = event->point] { point->reach(); });
    return event;
  }
  LaunchError synchronize() override {
    queue.wait();
    std::lock_guard guard(failure->lock);
    return std::exchange(failure->first, {});
  }

private:
  /// Of the work that came through this stream; outlives it on a queue of another library.
  struct Failure {
    std::mutex lock;
    LaunchError first;
  };

  LaunchError queueWait(runtime::Event &event) override {
    queue.push([point = static_cast<ToyEvent &>(event).point] { point->wait(); });
    return {};
  }
  LaunchError copy(void *to, const void *from, uint64_t bytes) {
    push([to, from, bytes] {
      std::memcpy(to, from, bytes);
      return LaunchError{};
    });
    return {};
  }
  template <class Work> void push(Work work) {
    queue.push([work = std::move(work), failure = failure] {
      LaunchError error = work();
      std::lock_guard guard(failure->lock);
      failure->first = failure->first ? failure->first : std::move(error);
    });
  }

  ToyDevice &toy;
  const std::shared_ptr<Failure> failure = std::make_shared<Failure>();
  const std::unique_ptr<ToyQueue> own; ///< ends, and so waits, with this stream
  ToyQueue &queue;
};

} // namespace

std::unique_ptr<runtime::Stream> makeToyStream(ToyDevice &device, ToyQueue *foreign) {
  return std::make_unique<ToyStream>(device, foreign);
}

} // namespace nereid::conformance
