// SPDX-License-Identifier: Apache-2.0
// `--backward`: the definition of the backward operator, checked and written, in the place of the
// one that was given.
#pragma once

#include "lib/support/Diagnostics.h"

#include <cstdint>
#include <string>
#include <vector>

namespace nereid::cli {

struct BackwardDefinition {
  std::string path; ///< "<out>/<op>_backward.toml"
  int compared = 0; ///< elements and directions whose gradient differences confirm
  double worstError = 0;
};

/// Reads the definition `input` and writes its backward operator into the folder `out`, "" = the
/// operator's name with "_backward". `by`: the inputs to differentiate by, none = all. E0620 where
/// there is no gradient, E0621 where finite differences say another one.
Result<BackwardDefinition> writeBackward(const std::string &input, std::string &out,
                                         const std::vector<std::string> &by, uint64_t seed,
                                         Diagnostics &diags);

} // namespace nereid::cli
