// SPDX-License-Identifier: Apache-2.0
// The configs of triton.autotune among which a case may choose: what its signature leaves open,
// each as a case of its own, and the key under which the choice is kept.
#pragma once

#include "lib/launch/KernelCases.h"
#include "lib/launch/PreparedKernel.h"

#include <string>
#include <vector>

namespace nereid::bench {

struct OpenConfig {
  std::string text;         ///< "BLOCK_M=64,BLOCK_N=64,num_warps=4,num_stages=3"
  launch::KernelCase asked; ///< the case with this config in its signature
};

struct OpenConfigs {
  std::vector<OpenConfig> configs; ///< in the kernel's order; empty where nothing is to be chosen
  /// For the kernel, the signature and the values of the arguments that triton.autotune names as
  /// its `key`, see ConfigKey.h.
  std::string key;
  /// Nobody wrote them down for the kernel: each is launched between forbidden pages before it is
  /// timed. The choice among them is kept by who looks further (keepConfig).
  bool areGuessed = false;
};

/// Nothing is open in a kernel without configs or with a single one, nor where the signature gives
/// all that they would. `machine` is the fingerprint of what the case runs on. Nothing, and errors
/// in `diags`, for a kernel that cannot be read.
std::optional<OpenConfigs> openConfigs(const launch::KernelCase &one,
                                       const launch::Execution &execution,
                                       const std::string &machine, Diagnostics &diags);

} // namespace nereid::bench
