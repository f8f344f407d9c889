// SPDX-License-Identifier: Apache-2.0
// A trait by which other dialects tell analyses of tile IR that an operation changes no element.
#pragma once

#include "mlir/IR/OpDefinition.h"

namespace nereid::tile::OpTrait {

/// The result is the operand, whoever holds its elements.
template <class ConcreteOp>
struct KeepsElements : mlir::OpTrait::TraitBase<ConcreteOp, KeepsElements> {};

} // namespace nereid::tile::OpTrait
