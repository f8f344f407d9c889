// SPDX-License-Identifier: Apache-2.0
#include "lib/targets/nvidia/driver/NvidiaGraph.h"

#include "lib/targets/nvidia/driver/Errors.h"

namespace nereid::nvidia {

std::variant<std::unique_ptr<NvidiaGraph>, LaunchError>
NvidiaGraph::capture(NvidiaStream &stream,
                     const std::function<LaunchError(runtime::Stream &)> &queue) {
  auto &device = static_cast<NvidiaDevice &>(stream.device());
  const Driver &api = device.driver();
  const auto begin = [&] { return api.streamBeginCapture(stream.handle(), cuda::CaptureOfThread); };
  if (LaunchError error =
          errorOf(api, device.context().run(begin), "to capture a stream", device.name())) {
    return error;
  }
  const LaunchError queued = queue(stream);
  cuda::Graph graph = nullptr;
  cuda::GraphExec exec = nullptr;
  cuda::Result result =
      device.context().run([&] { return api.streamEndCapture(stream.handle(), &graph); });
  if (result == cuda::Success && !queued) {
    result = device.context().run([&] { return api.graphInstantiate(&exec, graph, 0); });
  }
  if (graph) {
    (void)device.context().run([&] { return api.graphDestroy(graph); });
  }
  if (queued) {
    return queued;
  }
  if (LaunchError error = errorOf(api, result, "a graph of captured work", device.name())) {
    return error;
  }
  return std::unique_ptr<NvidiaGraph>(new NvidiaGraph(device, exec));
}

NvidiaGraph::~NvidiaGraph() {
  (void)nvidia.context().run([&] { return nvidia.driver().graphExecDestroy(exec); });
}

LaunchError NvidiaGraph::replay(NvidiaStream &stream) {
  if (&stream.device() != &nvidia) {
    return {"E0416", "a graph of '" + nvidia.name() + "' expects a stream of it, but got one of '" +
                         stream.device().name() + "'"};
  }
  const auto call = [&] { return nvidia.driver().graphLaunch(exec, stream.handle()); };
  return errorOf(nvidia.driver(), nvidia.context().run(call), "to replay a graph", nvidia.name());
}

} // namespace nereid::nvidia
