// SPDX-License-Identifier: Apache-2.0
// Definitions by name: those of NEREID_OPERATOR_PATH and those that are installed. Their folders
// may have subfolders; the file's name decides.
#pragma once

#include "lib/support/Diagnostics.h"

#include <string>
#include <string_view>
#include <vector>

namespace nereid::definition {

/// A name, "layer_norm", and no path: letters, digits and underscores.
bool isOperatorName(std::string_view text);
/// Where definitions are looked for, in this order; the last one holds those that are shipped.
std::vector<std::string> operatorFolders();
/// The file of the operator in the first folder that has it. E0601 with the nearest names.
Result<std::string> findOperator(std::string_view name,
                                 const std::vector<std::string> &folders = operatorFolders());

} // namespace nereid::definition
