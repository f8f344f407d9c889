// SPDX-License-Identifier: Apache-2.0
// Privatised atomics: additions that a thread sums up until the launch ends
// (runtime/core/PrivatisedAtomics.h); which ones may be is said by tile-privatise-atomics.
#pragma once

#include "runtime/core/PrivatisedAtomics.h"

#include "mlir/IR/Types.h"

#include <optional>

namespace nereid::cpu {

/// How the runtime sums up elements of a type; nothing where it does not.
std::optional<runtime::AdditionKind> additionKindOf(mlir::Type element);

} // namespace nereid::cpu
