// SPDX-License-Identifier: Apache-2.0
// Memory with forbidden pages directly in front of it and directly behind it, for tensors of a
// kernel that is not trusted yet. An access of those pages is noted and let through, so that the
// launch goes on and can be judged as a whole.
#pragma once

#include "lib/support/Diagnostics.h"

#include <cstddef>
#include <cstdint>
#include <optional>

namespace nereid::verify {

/// Which end of the memory touches a forbidden page.
enum class Edge : uint8_t { Front, Back };

class GuardedMemory {
public:
  /// Where the memory begins: `remainder` is left when its address is divided by `alignment`, a
  /// power of two and at most half a page.
  struct Alignment {
    size_t alignment = 1, remainder = 0;
  };
  /// `bytes` may be 0. The memory ends (Edge::Back) or begins (Edge::Front) at the forbidden page,
  /// but for what its alignment leaves over. E0506 when it cannot be had. The bytes around it that
  /// are no forbidden page, and the memory itself, hold `fill`.
  static Result<GuardedMemory> make(size_t bytes, Edge edge, Alignment where, uint8_t fill);
  GuardedMemory(GuardedMemory &&other) noexcept;
  GuardedMemory &operator=(GuardedMemory &&other) noexcept;
  GuardedMemory(const GuardedMemory &) = delete;
  GuardedMemory &operator=(const GuardedMemory &) = delete;
  ~GuardedMemory();

  uint8_t *data() const { return first; }
  size_t size() const { return bytes; }

  /// An access that met a forbidden page.
  struct Outside {
    int64_t offset = 0; ///< of the first byte that faulted, from data(); negative: in front
    std::optional<bool> isWrite; ///< where the processor says so
  };
  /// The first one since the memory was made, by any thread.
  std::optional<Outside> outside() const;
  /// Offset from data() of the first byte around the memory that no longer holds `fill`.
  std::optional<int64_t> overwritten() const;

private:
  GuardedMemory() = default;
  void release();

  uint8_t *mapping = nullptr, *first = nullptr;
  size_t mapped = 0, bytes = 0, usable = 0; ///< usable: bytes between the two guards
  uint8_t fill = 0;
  int slot = -1; ///< in the table that the signal handler reads
};

/// Takes faults in guards over from whatever handles them; what else faults goes to the handler
/// that stood there before. Once per process, before the first launch; done by make().
void installGuardHandler();

} // namespace nereid::verify
