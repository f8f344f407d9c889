// SPDX-License-Identifier: Apache-2.0
// Of the fake driver: streams, events and graphs.
#include "unittests/nvidia_driver/fake/State.h"

#include <chrono>

using namespace nereid::nvidia;
using namespace nereid::nvidia::test;
using cuda::Result;

FAKE_CUDA Result cuStreamCreate(cuda::Stream *stream, unsigned flags) {
  Call call("cuStreamCreate");
  if (call.result != cuda::Success) {
    return call.result;
  }
  FakeStream *made = &state().madeStreams.emplace_back();
  made->context = call.context;
  state().streams.insert(made);
  *stream = reinterpret_cast<cuda::Stream>(made);
  if (flags != cuda::streamNonBlocking) {
    (void)state().violate("a stream that waits for the one without a name", cuda::Success);
  }
  return cuda::Success;
}

FAKE_CUDA Result cuStreamDestroy_v2(cuda::Stream handle) {
  Call call("cuStreamDestroy");
  FakeStream *stream = call.context ? call.stream(handle) : nullptr;
  if (!stream) {
    return call.result;
  }
  if (!stream->queue.empty() && call.result == cuda::Success) {
    (void)state().violate("a stream that was not waited for is destroyed", cuda::Success);
  }
  state().streams.erase(stream);
  return call.result;
}

FAKE_CUDA Result cuStreamSynchronize(cuda::Stream handle) {
  Call call("cuStreamSynchronize");
  FakeStream *stream = call.result == cuda::Success ? call.stream(handle) : nullptr;
  if (!stream) {
    return call.result;
  }
  if (stream->capture) {
    stream->capture = nullptr; // which ends the capture, too
    return cuda::StreamCaptureInvalidated;
  }
  return state().run(*stream, stream->queued);
}

FAKE_CUDA Result cuStreamWaitEvent(cuda::Stream handle, cuda::Event event, unsigned) {
  Call call("cuStreamWaitEvent");
  FakeStream *stream = call.result == cuda::Success ? call.stream(handle) : nullptr;
  FakeEvent *point = stream ? call.event(event, /*ofAnyContext=*/true) : nullptr;
  if (!point) {
    return call.result;
  }
  FakeStream *other = point->stream;
  return state().enqueue(*stream, [other, until = point->position] {
    // A stream that is gone was waited for.
    if (state().isAlive(other)) {
      (void)state().run(*other, until);
    }
    return cuda::Success;
  });
}

FAKE_CUDA Result cuStreamGetCtx(cuda::Stream handle, cuda::Context *context) {
  Call call("cuStreamGetCtx", handle ? Call::Initialized : Call::CurrentContext);
  if (call.result != cuda::Success) {
    return call.result;
  }
  auto *stream = reinterpret_cast<FakeStream *>(handle);
  if (handle && !state().streams.contains(stream)) {
    return state().violate("cuStreamGetCtx of a stream that is gone", cuda::InvalidHandle);
  }
  *context = reinterpret_cast<cuda::Context>(handle ? stream->context : call.context);
  return cuda::Success;
}

FAKE_CUDA Result cuEventCreate(cuda::Event *event, unsigned) {
  Call call("cuEventCreate");
  if (call.result == cuda::Success) {
    FakeEvent *made = &state().madeEvents.emplace_back();
    made->context = call.context;
    state().events.insert(made);
    *event = reinterpret_cast<cuda::Event>(made);
  }
  return call.result;
}

FAKE_CUDA Result cuEventDestroy_v2(cuda::Event handle) {
  Call call("cuEventDestroy");
  FakeEvent *event = call.context ? call.event(handle) : nullptr;
  if (event) {
    state().events.erase(event);
  }
  return call.result;
}

FAKE_CUDA Result cuEventRecord(cuda::Event handle, cuda::Stream streamHandle) {
  Call call("cuEventRecord");
  FakeStream *stream = call.result == cuda::Success ? call.stream(streamHandle) : nullptr;
  FakeEvent *event = stream ? call.event(handle) : nullptr;
  if (!event) {
    return call.result;
  }
  (void)state().enqueue(*stream, [time = event->milliseconds] {
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    *time = std::chrono::duration<double, std::milli>(now).count();
    return cuda::Success;
  });
  event->stream = stream;
  event->position = stream->queued;
  return cuda::Success;
}

FAKE_CUDA Result cuEventSynchronize(cuda::Event handle) {
  Call call("cuEventSynchronize");
  FakeEvent *event = call.result == cuda::Success ? call.event(handle) : nullptr;
  if (!event) {
    return call.result;
  }
  return state().isAlive(event->stream) ? state().run(*event->stream, event->position)
                                        : call.result;
}

