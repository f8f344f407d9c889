// SPDX-License-Identifier: Apache-2.0
// The memory a kernel may touch: the tensors it was given and nothing else. No MLIR here.
#pragma once

#include "lib/interpreter/Tile.h"
#include "runtime/tensor/Tensor.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace nereid::interpreter {

struct Allocation {
  uint64_t base = 0;
  uint64_t bytes = 0;
  std::string name;  ///< of the argument, for messages
  uint64_t host = 0; ///< where it really is; the same as base unless addresses are separate
  /// With separate addresses: which bytes belong to an element of a tensor with gaps; empty: all.
  std::vector<bool> isElement;

  /// Whether one of the bytes, which lie within, belongs to no element.
  bool meetsGap(uint64_t offset, unsigned count) const;
};

class Memory {
public:
  /// Gives every tensor added from now on 2^48 addresses of its own, with the tensor in the middle,
  /// so that an address tells which tensor its pointer came from, however far it went astray. The
  /// low 16 bits stay. A host address, loaded from a table of pointers, still means what is there.
  void separateAddresses() { isSeparate = true; }

  /// Adds everything between the tensor's first and last element; with strides also the gaps.
  /// Returns the address the kernel gets for the first element.
  uint64_t add(const runtime::Tensor &tensor, std::string name);

  /// True when all `bytes` from `address` on lie in one allocation.
  bool contains(uint64_t address, unsigned bytes) const;
  /// Only after contains().
  uint64_t read(uint64_t address, ElementType type) const;
  void write(uint64_t address, ElementType type, uint64_t word) const;
  /// How many writes have given memory other contents.
  uint64_t changes() const { return changeCount; }

  /// The allocation whose ends are nearest to the address; null when there is none.
  const Allocation *nearest(uint64_t address) const;
  /// With separate addresses: the tensor the address belongs to, inside or astray; null for none.
  const Allocation *owner(uint64_t address) const;
  const std::vector<Allocation> &all() const { return allocations; }
  uint64_t hostAddress(uint64_t address) const;

private:
  std::vector<Allocation> allocations;
  mutable uint64_t changeCount = 0;
  bool isSeparate = false;
};

/// Where the address lies, in words: "offset 4096 bytes from the start of 'x', which has 4000".
std::string describeAddress(const Memory &memory, uint64_t address);

} // namespace nereid::interpreter
