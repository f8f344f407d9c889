// SPDX-License-Identifier: Apache-2.0
#include "lib/launch/PreparedCase.h"

#include "lib/launch/CaseReference.h"
#include "lib/launch/KernelReference.h"
#include "lib/support/FirstError.h"

namespace nereid::launch {

bool compileCase(const KernelCase &one, const Execution &execution, Diagnostics &diags) {
  const KernelReference file = parseKernelReference(one.kernel);
  pipeline::CompileOptions how;
  how.target = execution.target;
  how.chip = execution.chip;
  return bool(pipeline::compile({.path = file.path,
                                 .function = file.function,
                                 .signature = one.signature,
                                 .importPaths = execution.importPaths},
                                how, diags));
}

Result<PreparedCase> prepareCase(const KernelCase &one, const Execution &execution,
                                 Diagnostics &diags) {
  auto kernel = PreparedKernel::prepare(one.kernel, one.signature, execution, diags);
  if (!kernel) {
    return firstError(diags);
  }
  auto arguments = makeArguments(kernel->signature(), one.arguments);
  if (!arguments) {
    return arguments.error();
  }
  if (auto computed = computeInputs(one, *arguments); !computed) {
    return computed.error();
  }
  auto grid = evaluateGrid(one.grid, *arguments);
  if (!grid) {
    return grid.error();
  }
  return PreparedCase{std::move(*kernel), std::move(*arguments), *grid};
}

} // namespace nereid::launch
