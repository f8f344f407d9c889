// SPDX-License-Identifier: Apache-2.0
// Free blocks by size class, under one lock: an operation on a large tensor asks once. A block
// travels inside a DLPack tensor whose deleter brings it back.
#include "lib/eager/baseline/BlockPool.h"

#include "lib/definition/operations/Shape.h"
#include "lib/eager/baseline/Eager.h"

#include <dlpack/dlpack.h>

#include <map>
#include <mutex>

namespace nereid::eager {
namespace {

using runtime::Tensor;

/// At most this many bytes are kept; more are given back to the system at once.
constexpr size_t mostKeptBytes = size_t{1} << 30;
/// Small results are not worth the lock and the bookkeeping.
constexpr size_t smallestPooledBytes = size_t{64} << 10;

struct Pool {
  std::mutex lock;
  std::multimap<size_t, Tensor> blocks; // capacity in bytes to a U8 tensor that owns them
  size_t bytes = 0;
};

Pool &pool() {
  static Pool *instance = new Pool; // outlives tensors that die at exit
  return *instance;
}

struct Lease {
  DLManagedTensor managed = {};
  Tensor block;
  std::vector<int64_t> shape;
};

void bringBack(DLManagedTensor *managed) {
  auto *lease = static_cast<Lease *>(managed->manager_ctx);
  {
    Pool &all = pool();
    std::lock_guard guard(all.lock);
    size_t bytes = lease->block.byteCount();
    if (all.bytes + bytes <= mostKeptBytes) {
      all.bytes += bytes;
      all.blocks.emplace(bytes, std::move(lease->block));
    }
  }
  delete lease;
}

/// A kept block of this size class, or a new one.
Tensor takeBlock(size_t bytes) {
  size_t grain = bytes >= (size_t{4} << 20) ? size_t{2} << 20 : size_t{64} << 10;
  size_t rounded = (bytes + grain - 1) / grain * grain;
  {
    Pool &all = pool();
    std::lock_guard guard(all.lock);
    if (auto found = all.blocks.find(rounded); found != all.blocks.end()) {
      Tensor block = std::move(found->second);
      all.blocks.erase(found);
      all.bytes -= rounded;
      return block;
    }
  }
  Tensor block = Tensor::empty({static_cast<int64_t>(rounded)}, DType::U8);
  if (!block.isValid()) {
    releaseCachedMemory();
    block = Tensor::empty({static_cast<int64_t>(rounded)}, DType::U8);
  }
  return block;
}

uint8_t dlpackCode(DType dtype) {
  if (dtype == DType::BF16) {
    return kDLBfloat;
  }
  return isFloat(dtype) ? kDLFloat : isSignedInteger(dtype) ? kDLInt : kDLUInt;
}

} // namespace

Tensor allocateTensor(std::vector<int64_t> shape, DType dtype) {
  std::optional<int64_t> count = definition::elementCountOf(shape);
  int64_t bytes = 0;
  bool fits =
      count && !__builtin_mul_overflow(*count, static_cast<int64_t>(sizeInBytes(dtype)), &bytes);
  // DLPack has no bool of its own: those results are allocated plainly.
  if (!fits || static_cast<size_t>(bytes) < smallestPooledBytes || dtype == DType::Bool) {
    return Tensor::empty(std::move(shape), dtype);
  }
  Tensor block = takeBlock(static_cast<size_t>(bytes));
  if (!block.isValid()) {
    return Tensor::empty(std::move(shape), dtype);
  }
  auto *lease = new Lease;
  lease->block = std::move(block);
  lease->shape = std::move(shape);
  lease->managed.manager_ctx = lease;
  lease->managed.deleter = bringBack;
  DLTensor &view = lease->managed.dl_tensor;
  view.data = lease->block.data();
  view.ndim = static_cast<int32_t>(lease->shape.size());
  view.shape = lease->shape.data();
  view.dtype = {dlpackCode(dtype), static_cast<uint8_t>(8 * sizeInBytes(dtype)), 1};
  view.device = {kDLCPU, 0};
  auto tensor = Tensor::fromDlpack(&lease->managed);
  if (auto *taken = std::get_if<Tensor>(&tensor)) {
    return std::move(*taken);
  }
  bringBack(&lease->managed);
  return Tensor();
}

void releaseCachedMemory() {
  std::multimap<size_t, Tensor> freed;
  Pool &all = pool();
  std::lock_guard guard(all.lock);
  freed.swap(all.blocks);
  all.bytes = 0;
}

size_t cachedMemoryBytes() {
  Pool &all = pool();
  std::lock_guard guard(all.lock);
  return all.bytes;
}

} // namespace nereid::eager
