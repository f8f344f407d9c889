// SPDX-License-Identifier: Apache-2.0
// How far reductions may be off, whatever the order in which they take their elements.
#pragma once

#include "lib/eager/reference/rules/ErrorRules.h"

#include <span>

namespace nereid::eager {

/// A reduction of the listed elements.
Bounded reduceRule(const definition::Node &node, std::span<const Bounded> elements,
                   const ErrorModel &model);

} // namespace nereid::eager
