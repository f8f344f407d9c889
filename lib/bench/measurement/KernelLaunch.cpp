// SPDX-License-Identifier: Apache-2.0
#include "lib/bench/measurement/KernelLaunch.h"

#include "lib/launch/DeviceArguments.h"
#include "lib/launch/KernelRunning.h"
#include "runtime/Device.h"
#include "runtime/ThreadPool.h"

#include <memory>
#include <vector>

namespace nereid::bench {

using launch::DeviceArguments;
using runtime::ArgumentValue;
using runtime::LaunchError;
using runtime::Stream;

TimedLaunch queuedWork(std::string name, runtime::Device &device,
                       std::function<LaunchError(Stream &)> queue, Queueing queueing) {
  TimedLaunch timed;
  timed.name = std::move(name);
  timed.device = &device;
  timed.queue = std::move(queue);
  timed.run = [&device, queue = timed.queue] {
    const launch::KernelRunning running;
    return device.runAndWait(queue).message;
  };
  auto clock = std::make_shared<DeviceClock>(device, queueing);
  timed.timedRuns = [queue = timed.queue, clock](int runs, double &seconds) {
    const launch::KernelRunning running;
    return clock->time(runs, queue, seconds).message;
  };
  timed.runEmpty = [] {};
  return timed;
}

Result<TimedLaunch> captured(std::string name, const TimedLaunch &launch, Queueing queueing) {
  const auto toError = [](const LaunchError &error) {
    return makeError(error.code, error.message);
  };
  auto made = launch.device->makeStream();
  if (const auto *error = std::get_if<LaunchError>(&made)) {
    return toError(*error);
  }
  const auto stream = std::get<0>(std::move(made));
  if (LaunchError error = stream->beginCapture()) {
    return toError(error);
  }
  const LaunchError queued = launch.queue(*stream);
  auto ended = stream->endCapture(); // also after an error, so that the stream is as before
  if (queued) {
    return toError(queued);
  }
  if (const auto *error = std::get_if<LaunchError>(&ended)) {
    return toError(*error);
  }
  std::shared_ptr<runtime::Graph> graph = std::get<0>(std::move(ended));
  TimedLaunch timed = queuedWork(
      std::move(name), *launch.device, [graph](Stream &on) { return graph->replay(on); }, queueing);
  timed.send = launch.send;
  timed.fetch = launch.fetch;
  timed.prepare = launch.prepare;
  return timed;
}

/// A launch that holds its own list of arguments.
struct OwnLaunch {
  const runtime::Kernel *kernel = nullptr;
  runtime::Grid grid = {1, 1, 1};
  std::vector<ArgumentValue> values;
};

TimedLaunch launchOf(std::string name, const runtime::Kernel &kernel, runtime::Grid grid,
                     std::span<const ArgumentValue> arguments, Queueing queueing) {
  const Launch only{&kernel, grid, arguments};
  return launchOf(std::move(name), std::span(&only, 1), queueing);
}

TimedLaunch launchOf(std::string name, std::span<const Launch> launches, Queueing queueing) {
  TimedLaunch timed;
  timed.name = std::move(name);
  auto own = std::make_shared<std::vector<OwnLaunch>>();
  std::vector<ArgumentValue> all;
  for (const Launch &one : launches) {
    own->push_back({one.kernel, one.grid, {one.values.begin(), one.values.end()}});
    all.insert(all.end(), one.values.begin(), one.values.end());
  }
  if (runtime::Device *device = runtime::otherDevice(*launches[0].kernel)) {
    auto made = DeviceArguments::make(*device, all);
    if (const auto *error = std::get_if<LaunchError>(&made)) {
      timed.run = [wrong = error->message] { return wrong; };
      timed.runEmpty = [] {};
      return timed;
    }
    auto placed = std::make_shared<DeviceArguments>(std::move(std::get<DeviceArguments>(made)));
    auto next = placed->values().begin();
    for (OwnLaunch &one : *own) {
      const auto end = next + static_cast<std::ptrdiff_t>(one.values.size());
      one.values.assign(next, end);
      next = end;
    }
    timed = queuedWork(
        std::move(timed.name), *device,
        [own](Stream &stream) {
          LaunchError error;
          for (const OwnLaunch &one : *own) {
            error = error ? error : runtime::launch(*one.kernel, one.grid, one.values, stream);
          }
          return error;
        },
        queueing);
    timed.send = [placed] { return placed->send().message; };
    timed.fetch = [placed] { return placed->fetch().message; };
  } else {
    timed.run = [own] {
      const launch::KernelRunning running;
      LaunchError error;
      for (const OwnLaunch &one : *own) {
        error = error ? error
                      : runtime::launch(*one.kernel, one.grid, one.values, runtime::defaultPool());
      }
      return error.message;
    };
  }
  timed.runEmpty = [own] {
    for (const OwnLaunch &one : *own) {
      (void)runtime::launch(*one.kernel, {0, 1, 1}, one.values, runtime::defaultPool());
    }
  };
  return timed;
}

} // namespace nereid::bench
