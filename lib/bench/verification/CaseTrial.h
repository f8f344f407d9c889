// SPDX-License-Identifier: Apache-2.0
// One launch of a case as `nereid verify` makes it: on memory of the kernel's own, so that the
// inputs which the reference reads are never in its hands, and with everything noticed that it does
// besides computing its outputs.
#pragma once

#include "lib/launch/KernelCases.h"
#include "lib/launch/PreparedKernel.h"

#include <optional>
#include <string>

namespace nereid::bench {

struct TriedLaunch {
  std::string wrong; ///< beside the numbers, "" = nothing: see verify::runTrial, check::checkKernel
  /// What the second launch left where it may leave other numbers and did: right as well, or the
  /// kernel is not.
  std::optional<launch::KernelArguments> again;
};

struct LaunchTrial {
  uint64_t seed = 0;             ///< draws a pattern of memory
  bool isCheckedAlready = false; ///< `nereid check` has seen the case on other data
};

/// Launches and leaves in `arguments` what the outputs hold then; everything else stays.
/// Arguments that share memory, runners and the interpreter are
/// launched once, on copies.
Result<TriedLaunch> tryLaunch(const launch::KernelCase &testCase,
                              const launch::PreparedKernel &kernel, runtime::Grid grid,
                              launch::KernelArguments &arguments, const LaunchTrial &how,
                              Diagnostics &diags);

/// What `nereid check` says first of the launch, "" = nothing; the arguments stay as they are.
/// Nothing of kernels that are not compiled for this machine, or whose arguments share memory.
Result<std::string> checkLaunch(const launch::KernelCase &testCase,
                                const launch::PreparedKernel &kernel, runtime::Grid grid,
                                const launch::KernelArguments &arguments);

} // namespace nereid::bench
