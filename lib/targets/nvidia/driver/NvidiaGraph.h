// SPDX-License-Identifier: Apache-2.0
// Work of a stream that was recorded once and is queued again as a whole, for less than its single
// calls cost (a CUDA graph).
//   auto graph = NvidiaGraph::capture(stream, [&](runtime::Stream &s) { return launch(k, …, s); });
//   std::get<0>(graph)->replay(stream);
#pragma once

#include "lib/targets/nvidia/driver/NvidiaStream.h"

#include <functional>
#include <memory>
#include <variant>

namespace nereid::nvidia {

/// Lives no longer than the kernels, tensors and pinned host memory that the work names: their
/// addresses are kept, with the values of the arguments.
class NvidiaGraph {
public:
  /// Calls queue(stream) and keeps what it queues, of which nothing runs. It may launch, copy from
  /// and to pinned memory and wait for events of the same capture; a wait of the host in it is
  /// refused by the driver. The stream is one of ours, or another library's that has a name; it is
  /// as before afterwards, also after an error, which is queue's own first.
  static std::variant<std::unique_ptr<NvidiaGraph>, LaunchError>
  capture(NvidiaStream &stream, const std::function<LaunchError(runtime::Stream &)> &queue);
  ~NvidiaGraph();
  NvidiaGraph(const NvidiaGraph &) = delete;
  NvidiaGraph &operator=(const NvidiaGraph &) = delete;

  /// Queues all of it on a stream, E0416 for one of another device.
  LaunchError replay(NvidiaStream &stream);

private:
  NvidiaGraph(NvidiaDevice &device, cuda::GraphExec exec) : nvidia(device), exec(exec) {}

  NvidiaDevice &nvidia;
  cuda::GraphExec exec;
};

} // namespace nereid::nvidia
