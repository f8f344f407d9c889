// SPDX-License-Identifier: Apache-2.0
// A pattern directly in front of tensors and directly behind them, for launches that are timed: it
// costs them nothing, where forbidden pages would need memory that lies differently. Verification
// uses GuardedMemory, which sees reads as well.
#pragma once

#include "lib/support/Diagnostics.h"
#include "runtime/tensor/Tensor.h"

#include <cstdint>
#include <string>
#include <vector>

namespace nereid::verify {

class Canaries {
public:
  /// A tensor, and what a message calls it.
  struct Named {
    std::string name;
    runtime::Tensor *tensor = nullptr;
  };
  /// Moves the tensors into memory with the pattern around, with their elements, and with what they
  /// share: those that overlap move together. What else looks at their memory keeps the old one.
  /// E0506 without memory.
  Status surround(std::vector<Named> tensors);

  /// "writes outside 'out', at byte 12 behind its end"; "" when every pattern is whole.
  std::string violation() const;

private:
  struct Block {
    runtime::Tensor storage;
    int64_t bytes = 0; ///< between the two patterns
    std::string names; ///< of the tensors inside: "'x'" or "'x' and 'y'"
  };
  std::vector<Block> blocks;
};

} // namespace nereid::verify
