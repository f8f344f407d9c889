// SPDX-License-Identifier: Apache-2.0
// Of the fake driver: memory of devices, pinned memory, copies. As with the real one, a copy from
// plain host memory has read it when the call returns, one to it has written it, and those of
// pinned memory happen when the stream comes to them.
#include "unittests/nvidia_driver/fake/State.h"

#include <cstdlib>
#include <cstring>

using namespace nereid::nvidia;
using namespace nereid::nvidia::test;
using cuda::Result;

FAKE_CUDA Result cuMemGetInfo_v2(size_t *freeBytes, size_t *totalBytes) {
  Call call("cuMemGetInfo");
  if (call.result == cuda::Success) {
    *totalBytes = state().memoryBytes;
    *freeBytes = state().memoryBytes - state().usedBytes(call.context->device);
  }
  return call.result;
}

FAKE_CUDA Result cuMemAlloc_v2(cuda::Address *address, size_t bytes) {
  Call call("cuMemAlloc");
  if (call.result != cuda::Success) {
    return call.result;
  }
  if (bytes == 0) {
    return state().violate("cuMemAlloc of nothing", cuda::InvalidValue);
  }
  if (bytes > state().memoryBytes - state().usedBytes(call.context->device)) {
    return cuda::OutOfMemory;
  }
  *address = state().nextAddress;
  state().nextAddress += (bytes + 511) & ~size_t{255}; // never given again, and never adjacent
  state().memory[*address] = {call.context, std::vector<uint8_t>(bytes, 0xA5)};
  return cuda::Success;
}

FAKE_CUDA Result cuMemFree_v2(cuda::Address address) {
  Call call("cuMemFree");
  if (call.result != cuda::Success) {
    return call.result;
  }
  if (state().memory.erase(address) == 0) {
    return state().violate("cuMemFree of memory that is not allocated", cuda::InvalidValue);
  }
  return cuda::Success;
}

FAKE_CUDA Result cuMemHostAlloc(void **memory, size_t bytes, unsigned flags) {
  Call call("cuMemHostAlloc");
  if (call.result != cuda::Success) {
    return call.result;
  }
  if (flags != cuda::hostMemoryPortable) {
    return state().violate("pinned memory for one context", cuda::InvalidValue);
  }
  *memory = std::aligned_alloc(256, (bytes + 255) & ~size_t{255});
  state().pinned[*memory] = call.context;
  return *memory ? cuda::Success : cuda::OutOfMemory;
}

FAKE_CUDA Result cuMemFreeHost(void *memory) {
  Call call("cuMemFreeHost");
  if (call.result != cuda::Success) {
    return call.result;
  }
  if (state().pinned.erase(memory) == 0) {
    return state().violate("cuMemFreeHost of memory that is not pinned", cuda::InvalidValue);
  }
  std::free(memory);
  return cuda::Success;
}

FAKE_CUDA Result cuMemcpyHtoDAsync_v2(cuda::Address to, const void *from, size_t bytes,
                                      cuda::Stream handle) {
  Call call("cuMemcpyHtoDAsync");
  FakeStream *stream = call.result == cuda::Success ? call.stream(handle) : nullptr;
  if (!stream) {
    return call.result;
  }
  if (!state().at(to, bytes)) {
    return state().violate("a copy to what is no memory of a device", cuda::InvalidValue);
  }
  const auto write = [to, bytes](const void *source) {
    uint8_t *place = state().at(to, bytes);
    if (!place) {
      return state().violate("memory was freed before a copy was done", cuda::IllegalAddress);
    }
    std::memcpy(place, source, bytes);
    return cuda::Success;
  };
  if (state().isPinned(from)) {
    return state().enqueue(*stream, [write, from] { return write(from); });
  }
  const auto *source = static_cast<const uint8_t *>(from);
  return state().enqueue(
      *stream, [write, copy = std::vector(source, source + bytes)] { return write(copy.data()); });
}

FAKE_CUDA Result cuMemcpyDtoHAsync_v2(void *to, cuda::Address from, size_t bytes,
                                      cuda::Stream handle) {
  Call call("cuMemcpyDtoHAsync");
  FakeStream *stream = call.result == cuda::Success ? call.stream(handle) : nullptr;
  if (!stream) {
    return call.result;
  }
  if (!state().at(from, bytes)) {
    return state().violate("a copy from what is no memory of a device", cuda::InvalidValue);
  }
  (void)state().enqueue(*stream, [to, from, bytes] {
    const uint8_t *place = state().at(from, bytes);
    if (!place) {
      return state().violate("memory was freed before a copy was done", cuda::IllegalAddress);
    }
    std::memcpy(to, place, bytes);
    return cuda::Success;
  });
  return state().isPinned(to) || stream->capture ? cuda::Success
                                                 : state().run(*stream, stream->queued);
}
