// SPDX-License-Identifier: Apache-2.0
// The oracle: evaluates tile IR exactly and slowly on host tensors, in one thread, where the
// program instances of a grid may still wait for each other. Every target must agree with it. It
// never reads or writes outside the tensors it was given: an access there is a diagnostic with the
// kernel's own source line.
#pragma once

#include "lib/support/Diagnostics.h"
#include "runtime/Kernel.h"

#include "mlir/IR/BuiltinOps.h"

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace nereid {

namespace interpreter {
class Monitor;
}

/// Program instances of a grid run as if at the same time, in one of these orders.
enum class Schedule : uint8_t {
  InOrder,    ///< one after the other; one that waits for others in a loop lets them go on
  RoundRobin, ///< each makes one access to memory, then it is the next one's turn
  Random      ///< some accesses each, numbers and order at random from a seed
};

struct InterpretOptions {
  /// Element operations one program instance may take before it counts as endless (E0404).
  uint64_t operationBudget = uint64_t(1) << 33;
  /// Receives what `tile.print` writes; without it, standard output does.
  std::function<void(std::string_view)> print;
  /// Kernel to run when the module has several; empty = the only one.
  std::string kernel;
  /// Who goes on when several program instances could; see Scheduler.h.
  Schedule schedule = Schedule::InOrder;
  /// Of the random schedule; each gives another order, the same in every run.
  uint64_t seed = 0;
  /// Program instances that may have started and not ended at a time, as on a chip with so many
  /// places; 0 = any number.
  uint64_t residentPrograms = 0;
  /// Watches the launch, see Monitor.h; null = nobody.
  interpreter::Monitor *monitor = nullptr;
};

/// Runs the kernel of `module` (the function with the attribute `tile.kernel`) once per point of
/// `grid`, x running first. Arguments are the run-time parameters in order: tensors for pointers,
/// numbers otherwise. False when anything went wrong; `diags` then says what (E0302, E0304,
/// E0401…E0413).
bool interpret(mlir::ModuleOp module, runtime::Grid grid,
               std::span<const runtime::ArgumentValue> arguments, Diagnostics &diags);
bool interpret(mlir::ModuleOp module, runtime::Grid grid,
               std::span<const runtime::ArgumentValue> arguments, Diagnostics &diags,
               const InterpretOptions &options);

} // namespace nereid
