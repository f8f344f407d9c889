// SPDX-License-Identifier: Apache-2.0
// An MLIR context that one compilation uses alone and the next one gets again: making a context and
// loading its dialects takes as long as lowering a small kernel.
#pragma once

#include "lib/pipeline/kernel/TileLayouts.h"
#include "lib/support/Diagnostics.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace nereid::pipeline {

class Target;

class Session {
public:
  /// Takes a context that fits `target` (null: no target's dialects) or makes one.
  explicit Session(const Target *target);
  ~Session();
  Session(const Session &) = delete;
  Session &operator=(const Session &) = delete;

  mlir::MLIRContext &context() { return *held; }

private:
  const Target *target;
  int uses = 0; ///< compilations the context has served
  std::unique_ptr<mlir::MLIRContext> held;
};

/// Points at the place in the source that a location stands for, if any: that of inlined code in
/// its function. `path` and `text` are the file that is compiled; others are read.
void putAt(Diagnostic &diagnostic, mlir::Location location, const std::string &path,
           const std::string &text);
SourcePlace placeOf(mlir::Location location, const std::string &path, const std::string &text);

/// While it lives, what MLIR reports on the context becomes Diagnostics with the place in the
/// kernel's source. Errors get `code`, remarks R0301; warnings are dropped.
class DiagnosticCapture {
public:
  /// `path` and `text` are the source file that locations point into. An error is `code` unless its
  /// message ends in a code of its own, as "… [E0301]"; a note "help: …" is its help. The same
  /// remark is kept once, and none without `keepsRemarks`.
  DiagnosticCapture(mlir::MLIRContext &context, std::string code, std::string path,
                    std::string text, bool keepsRemarks, Diagnostics &diags);

private:
  mlir::ScopedDiagnosticHandler handler;
};

} // namespace nereid::pipeline
