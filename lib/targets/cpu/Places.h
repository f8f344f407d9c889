// SPDX-License-Identifier: Apache-2.0
// Where in the kernel's text an operation comes from.
#pragma once

#include "lib/support/Diagnostics.h"

#include "mlir/IR/Operation.h"

#include <string>

namespace nereid::cpu {

/// `file:line:column` of an operation, through call sites to where the kernel's text is; line 0
/// when it has none.
struct Place {
  std::string file;
  int line = 0, column = 0;
};
Place placeOf(mlir::Location loc);

/// The diagnostic points at that place.
void setPlace(Diagnostic &diagnostic, mlir::Location loc);

/// E0301 there: what the target has no code for, and why.
Diagnostic unsupportedError(mlir::Operation *op, const std::string &why);

} // namespace nereid::cpu
