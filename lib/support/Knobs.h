// SPDX-License-Identifier: Apache-2.0
// The registry of environment variables: each is declared here once, and `nereid knobs` and the
// docs print from it.
#pragma once

#include <string_view>
#include <vector>

namespace nereid {

struct Knob {
  std::string_view variable, meaning;
};

const std::vector<Knob> &allKnobs();

} // namespace nereid
