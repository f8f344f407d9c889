// SPDX-License-Identifier: Apache-2.0
// The oracle: evaluates tile IR exactly and slowly on host tensors, one program instance after the
// other. Every target must agree with it. It never reads or writes outside the tensors it was
// given: an access there is a diagnostic with the kernel's own source line.
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

struct InterpretOptions {
  /// Element operations one program instance may take before it counts as endless (E0404).
  uint64_t operationBudget = uint64_t(1) << 33;
  /// Receives what `tile.print` writes; without it, standard output does.
  std::function<void(std::string_view)> print;
  /// Kernel to run when the module has several; empty = the only one.
  std::string kernel;
};

/// Runs the kernel of `module` (the function with the attribute `tile.kernel`) once per point of
/// `grid`, x running first. Arguments are the run-time parameters in order: tensors for pointers,
/// numbers otherwise. False when anything went wrong; `diags` then says what (E0302, E0401…E0410).
bool interpret(mlir::ModuleOp module, runtime::Grid grid,
               std::span<const runtime::ArgumentValue> arguments, Diagnostics &diags);
bool interpret(mlir::ModuleOp module, runtime::Grid grid,
               std::span<const runtime::ArgumentValue> arguments, Diagnostics &diags,
               const InterpretOptions &options);

} // namespace nereid
