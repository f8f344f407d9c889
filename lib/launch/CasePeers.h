// SPDX-License-Identifier: Apache-2.0
// The key `peer` of a case: an operation that a library does, kernels in the own language of a
// target's devices, and forms of the case's reference.
#pragma once

#include "lib/launch/KernelCases.h"

#include <string>

#define TOML_EXCEPTIONS 0
#include <toml++/toml.h>

namespace nereid::launch {

/// Fills in `peer`, `foreignPeers` and `forms`; what is wrong, as it stands behind "case 'x' of
/// 'y'", empty = nothing.
std::string readPeers(toml::node_view<const toml::node> node, const std::string &folder,
                      KernelCase &result);

} // namespace nereid::launch
