// SPDX-License-Identifier: Apache-2.0
// What is known of a value at this moment of elaboration.
#pragma once

#include "lib/language/emit/Value.h"

namespace nereid::language::emit {

/// The number a value is, when it is a constant: also one that folding has made a constant.
std::optional<Value> knownNumber(const Value &value);
/// True, false, or nothing when it is only known at run time; poison counts as nothing.
std::optional<bool> constantTruth(const Value &value);

} // namespace nereid::language::emit
