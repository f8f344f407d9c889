// SPDX-License-Identifier: Apache-2.0
// Stack and scratch of one program that runs as a coroutine: one mapping with a guard area below
// the stack, so that an overflow faults instead of writing over another program. Mappings are kept
// for the next launch up to a limit.
#pragma once

#include <cstddef>
#include <cstdint>

namespace nereid::runtime {

class ProgramMemory {
public:
  static constexpr size_t stackBytes = 64 << 10;

  ProgramMemory() = default;
  /// Without memory when the system has none.
  explicit ProgramMemory(uint64_t scratchBytes);
  ~ProgramMemory();
  ProgramMemory(ProgramMemory &&other) noexcept;
  ProgramMemory &operator=(ProgramMemory &&other) noexcept;

  explicit operator bool() const { return mapping != nullptr; }
  uint8_t *stack() const { return mapping + guardBytes; }
  /// 64-byte aligned.
  uint8_t *scratch() const { return mapping + guardBytes + stackBytes; }
  /// What one program takes, without the guard.
  static uint64_t bytesFor(uint64_t scratchBytes);

private:
  /// More than a page: a large frame must not step over it.
  static constexpr size_t guardBytes = 16 << 10;

  uint8_t *mapping = nullptr;
  uint64_t bytes = 0; ///< of the whole mapping
};

} // namespace nereid::runtime
