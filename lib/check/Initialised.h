// SPDX-License-Identifier: Apache-2.0
// Which bytes of a tensor hold a value: all of an input's, and of one that came without contents
// those that a store has written. No MLIR here.
#pragma once

#include <cstdint>
#include <vector>

namespace nereid::check {

class Initialised {
public:
  /// Tensors in the order of the launch's memory; until then every tensor counts as initialised.
  void beginEmpty(uint32_t tensor, uint64_t bytes) {
    if (tensor >= tensors.size()) {
      tensors.resize(tensor + 1);
    }
    tensors[tensor].assign(bytes, false);
  }

  /// Bytes among offset..offset+bytes-1 that nobody wrote.
  unsigned missing(uint32_t tensor, uint64_t offset, unsigned bytes) const {
    unsigned count = 0;
    if (tensor < tensors.size() && !tensors[tensor].empty()) {
      for (unsigned i = 0; i < bytes; ++i) {
        count += tensors[tensor][offset + i] ? 0 : 1;
      }
    }
    return count;
  }

  void write(uint32_t tensor, uint64_t offset, unsigned bytes) {
    if (tensor < tensors.size() && !tensors[tensor].empty()) {
      for (unsigned i = 0; i < bytes; ++i) {
        tensors[tensor][offset + i] = true;
      }
    }
  }

private:
  std::vector<std::vector<bool>> tensors; ///< empty: initialised as a whole
};

} // namespace nereid::check
