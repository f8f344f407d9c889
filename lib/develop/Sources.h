// SPDX-License-Identifier: Apache-2.0
// What generated kernels are made of: a record about them holds as long as none of it changes.
#pragma once

#include "lib/develop/Launch.h"
#include "lib/generator/Generator.h"

namespace nereid::develop {

/// Hexadecimal digest of the names and contents of the kernels' file and of every file that they
/// import for the definition's cases; of their own file alone where it cannot be compiled.
std::string digestOfSources(const KernelSource &source, generator::Generation generation,
                            const Machine &chip, DType dtype);

} // namespace nereid::develop
