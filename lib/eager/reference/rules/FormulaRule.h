// SPDX-License-Identifier: Apache-2.0
// The rule of a pointwise operation that no table of this folder has: that of its formula in
// operations.def, each operation by its own rule. It says how far the formula may be off, and
// nothing of whether the formula is right: a test against numbers from elsewhere does
// (unittests/eager/functions/functions_test.cpp).
#pragma once

#include "lib/eager/reference/rules/ErrorRules.h"

namespace nereid::eager {

/// A rule whose `run` is null where the operation has no formula, or one of an operation without a
/// rule.
Rule formulaRule(const definition::Node &node, const ErrorModel &model);

} // namespace nereid::eager
