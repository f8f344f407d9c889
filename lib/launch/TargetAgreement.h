// SPDX-License-Identifier: Apache-2.0
// Whether compiled code leaves what the interpreter has left: the companion run of `nereid check`.
// Both get the same arguments, so that bytes which nobody writes are equal as well.
#pragma once

#include "lib/launch/PreparedCase.h"

#include <vector>

namespace nereid::launch {

/// Launches the case as `execution` says, on arguments of its own, and compares every tensor that
/// is no workspace with `interpreted`: integers and bools exactly, floats by the case's tolerance
/// or, without one, by 64 units in the last place of their type, measured at the element or at the
/// largest element that is finite, whichever is more. One E0812 for each tensor that differs.
/// Errors of the kernel are in `diags`, and the first of them, or of the launch, is returned.
Result<std::vector<Diagnostic>> disagreements(const KernelCase &one, const Execution &execution,
                                              const KernelArguments &interpreted,
                                              Diagnostics &diags);

} // namespace nereid::launch
