// SPDX-License-Identifier: Apache-2.0
#include "lib/bench/measurement/KernelLaunch.h"

#include "lib/bench/measurement/DeviceClock.h"
#include "lib/launch/DeviceArguments.h"
#include "lib/launch/KernelRunning.h"
#include "runtime/Device.h"
#include "runtime/ThreadPool.h"

#include <memory>
#include <vector>

namespace nereid::bench {

using launch::DeviceArguments;
using runtime::ArgumentValue;

TimedLaunch launchOf(std::string name, const runtime::Kernel &kernel, runtime::Grid grid,
                     std::span<const ArgumentValue> arguments) {
  TimedLaunch timed;
  timed.name = std::move(name);
  auto values = std::make_shared<std::vector<ArgumentValue>>(arguments.begin(), arguments.end());
  if (runtime::Device *device = runtime::otherDevice(kernel)) {
    auto made = DeviceArguments::make(*device, arguments);
    if (const auto *error = std::get_if<runtime::LaunchError>(&made)) {
      timed.run = [wrong = error->message] { return wrong; };
      timed.runEmpty = [] {};
      return timed;
    }
    auto placed = std::make_shared<DeviceArguments>(std::move(std::get<DeviceArguments>(made)));
    values->assign(placed->values().begin(), placed->values().end());
    timed.send = [placed] { return placed->send().message; };
    timed.fetch = [placed] { return placed->fetch().message; };
    auto clock = std::make_shared<DeviceClock>(kernel.code->device());
    timed.timedRuns = [&kernel, grid, values, clock](int runs, double &seconds) {
      const auto launchOnce = [&](runtime::Stream &stream) {
        return runtime::launch(kernel, grid, *values, stream);
      };
      const launch::KernelRunning running;
      return clock->time(runs, launchOnce, seconds).message;
    };
  }
  timed.run = [&kernel, grid, values] {
    const launch::KernelRunning running;
    return runtime::launch(kernel, grid, *values, runtime::defaultPool()).message;
  };
  timed.runEmpty = [&kernel, values] {
    (void)runtime::launch(kernel, {0, 1, 1}, *values, runtime::defaultPool());
  };
  return timed;
}

} // namespace nereid::bench
