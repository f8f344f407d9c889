// SPDX-License-Identifier: Apache-2.0
// Keeps the source and signature of every kernel that is compiled, so that `./dev replay` can
// compile the same kernels with another version of the compiler.
#pragma once

#include "lib/pipeline/Compiler.h"

namespace nereid::pipeline {

/// Writes `text`, the source of `input`, with function, signature and import paths to a file of its
/// own in the folder NEREID_RECORD_KERNELS; without that variable it does nothing. The file is
/// named by its content, so a kernel that is compiled twice is there once. Errors: E0002.
Status recordKernel(const CompileInput &input, const std::string &text);

} // namespace nereid::pipeline
