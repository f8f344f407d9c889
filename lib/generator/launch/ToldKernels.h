// SPDX-License-Identifier: Apache-2.0
// Kernels of a program whose values are called by their operations (lower/Lower.h), with what each
// of them computes and why it is none with those that read what it leaves.
#pragma once

#include "lib/generator/launch/Table.h"

namespace nereid::generator {

struct ToldKernels {
  MadeKernels made;
  std::vector<std::set<size_t>> operations; ///< of each kernel
  std::map<BufferId, std::string> reasons;  ///< of temporaries, with those that are given
};

/// As makeKernels.
Result<ToldKernels> makeToldKernels(Program &program, const std::string &name,
                                    std::map<BufferId, std::string> reasons);

} // namespace nereid::generator
