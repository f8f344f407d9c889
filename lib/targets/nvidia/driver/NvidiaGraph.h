// SPDX-License-Identifier: Apache-2.0
// Captured work of a stream as a CUDA graph.
#pragma once

#include "lib/targets/nvidia/driver/NvidiaStream.h"
#include "runtime/Graph.h"

#include <memory>
#include <utility>
#include <variant>

namespace nereid::nvidia {

class NvidiaGraph final : public runtime::Graph {
public:
  /// Ends what the driver captures on the stream, to which this was queued.
  static std::variant<std::unique_ptr<runtime::Graph>, LaunchError>
  endCapture(NvidiaStream &stream, NvidiaStream::Queued launched);
  ~NvidiaGraph() override;

private:
  NvidiaGraph(NvidiaDevice &device, cuda::GraphExec exec, NvidiaStream::Queued launched)
      : Graph(device), nvidia(device), exec(exec), launched(std::move(launched)) {}
  LaunchError queue(runtime::Stream &stream) override;

  NvidiaDevice &nvidia;
  cuda::GraphExec exec;
  NvidiaStream::Queued launched;
};

} // namespace nereid::nvidia
