// SPDX-License-Identifier: Apache-2.0
#include "lib/bench/measurement/DeviceClock.h"

#include "lib/measure/Timer.h"

#include <cstring>
#include <variant>

namespace nereid::bench {

using runtime::LaunchError;
using runtime::Stream;

namespace {

/// What PCI Express moves in 150 microseconds or more: a busy host takes tens to queue a launch.
constexpr uint64_t busyBytes = 8 << 20;

/// The event, or null and `error`.
std::unique_ptr<runtime::Event> recordIn(Stream &stream, LaunchError &error) {
  auto recorded = stream.record();
  if (LaunchError *refused = std::get_if<LaunchError>(&recorded)) {
    error = std::move(*refused);
    return nullptr;
  }
  return std::get<0>(std::move(recorded));
}

} // namespace

LaunchError DeviceClock::keepBusy(Stream &stream) {
  if (!there) {
    auto made = device.makeStream();
    if (LaunchError *refused = std::get_if<LaunchError>(&made)) {
      return std::move(*refused);
    }
    copies = std::get<0>(std::move(made));
    here = device.allocateHost(busyBytes);
    there = here ? device.allocate(busyBytes) : nullptr;
    if (!there) {
      return device.noMemory(busyBytes);
    }
    std::memset(here.get(), 0, busyBytes);
  }
  LaunchError failed = copies->copyIn(there.get(), here.get(), busyBytes);
  const std::unique_ptr<runtime::Event> done = failed ? nullptr : recordIn(*copies, failed);
  return failed ? failed : stream.waitFor(*done);
}

LaunchError DeviceClock::time(int runs, const std::function<LaunchError(Stream &)> &queue,
                              double &seconds) {
  static const measure::Clock host = measure::steadyClock();
  const double begin = host();
  std::unique_ptr<runtime::Event> start, end;
  LaunchError error = device.runAndWait([&](Stream &stream) {
    LaunchError failed = queueing == Queueing::Hidden ? keepBusy(stream) : LaunchError();
    start = failed ? nullptr : recordIn(stream, failed);
    for (int i = 0; i < runs && !failed; ++i) {
      failed = queue(stream);
    }
    end = failed ? nullptr : recordIn(stream, failed);
    return failed;
  });
  seconds = host() - begin;
  if (error) {
    return error;
  }
  auto nanos = end->nanosSince(*start);
  if (LaunchError *refused = std::get_if<LaunchError>(&nanos)) {
    return std::move(*refused);
  }
  seconds = std::get<double>(nanos) * 1e-9;
  return {};
}

} // namespace nereid::bench
