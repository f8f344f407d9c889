// SPDX-License-Identifier: Apache-2.0
#include "unittests/nvidia_driver/fake/State.h"

namespace nereid::nvidia::test {

State &state() {
  static State &all = *new State;
  return all;
}

std::vector<FakeContext *> &contextStack() {
  thread_local std::vector<FakeContext *> stack;
  return stack;
}

Call::Call(const char *name, Needs needs) : guard(state().lock), name(name) {
  State &all = state();
  all.log.push_back(name);
  if (needs != Nothing && !all.isInitialized) {
    result = all.violate(this->name + " before cuInit", cuda::NotInitialized);
    return;
  }
  if (const auto planned = all.failures.find(name); planned != all.failures.end()) {
    if (planned->second.after-- == 0) {
      result = planned->second.result;
      all.failures.erase(planned);
      return;
    }
  }
  if (needs != CurrentContext) {
    return;
  }
  context = contextStack().empty() ? nullptr : contextStack().back();
  if (!context || !all.contexts.contains(context)) {
    result = all.violate(this->name + " without a current context", cuda::InvalidContext);
    return;
  }
  result = context->sticky;
}

FakeStream *Call::stream(cuda::Stream handle) {
  if (!handle) {
    if (!context->unnamed) {
      context->unnamed = &state().madeStreams.emplace_back();
      context->unnamed->context = context;
    }
    return context->unnamed;
  }
  auto *stream = reinterpret_cast<FakeStream *>(handle);
  if (!state().streams.contains(stream)) {
    result = state().violate(name + " of a stream that is gone", cuda::InvalidHandle);
    return nullptr;
  }
  if (stream->context != context) {
    result = state().violate(name + " of a stream of another context", cuda::InvalidContext);
    return nullptr;
  }
  return stream;
}

FakeEvent *Call::event(cuda::Event handle, bool ofAnyContext) {
  auto *event = reinterpret_cast<FakeEvent *>(handle);
  if (!state().events.contains(event)) {
    result = state().violate(name + " of an event that is gone", cuda::InvalidHandle);
    return nullptr;
  }
  if (!ofAnyContext && event->context != context) {
    result = state().violate(name + " of an event of another context", cuda::InvalidHandle);
    return nullptr;
  }
  return event;
}

uint8_t *State::at(cuda::Address address, size_t bytes) {
  auto after = memory.upper_bound(address);
  if (after == memory.begin()) {
    return nullptr;
  }
  auto &[begin, block] = *--after;
  const bool isInside =
      address - begin <= block.bytes.size() && bytes <= block.bytes.size() - (address - begin);
  return isInside ? block.bytes.data() + (address - begin) : nullptr;
}

cuda::Result State::run(FakeStream &stream, uint64_t until) {
  while (stream.done < until && !stream.queue.empty()) {
    const Operation operation = std::move(stream.queue.front());
    stream.queue.pop_front();
    ++stream.done;
    if (stream.context->sticky == cuda::Success) {
      stream.context->sticky = operation();
    }
  }
  return stream.context->sticky;
}

cuda::Result State::enqueue(FakeStream &stream, Operation operation) {
  if (stream.capture) {
    stream.capture->push_back(std::move(operation));
    return cuda::Success;
  }
  stream.queue.push_back(std::move(operation));
  ++stream.queued;
  return cuda::Success;
}

uint64_t State::usedBytes(int device) const {
  uint64_t used = 0;
  for (const auto &[address, block] : memory) {
    used += block.context->device == device ? block.bytes.size() : 0;
  }
  return used;
}

size_t State::liveObjects() {
  std::lock_guard guard(lock);
  return streams.size() + events.size() + modules.size() + graphs.size() + execs.size() +
         memory.size() + pinned.size();
}

cuda::Context State::makeContext(int device) {
  std::lock_guard guard(lock);
  FakeContext *made = &madeContexts.emplace_back();
  made->device = device;
  made->id = nextContext++;
  contexts.insert(made);
  return reinterpret_cast<cuda::Context>(made);
}

cuda::Context State::primaryContext(int device) {
  std::lock_guard guard(lock);
  const auto found = primaries.find(device);
  const bool isActive = found != primaries.end() && found->second.retained > 0;
  return isActive ? reinterpret_cast<cuda::Context>(&found->second) : nullptr;
}

void State::setCurrent(cuda::Context context) {
  contextStack().clear();
  if (context) {
    contextStack().push_back(reinterpret_cast<FakeContext *>(context));
  }
}

cuda::Context State::current() {
  return contextStack().empty() ? nullptr : reinterpret_cast<cuda::Context>(contextStack().back());
}

cuda::Stream State::makeStream(cuda::Context context) {
  std::lock_guard guard(lock);
  FakeStream *made = &madeStreams.emplace_back();
  made->context = reinterpret_cast<FakeContext *>(context);
  streams.insert(made);
  return reinterpret_cast<cuda::Stream>(made);
}

void State::destroyStream(cuda::Stream stream) {
  std::lock_guard guard(lock);
  auto *given = reinterpret_cast<FakeStream *>(stream);
  if (streams.erase(given) == 0) {
    (void)violate("a stream that somebody else has destroyed", cuda::InvalidHandle);
    return;
  }
  (void)run(*given, given->queued);
}

void State::revive(int device) {
  std::lock_guard guard(lock);
  for (FakeContext *context : contexts) {
    if (context->device == device) {
      context->sticky = cuda::Success;
    }
  }
}

} // namespace nereid::nvidia::test

FAKE_CUDA nereid::nvidia::test::FakeCuda *nereidFakeCuda() {
  return &nereid::nvidia::test::state();
}
