// SPDX-License-Identifier: Apache-2.0
// The folders in which a kernel's imports are looked for: those of the command line or the C
// interface, then those of NEREID_IMPORT_PATH (separated by colons).
#pragma once

#include "lib/pipeline/Compiler.h"

#include <string>
#include <vector>

namespace nereid::pipeline {

std::vector<std::string> allImportPaths(const CompileInput &input);

} // namespace nereid::pipeline
