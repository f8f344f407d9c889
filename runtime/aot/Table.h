// SPDX-License-Identifier: Apache-2.0
// What a kernel compiled ahead of time says about itself to the runtime: one constant table in its
// object, written by lib/aot/Launcher.cpp as LLVM IR. Every member has 8 bytes, so that the writer
// needs to know no padding. The caller's slots hold one value for each C parameter of the launcher;
// a specialization's entry takes some of them.
#pragma once

#include "runtime/core/KernelEntry.h"

#include <atomic>
#include <cstdint>

namespace nereid::aot {

/// Of these structures and of what a kernel's entry is called with; a table of another version is
/// refused.
inline constexpr int64_t tableVersion = 6;

enum class ParameterKind : int64_t { Pointer, Integer, Float };

struct Parameter {
  const char *name;
  ParameterKind kind;
};

enum class ConditionKind : int64_t {
  AddressDivisible,
  ValueDivisible,
  Equal,
  IsNull,    ///< the specialization has no such tensor (None)
  IsPresent, ///< another specialization has none
  AtLeast,
  AtMost,
};

struct Condition {
  ConditionKind kind;
  int64_t slot;
  int64_t value; ///< divisor, bound, or the bits the slot must have
};

struct Variant {
  runtime::KernelEntry entry;
  int64_t scratchBytes;
  int64_t isBlocking;  ///< programs may wait for each other
  int64_t takesRanges; ///< one call runs the programs from id[0] to id[3]
};

struct Specialization {
  const char *signature;
  const Condition *conditions;
  int64_t conditionCount;
  const int64_t *slots; ///< for each slot of the entry, the caller's
  int64_t slotCount;
  /// Writes the three sizes; null when done, else what has no value, for a message. No function:
  /// the caller gives the grid.
  const char *(*grid)(const uint64_t *slots, int64_t sizes[3]);
  const Variant *variants; ///< one for each target
};

struct Target {
  const char *name;
  const char *features; ///< "+avx2,+fma"
};

/// What the runtime has found out; the only part that is written.
struct State {
  std::atomic<int64_t> target; ///< 0 = not chosen yet, -1 = none fits, else its number + 1
  /// Nanoseconds × 16 of a program of each specialization, lately; 0 = unknown. As many as there
  /// are specializations.
  std::atomic<int64_t> costs[1];
};

struct Table {
  int64_t version;
  const char *name;
  const Parameter *parameters;
  int64_t parameterCount;
  const Specialization *specializations; ///< the first whose conditions hold is taken
  int64_t specializationCount;
  const Target *targets; ///< the first that this machine has is taken
  int64_t targetCount;
  State *state;
};

} // namespace nereid::aot
