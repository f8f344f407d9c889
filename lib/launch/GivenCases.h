// SPDX-License-Identifier: Apache-2.0
// The launches of one kernel file that a command line describes: one, or one for each value of an
// integer argument (`--sweep n=1000000,4000000`), with the formulas that judge them.
#pragma once

#include "lib/launch/KernelCases.h"

#include <string>
#include <vector>

namespace nereid::launch {

/// What the command line says beside the kernel's signature, grid and arguments.
struct GivenFormulas {
  std::vector<std::string> references; ///< "name=expression", for each output
  std::string sweep;                   ///< "name=value,value…", empty = one launch
};

/// Called "command line", or "n=1000000" for each value of a sweep, which wins over the arguments
/// of `given`. E0013 for a text of another form.
Result<std::vector<KernelCase>> givenCases(const KernelCase &given, const GivenFormulas &formulas);

} // namespace nereid::launch
