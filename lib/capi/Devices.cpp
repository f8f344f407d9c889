// SPDX-License-Identifier: Apache-2.0
// Devices of the C interface: tensors in their memory, streams and events.
#include "lib/capi/Failure.h"
#include "lib/capi/Handles.h"
#include "lib/capi/Texts.h"
#include "lib/targets/Targets.h"
#include "runtime/cpu/HostGraph.h"

#include <variant>

namespace nereid::capi {
namespace {

/// What a copy between a tensor and host memory cannot be; empty when it is fine.
std::string problemOfCopy(const nereid_stream *stream, const nereid_tensor *tensor,
                          const void *host, size_t bytes) {
  if (!stream || !tensor || !host) {
    return "expects a stream, a tensor and an address, but got a null pointer";
  }
  if (!tensor->tensor.isContiguous()) {
    return "expects a tensor whose elements lie side by side";
  }
  if (const size_t expected = tensor->tensor.byteCount(); bytes != expected) {
    return "expects the " + std::to_string(expected) + " bytes of the tensor, but got " +
           std::to_string(bytes);
  }
  const runtime::Device &own = tensor->tensor.device(), &other = stream->stream->device();
  if (&own != &other) {
    return "expects a stream of '" + own.name() + "', where the tensor is, but got one of '" +
           other.name() + "'";
  }
  return {};
}

} // namespace

nereid_status failOf(const runtime::LaunchError &error, nereid_status status) {
  if (!error) {
    return NEREID_OK;
  }
  return fail(error.code == "E0506" ? NEREID_ERROR_MEMORY : status,
              makeError(error.code, error.message));
}

nereid_status hostTensor(const nereid_tensor &given, runtime::Tensor &tensor) {
  auto found = given.tensor.onHost();
  if (const auto *error = std::get_if<runtime::LaunchError>(&found)) {
    return failOf(*error);
  }
  tensor = std::get<runtime::Tensor>(std::move(found));
  return NEREID_OK;
}

nereid_status findDevice(const char *caller, const char *name, runtime::Device *&device) {
  if (std::string problem = problemOfText("the name of a device", name, longestName);
      !problem.empty()) {
    return refuse(caller, problem);
  }
  registerTargets();
  auto found = runtime::findDevice(name);
  if (const auto *error = std::get_if<runtime::LaunchError>(&found)) {
    return failOf(*error, NEREID_ERROR_ARGUMENT);
  }
  device = std::get<runtime::Device *>(found);
  return NEREID_OK;
}

} // namespace nereid::capi

using namespace nereid;
using namespace nereid::capi;

