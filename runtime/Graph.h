// SPDX-License-Identifier: Apache-2.0
// Work of a stream that was recorded once and is queued again and again as a whole, for less than
// its single calls cost: a CUDA graph on NVIDIA's GPUs, a list of calls on the CPU.
//   stream.beginCapture();
//   launch(kernel, grid, arguments, stream);           // nothing runs
//   auto graph = std::get<0>(stream.endCapture());
//   graph->replay(stream);
// docs/streams.md says what may be captured.
#pragma once

#include "runtime/LaunchError.h"

namespace nereid::runtime {

class Device;
class Stream;

/// Addresses and values of arguments are those of the capture; what lies behind addresses is what
/// it is when the work runs. Tensors and host memory that it names must live as long as it is
/// replayed; kernels' code is kept. Calls come from one thread at a time.
class Graph {
public:
  explicit Graph(Device &device) : owner(&device) {}
  virtual ~Graph() = default;
  Graph(const Graph &) = delete;
  Graph &operator=(const Graph &) = delete;

  Device &device() const { return *owner; }
  /// Queues all of it, in its order, on a stream of its device that is not being captured: E0416
  /// for one of another device, E0424. The graph may go when the stream has run it.
  LaunchError replay(Stream &stream);

private:
  virtual LaunchError queue(Stream &stream) = 0;

  Device *owner;
};

} // namespace nereid::runtime
