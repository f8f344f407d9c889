// SPDX-License-Identifier: Apache-2.0
#include "lib/eager/baseline/BlockPool.h"

#include "lib/definition/operations/Shape.h"
#include "lib/eager/baseline/Eager.h"
#include "runtime/Device.h"

namespace nereid::eager {

using runtime::Tensor;

/// At most 1 GiB is kept; more is given back to the system at once.
static runtime::ScratchMemory &pool() {
  static auto *instance = // outlives tensors that die at exit
      new runtime::ScratchMemory(runtime::cpuDevice(), uint64_t{1} << 30);
  return *instance;
}

Tensor allocateTensor(std::vector<int64_t> shape, DType dtype) {
  constexpr int64_t smallestPooledBytes = 64 << 10; // less is not worth the lock
  std::optional<int64_t> count = definition::elementCountOf(shape);
  int64_t bytes = 0;
  bool fits =
      count && !__builtin_mul_overflow(*count, static_cast<int64_t>(sizeInBytes(dtype)), &bytes);
  if (!fits || bytes < smallestPooledBytes) {
    return Tensor::empty(std::move(shape), dtype);
  }
  return Tensor::within(pool().take(static_cast<uint64_t>(bytes)), std::move(shape), dtype,
                        runtime::cpuDevice());
}

void releaseCachedMemory() { pool().clear(); }

size_t cachedMemoryBytes() { return pool().idleBytes(); }

} // namespace nereid::eager
