// SPDX-License-Identifier: Apache-2.0
// What streams of all devices have in common: who may wait for whom, what a capture takes, and
// streams for work that names none.
#include "runtime/Stream.h"

#include "runtime/Device.h"

#include <utility>

namespace nereid::runtime {

LaunchError Stream::waitFor(Event &event) {
  const Device &here = device(), &there = event.device();
  if (here.kind() != there.kind()) {
    return {"E0416", "a stream of '" + here.name() + "' expects an event of a device of kind '" +
                         here.kind() + "', but got one of '" + there.name() + "'"};
  }
  const LaunchError refused = refuseInCapture("a wait for an event");
  return refused ? refused : queueWait(event);
}

LaunchError Stream::refuseInCapture(const char *what) const {
  if (!capturing) {
    return {};
  }
  return {"E0424", std::string("a capture on a stream of '") + device().name() +
                       "' expects launches and copies, but got " + what};
}

LaunchError Stream::beginCapture() {
  if (LaunchError refused = refuseInCapture("the begin of another capture")) {
    return refused;
  }
  LaunchError failed = startCapture();
  capturing = !failed;
  return failed;
}

std::variant<std::unique_ptr<Graph>, LaunchError> Stream::endCapture() {
  if (!capturing) {
    return LaunchError{"E0424", "the end of a capture on a stream of '" + device().name() +
                                    "' expects that one has begun, but none has"};
  }
  capturing = false;
  return finishCapture();
}

LaunchError Stream::startCapture() {
  return {"E0423", "expects a device that has graphs, but '" + device().name() + "' has none"};
}

std::variant<std::unique_ptr<Graph>, LaunchError> Stream::finishCapture() { return startCapture(); }

LaunchError Graph::replay(Stream &stream) {
  if (&stream.device() != owner) {
    return {"E0416", "a graph of '" + owner->name() + "' expects a stream of it, but got one of '" +
                         stream.device().name() + "'"};
  }
  if (stream.isCapturing()) {
    return {"E0424", "a capture on a stream of '" + owner->name() +
                         "' expects launches and copies, but got a graph"};
  }
  return queue(stream);
}

std::variant<std::unique_ptr<Stream>, LaunchError> Device::takeStream() {
  std::unique_lock guard(idleLock);
  if (idle.empty()) {
    guard.unlock();
    return makeStream();
  }
  std::unique_ptr<Stream> stream = std::move(idle.back());
  idle.pop_back();
  return stream;
}

LaunchError Device::runAndWait(const std::function<LaunchError(Stream &)> &queue) {
  auto taken = takeStream();
  if (LaunchError *error = std::get_if<LaunchError>(&taken)) {
    return std::move(*error);
  }
  std::unique_ptr<Stream> stream = std::get<0>(std::move(taken));
  LaunchError refused = queue(*stream);
  LaunchError failed = stream->synchronize();
  if (!failed) { // else nobody knows what a later call would be told
    std::lock_guard guard(idleLock);
    idle.push_back(std::move(stream));
  }
  return refused ? refused : failed;
}

LaunchError Device::noMemory(uint64_t bytes) {
  return {"E0506", "no memory for " + std::to_string(bytes) + " bytes on '" + name() + "'"};
}

std::shared_ptr<void> Device::allocateHost(uint64_t bytes) { return cpuDevice().allocate(bytes); }

std::variant<std::unique_ptr<Stream>, LaunchError> Device::wrapStream(void *) {
  return LaunchError{"E0417", "expects a device whose streams other libraries share, but got '" +
                                  name() + "'"};
}

} // namespace nereid::runtime
