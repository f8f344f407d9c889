// SPDX-License-Identifier: Apache-2.0
// A kernel's file, read: its syntax tree, the kernel that is meant, and what the parameters stand
// for. Who needs the signature before the launch reads the kernel once and passes it on. This
// header knows no MLIR.
#pragma once

#include "lib/language/signature/Signature.h"
#include "lib/language/syntax/Ast.h"
#include "lib/support/Diagnostics.h"

#include <memory>
#include <optional>
#include <string>

namespace nereid::pipeline {

struct CompileInput;

struct SourceKernel {
  std::string text;                                     ///< of the file
  std::shared_ptr<const language::SourceModule> module; ///< shared by kernels of one text
  const language::FunctionDef *function = nullptr;      ///< in `module`
  language::Signature signature;
  std::string specialization; ///< see language::Specialization::text
  Diagnostics remarks;        ///< on the choice of the kernel and on its decorators
};

/// The file's text, the kernel that is meant and the remarks on it, for who completes the
/// signature: `signature` and `specialization` are left empty. Null when diags has errors: E0001,
/// what does not parse, E0014.
std::shared_ptr<SourceKernel> openSource(const CompileInput &input, Diagnostics &diags);

/// Reads `input.path`, or `input.source` where it is given. Null when diags has errors: E0001, what
/// does not parse, E0014, E0026, E0206 and what else a signature may lack.
std::shared_ptr<const SourceKernel> readKernel(const CompileInput &input, Diagnostics &diags);

} // namespace nereid::pipeline
