// SPDX-License-Identifier: Apache-2.0
// `patterns.md`: what optimisation rounds have learned, for people: when a change applies, what it
// is, what it gained, and what to make of that.
#pragma once

#include "lib/generator/Patterns.h"

#include <string>

namespace nereid::develop {

std::string patternsPage(const std::string &operatorName, const generator::Patterns &patterns);

} // namespace nereid::develop
