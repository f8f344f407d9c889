// SPDX-License-Identifier: Apache-2.0
#include "lib/targets/nvidia/driver/NvidiaGraph.h"

#include "lib/targets/nvidia/driver/Errors.h"

namespace nereid::nvidia {

std::variant<std::unique_ptr<runtime::Graph>, LaunchError>
NvidiaGraph::endCapture(NvidiaStream &stream, NvidiaStream::Queued launched) {
  auto &device = static_cast<NvidiaDevice &>(stream.device());
  const Driver &api = device.driver();
  cuda::Graph graph = nullptr;
  cuda::GraphExec exec = nullptr;
  cuda::Result result =
      device.context().run([&] { return api.streamEndCapture(stream.handle(), &graph); });
  if (result == cuda::Success) {
    result = device.context().run([&] { return api.graphInstantiate(&exec, graph, 0); });
  }
  if (graph) {
    (void)device.context().run([&] { return api.graphDestroy(graph); });
  }
  if (LaunchError error = errorOf(api, result, "a graph of captured work", device.name())) {
    return error;
  }
  return std::unique_ptr<runtime::Graph>(new NvidiaGraph(device, exec, std::move(launched)));
}

NvidiaGraph::~NvidiaGraph() {
  (void)nvidia.context().run([&] { return nvidia.driver().graphExecDestroy(exec); });
}

LaunchError NvidiaGraph::queue(runtime::Stream &stream) {
  auto &own = static_cast<NvidiaStream &>(stream);
  const auto call = [&] { return nvidia.driver().graphLaunch(exec, own.handle()); };
  const LaunchError failed =
      errorOf(nvidia.driver(), nvidia.context().run(call), "to replay a graph", nvidia.name());
  return failed ? failed : own.noteQueued(launched);
}

} // namespace nereid::nvidia
