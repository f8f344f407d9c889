// SPDX-License-Identifier: Apache-2.0
// One launch of a case as `nereid verify` makes it: on memory of the kernel's own, so that the
// inputs which the reference reads are never in its hands, and with everything noticed that it does
// besides computing its outputs.
#pragma once

#include "lib/launch/KernelCases.h"
#include "lib/launch/PreparedKernel.h"

#include <string>

namespace nereid::bench {

/// Launches and leaves in `arguments` what the outputs hold then; everything else stays. Returns
/// what is wrong beside the numbers, "" = nothing: see verify::runTrial and check::checkKernel.
/// Arguments that share memory, runners and the interpreter are launched once, on copies.
Result<std::string> tryLaunch(const launch::KernelCase &testCase,
                              const launch::PreparedKernel &kernel, runtime::Grid grid,
                              launch::KernelArguments &arguments, Diagnostics &diags);

} // namespace nereid::bench