extern "C" {

nereid_status nereid_stream_create(const char *device, nereid_stream **stream) {
  return guarded([&] {
    if (!stream) {
      return refuse("nereid_stream_create", "expects a place for the stream");
    }
    runtime::Device *found = nullptr;
    if (nereid_status status = findDevice("nereid_stream_create", device, found)) {
      return status;
    }
    auto made = found->makeStream();
    if (const auto *error = std::get_if<runtime::LaunchError>(&made)) {
      return failOf(*error);
    }
    *stream = new nereid_stream{std::get<std::unique_ptr<runtime::Stream>>(std::move(made))};
    return NEREID_OK;
  });
}

nereid_status nereid_stream_wrap(const char *device, void *handle, nereid_stream **stream) {
  return guarded([&] {
    if (!stream) {
      return refuse("nereid_stream_wrap", "expects a place for the stream");
    }
    runtime::Device *found = nullptr;
    if (nereid_status status = findDevice("nereid_stream_wrap", device, found)) {
      return status;
    }
    auto made = found->wrapStream(handle);
    if (const auto *error = std::get_if<runtime::LaunchError>(&made)) {
      return failOf(*error);
    }
    *stream = new nereid_stream{std::get<std::unique_ptr<runtime::Stream>>(std::move(made))};
    return NEREID_OK;
  });
}

void nereid_stream_free(nereid_stream *stream) { delete stream; }

nereid_status nereid_stream_copy_in(nereid_stream *stream, nereid_tensor *tensor, const void *from,
                                    size_t bytes) {
  return guarded([&] {
    if (std::string problem = problemOfCopy(stream, tensor, from, bytes); !problem.empty()) {
      return refuse("nereid_stream_copy_in", problem);
    }
    return bytes ? failOf(stream->stream->copyIn(tensor->tensor.data(), from, bytes)) : NEREID_OK;
  });
}

nereid_status nereid_stream_copy_out(nereid_stream *stream, const nereid_tensor *tensor, void *to,
                                     size_t bytes) {
  return guarded([&] {
    if (std::string problem = problemOfCopy(stream, tensor, to, bytes); !problem.empty()) {
      return refuse("nereid_stream_copy_out", problem);
    }
    return bytes ? failOf(stream->stream->copyOut(to, tensor->tensor.data(), bytes)) : NEREID_OK;
  });
}

nereid_status nereid_stream_record(nereid_stream *stream, nereid_event **event) {
  return guarded([&] {
    if (!stream || !event) {
      return refuse("nereid_stream_record", "expects a stream and a place for the event");
    }
    auto made = stream->stream->record();
    if (const auto *error = std::get_if<runtime::LaunchError>(&made)) {
      return failOf(*error);
    }
    *event = new nereid_event{std::get<std::unique_ptr<runtime::Event>>(std::move(made))};
    return NEREID_OK;
  });
}

nereid_status nereid_stream_wait(nereid_stream *stream, const nereid_event *event) {
  return guarded([&] {
    if (!stream || !event) {
      return refuse("nereid_stream_wait", "expects a stream and an event, but got a null pointer");
    }
    return failOf(stream->stream->waitFor(*event->event));
  });
}

nereid_status nereid_stream_synchronize(nereid_stream *stream) {
  return guarded([&] {
    if (!stream) {
      return refuse("nereid_stream_synchronize", "expects a stream, but got a null pointer");
    }
    return failOf(stream->stream->synchronize());
  });
}

nereid_status nereid_stream_begin_capture(nereid_stream *stream) {
  return guarded([&] {
    if (!stream) {
      return refuse("nereid_stream_begin_capture", "expects a stream, but got a null pointer");
    }
    return failOf(stream->stream->beginCapture());
  });
}

nereid_status nereid_stream_end_capture(nereid_stream *stream, nereid_graph **graph) {
  return guarded([&] {
    if (!stream || !graph) {
      return refuse("nereid_stream_end_capture", "expects a stream and a place for the graph");
    }
    auto made = stream->stream->endCapture();
    if (const auto *error = std::get_if<runtime::LaunchError>(&made)) {
      return failOf(*error);
    }
    *graph = new nereid_graph{std::get<std::unique_ptr<runtime::Graph>>(std::move(made))};
    return NEREID_OK;
  });
}

nereid_status nereid_graph_launch(const nereid_graph *graph, nereid_stream *stream) {
  return guarded([&] {
    if (!graph || !stream) {
      return refuse("nereid_graph_launch", "expects a graph and a stream, but got a null pointer");
    }
    runtime::Graph &work = *graph->graph;
    runtime::Stream &queue = *stream->stream;
    // The CPU's streams are its pool.
    const bool isHost = work.device().isHost() && queue.device().isHost() && !queue.isCapturing();
    return failOf(isHost ? static_cast<runtime::HostGraph &>(work).run(pool())
                         : work.replay(queue));
  });
}

void nereid_graph_free(nereid_graph *graph) { delete graph; }

void nereid_event_free(nereid_event *event) { delete event; }

nereid_status nereid_event_elapsed(const nereid_event *start, const nereid_event *end,
                                   double *nanos) {
  return guarded([&] {
    if (!start || !end || !nanos) {
      return refuse("nereid_event_elapsed", "expects two events and a place for the time");
    }
    const runtime::Device &first = start->event->device(), &second = end->event->device();
    if (&first != &second) {
      return refuse("nereid_event_elapsed", "expects events of one device, but got one of '" +
                                                first.name() + "' and one of '" + second.name() +
                                                "'");
    }
    auto elapsed = end->event->nanosSince(*start->event);
    if (const auto *error = std::get_if<runtime::LaunchError>(&elapsed)) {
      return failOf(*error);
    }
    *nanos = std::get<double>(elapsed);
    return NEREID_OK;
  });
}
}
