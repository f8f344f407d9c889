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

TimedLaunch launchOf(std::string name, const runtime::Kernel &kernel, runtime::Grid grid,
                     std::span<const ArgumentValue> arguments, Queueing queueing) {
  TimedLaunch timed;
  timed.name = std::move(name);
  auto values = std::make_shared<std::vector<ArgumentValue>>(arguments.begin(), arguments.end());
  if (runtime::Device *device = runtime::otherDevice(kernel)) {
    auto made = DeviceArguments::make(*device, arguments);
    if (const auto *error = std::get_if<LaunchError>(&made)) {
      timed.run = [wrong = error->message] { return wrong; };
      timed.runEmpty = [] {};
      return timed;
    }
    auto placed = std::make_shared<DeviceArguments>(std::move(std::get<DeviceArguments>(made)));
    values->assign(placed->values().begin(), placed->values().end());
    timed = queuedWork(
        std::move(timed.name), *device,
        [&kernel, grid, values](Stream &stream) {
          return runtime::launch(kernel, grid, *values, stream);
        },
        queueing);
    timed.send = [placed] { return placed->send().message; };
    timed.fetch = [placed] { return placed->fetch().message; };
  } else {
    timed.run = [&kernel, grid, values] {
      const launch::KernelRunning running;
      return runtime::launch(kernel, grid, *values, runtime::defaultPool()).message;
    };
  }
  timed.runEmpty = [&kernel, values] {
    (void)runtime::launch(kernel, {0, 1, 1}, *values, runtime::defaultPool());
  };
  return timed;
}

} // namespace nereid::bench
