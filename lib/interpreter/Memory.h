// SPDX-License-Identifier: Apache-2.0
// The memory a kernel may touch: the tensors it was given and nothing else. No MLIR here.
#pragma once

#include "lib/interpreter/Tile.h"
#include "runtime/Tensor.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace nereid::interpreter {

struct Allocation {
  uint64_t base = 0;
  uint64_t bytes = 0;
  std::string name; ///< of the argument, for messages
};

class Memory {
public:
  /// Adds everything between the tensor's first and last element; with strides also the gaps.
  void add(const runtime::Tensor &tensor, std::string name);

  /// True when all `bytes` from `address` on lie in one allocation.
  bool contains(uint64_t address, unsigned bytes) const;
  /// Only after contains().
  uint64_t read(uint64_t address, ElementType type) const;
  void write(uint64_t address, ElementType type, uint64_t word) const;

  /// The allocation whose ends are nearest to the address; null when there is none.
  const Allocation *nearest(uint64_t address) const;

private:
  std::vector<Allocation> allocations;
};

/// Where the address lies, in words: "offset 4096 bytes from the start of 'x', which has 4000".
std::string describeAddress(const Memory &memory, uint64_t address);

} // namespace nereid::interpreter
