// SPDX-License-Identifier: Apache-2.0
// Under what the choice of a kernel's config is kept: a choice holds for the same kernel, compiled
// in the same way for the same machine, launched with the same values of some arguments.
#pragma once

#include "lib/launch/KernelCases.h"
#include "lib/launch/PreparedKernel.h"
#include "lib/pipeline/SourceKernel.h"

#include <string>
#include <vector>

namespace nereid::bench {

/// `among` tells apart what the choice is made among; `one`'s signature gives nothing of the
/// choice. Of `names`, arguments of the case, the values are part of the key: the last one of a
/// name, as in launches.
std::string configKey(const std::string &among, const pipeline::SourceKernel &kernel,
                      const launch::KernelCase &one, const launch::Execution &execution,
                      const std::string &machine, const std::vector<std::string> &names);

/// The arguments that are numbers, each once.
std::vector<std::string> scalarArguments(const launch::KernelCase &one);

} // namespace nereid::bench
