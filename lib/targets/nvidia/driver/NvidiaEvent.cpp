// SPDX-License-Identifier: Apache-2.0
#include "lib/targets/nvidia/driver/NvidiaEvent.h"

#include "lib/targets/nvidia/driver/Errors.h"

namespace nereid::nvidia {

NvidiaEvent::~NvidiaEvent() {
  (void)nvidia.context().run([&] { return nvidia.driver().eventDestroy(event); });
}

LaunchError NvidiaEvent::synchronize() {
  return errorOf(nvidia.driver(),
                 nvidia.context().run([&] { return nvidia.driver().eventSynchronize(event); }),
                 "a wait for an event", nvidia.name());
}

std::variant<double, LaunchError> NvidiaEvent::nanosSince(runtime::Event &start) {
  if (&start.device() != &device()) {
    return LaunchError{"E0416", "the time between events expects both of '" + nvidia.name() +
                                    "', but got one of '" + start.device().name() + "'"};
  }
  for (runtime::Event *each : {&start, static_cast<runtime::Event *>(this)}) {
    if (LaunchError error = each->synchronize()) {
      return error;
    }
  }
  float milliseconds = 0;
  const cuda::Event begin = static_cast<NvidiaEvent &>(start).event;
  const cuda::Result result = nvidia.context().run(
      [&] { return nvidia.driver().eventElapsedTime(&milliseconds, begin, event); });
  if (LaunchError error =
          errorOf(nvidia.driver(), result, "the time between two events", nvidia.name())) {
    return error;
  }
  return milliseconds * 1e6;
}

} // namespace nereid::nvidia
