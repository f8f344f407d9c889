// SPDX-License-Identifier: Apache-2.0
// A case ready to launch again and again: its kernel, its arguments with their contents, its grid.
#pragma once

#include "lib/launch/KernelCases.h"
#include "lib/launch/PreparedKernel.h"

namespace nereid::launch {

struct PreparedCase {
  PreparedKernel kernel;
  KernelArguments arguments;
  runtime::Grid grid;

  bool launch(Diagnostics &diags) const { return kernel.launch(grid, arguments, diags); }
};

/// Whether the case's kernel compiles for the target that `execution` names; nothing is loaded.
bool compileCase(const KernelCase &one, const Execution &execution, Diagnostics &diags);

/// Errors of the kernel are in `diags`, with the remarks on it; the first of them, or what is wrong
/// with the rest of the case, is returned.
Result<PreparedCase> prepareCase(const KernelCase &one, const Execution &execution,
                                 Diagnostics &diags);

} // namespace nereid::launch
