// SPDX-License-Identifier: Apache-2.0
// Syntax tree to tile IR: elaborates one jit function for one signature. Constexprs are evaluated,
// helpers inlined, dead constexpr branches never looked at. Sits between the parser and the tile
// dialect; everything else of this folder is its inside.
#pragma once

#include "lib/language/ModuleLoader.h"
#include "lib/language/signature/Signature.h"
#include "lib/language/syntax/Parser.h"
#include "lib/support/Diagnostics.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <string>
#include <string_view>
#include <vector>

namespace nereid::language {

/// Emits `kernel` of `module` for `signature` (its params in the kernel's order). The result holds
/// one func.func named like the kernel, with `tile.kernel`, whose arguments are the run-time
/// parameters; constexprs are folded. Its attribute `nereid.arguments` is an array of dictionaries
/// {name, kind = "pointer"|"integer"|"float", dtype, divisibility}, one per argument. Pointer and
/// integer arguments divisible by more than 1 carry `tile.divisibility`. Every operation has a
/// file:line:column location, inlined ones a callsite. Loads the dialects it needs into `context`.
/// Null after errors (E02xx, E03xx), which are all in `diags`. `loader` reads the files that the
/// kernel's file imports and holds them; without one they are taken as missing.
mlir::OwningOpRef<mlir::ModuleOp> emitKernel(mlir::MLIRContext &context, const SourceModule &module,
                                             const FunctionDef &kernel, const Signature &signature,
                                             Diagnostics &diags, ModuleLoader *loader = nullptr);

} // namespace nereid::language
