// SPDX-License-Identifier: Apache-2.0
// The launches of a generated operator as cases of its kernels' file: what else looks at kernels
// that somebody wrote, such as `nereid profile`, looks at these in the same way.
#pragma once

#include "lib/launch/KernelCases.h"
#include "lib/machine/Machine.h"

#include <string>
#include <vector>

namespace nereid::develop {

/// `nereid generate` has made the folder.
bool isOperatorFolder(const std::string &folder);

/// Every launch of the performance cases, in each of the operator's types, on a device of that
/// chip: "large float16, 2 of 3" has kernel, signature and grid, and no arguments. With schedules
/// that the folder has measured for the chip, else by the rules. `onlyCase`: "" = all; E0016 where
/// there is none of that name.
Result<std::vector<launch::KernelCase>> operatorLaunches(const std::string &folder, Machine chip,
                                                         const std::string &onlyCase);

} // namespace nereid::develop
