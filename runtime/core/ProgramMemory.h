// SPDX-License-Identifier: Apache-2.0
// Memory for programs, kept for further launches when given back: the scratch memory of a task, and
// stack and scratch of one program that runs as a coroutine, with a guard area below the stack, so
// that an overflow faults instead of writing over another program. Threads find again what they
// gave back last. There are no locks, so that the child of a fork finds none held. Shared by both
// runtimes; no C++ library.
#pragma once

#include <cstdint>

namespace nereid::runtime {

/// Of scratch memory, for one program; more is refused.
constexpr uint64_t mostProgramBytes = uint64_t{1} << 40;

/// One piece: the guard, the stack, and the scratch memory to its end; the first two may be
/// missing.
struct ProgramMemory {
  static constexpr uint64_t stackBytes = 64 << 10;
  /// More than a page: a large frame must not step over it.
  static constexpr uint64_t guardBytes = 16 << 10;

  uint8_t *mapping = nullptr;
  uint64_t bytes = 0; ///< of all of it
  bool hasStack = false;

  /// False when the system has given none.
  explicit operator bool() const { return mapping != nullptr; }
  uint8_t *stack() const { return mapping + guardBytes; }
  /// 64-byte aligned, right behind the stack.
  uint8_t *scratch() const { return mapping + (hasStack ? guardBytes + stackBytes : 0); }
  uint64_t scratchBytes() const { return bytes - static_cast<uint64_t>(scratch() - mapping); }
};

/// With `bytes` of scratch memory at least.
ProgramMemory takeScratch(uint64_t bytes);
/// The same with a stack. Of these no more than 64 MiB are kept.
ProgramMemory takeStack(uint64_t bytes);
/// What the latter takes, without the guard.
uint64_t bytesWithStack(uint64_t bytes);

void giveBack(const ProgramMemory &memory);
/// Frees what is kept.
void releaseProgramMemory();

} // namespace nereid::runtime