FAKE_CUDA Result cuEventElapsedTime(float *milliseconds, cuda::Event start, cuda::Event end) {
  Call call("cuEventElapsedTime");
  FakeEvent *from = call.result == cuda::Success ? call.event(start) : nullptr;
  FakeEvent *to = from ? call.event(end) : nullptr;
  if (!to) {
    return call.result;
  }
  if (*from->milliseconds < 0 || *to->milliseconds < 0) {
    return state().violate("the time of an event that was not waited for", cuda::InvalidValue);
  }
  *milliseconds = static_cast<float>(*to->milliseconds - *from->milliseconds);
  return cuda::Success;
}

FAKE_CUDA Result cuStreamIsCapturing(cuda::Stream handle, int *status) {
  Call call("cuStreamIsCapturing");
  FakeStream *stream = call.result == cuda::Success ? call.stream(handle) : nullptr;
  *status = stream && stream->capture ? 1 : 0;
  return call.result;
}

FAKE_CUDA Result cuStreamBeginCapture_v2(cuda::Stream handle, cuda::CaptureMode) {
  Call call("cuStreamBeginCapture");
  FakeStream *stream = call.result == cuda::Success ? call.stream(handle) : nullptr;
  if (!stream) {
    return call.result;
  }
  if (!handle || stream->capture) {
    return cuda::InvalidValue;
  }
  auto *graph = new FakeGraph;
  state().graphs.insert(graph);
  stream->capture = &graph->operations;
  return cuda::Success;
}

FAKE_CUDA Result cuStreamEndCapture(cuda::Stream handle, cuda::Graph *graph) {
  Call call("cuStreamEndCapture");
  FakeStream *stream = call.result == cuda::Success ? call.stream(handle) : nullptr;
  if (!stream) {
    return call.result;
  }
  FakeGraph *found = nullptr;
  for (FakeGraph *each : state().graphs) {
    found = &each->operations == stream->capture ? each : found;
  }
  stream->capture = nullptr;
  *graph = reinterpret_cast<cuda::Graph>(found);
  if (!found) { // a call that cannot be captured has ended it
    std::erase_if(state().graphs, [](FakeGraph *each) { return delete each, true; });
  }
  return found ? cuda::Success : cuda::StreamCaptureInvalidated;
}

FAKE_CUDA Result cuGraphInstantiateWithFlags(cuda::GraphExec *exec, cuda::Graph graph,
                                             unsigned long long) {
  Call call("cuGraphInstantiate");
  auto *given = reinterpret_cast<FakeGraph *>(graph);
  if (call.result == cuda::Success && !state().graphs.contains(given)) {
    return state().violate("cuGraphInstantiate of a graph that is gone", cuda::InvalidValue);
  }
  if (call.result == cuda::Success) {
    auto *made = new FakeGraph(*given);
    state().execs.insert(made);
    *exec = reinterpret_cast<cuda::GraphExec>(made);
  }
  return call.result;
}

FAKE_CUDA Result cuGraphLaunch(cuda::GraphExec exec, cuda::Stream handle) {
  Call call("cuGraphLaunch");
  FakeStream *stream = call.result == cuda::Success ? call.stream(handle) : nullptr;
  if (!stream) {
    return call.result;
  }
  auto *given = reinterpret_cast<FakeGraph *>(exec);
  if (!state().execs.contains(given)) {
    return state().violate("cuGraphLaunch of a graph that is gone", cuda::InvalidHandle);
  }
  for (const Operation &operation : given->operations) {
    (void)state().enqueue(*stream, operation);
  }
  return cuda::Success;
}

FAKE_CUDA Result cuGraphDestroy(cuda::Graph graph) {
  Call call("cuGraphDestroy");
  auto *given = reinterpret_cast<FakeGraph *>(graph);
  if (state().graphs.erase(given) == 0) {
    return state().violate("cuGraphDestroy of a graph that is gone", cuda::InvalidValue);
  }
  delete given;
  return call.result;
}

FAKE_CUDA Result cuGraphExecDestroy(cuda::GraphExec exec) {
  Call call("cuGraphExecDestroy");
  auto *given = reinterpret_cast<FakeGraph *>(exec);
  if (state().execs.erase(given) == 0) {
    return state().violate("cuGraphExecDestroy of a graph that is gone", cuda::InvalidValue);
  }
  delete given;
  return call.result;
}
