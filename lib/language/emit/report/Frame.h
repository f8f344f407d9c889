// SPDX-License-Identifier: Apache-2.0
// One function while it is elaborated: its variables, who called it, and what its surroundings
// allow. The kernel's own frame is the outermost; each call of a helper lies inside its caller's.
#pragma once

#include "lib/language/emit/Value.h"

#include "mlir/IR/Location.h"

#include <map>

namespace nereid::language::emit {

using Locals = std::map<std::string, Value>;

struct Captured {
  Locals locals;
};

/// One function being elaborated: the kernel, or a helper at one of its calls.
struct Frame {
  const SourceModule *module = nullptr;
  const FunctionDef *function = nullptr; ///< null while a module-level expression is evaluated
  Locals locals;
  std::shared_ptr<const Captured> captured;
  /// Names that are not defined here although an assignment can be seen, and why.
  std::map<std::string, std::string> lost;
  Frame *caller = nullptr;
  SourceRange callRange; ///< in the caller's module
  mlir::LocationAttr callLocation;
  Value returned;
  /// What surrounds the statement and keeps a run-time `return` from leaving; null when nothing
  /// does.
  const char *returnBarrier = nullptr;
  bool isUnrolling = false; ///< inside an unrolled loop: only a constant condition may return
  bool isConstexpr = false; ///< runs on constants only and may call any Python function
  /// Tiles stand for one element each: conditions choose element by element.
  bool isElementwise = false;
};

} // namespace nereid::language::emit
