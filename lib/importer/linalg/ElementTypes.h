// SPDX-License-Identifier: Apache-2.0
// MLIR's types of elements, as those of definitions, and conversions between them.
#pragma once

#include "lib/importer/linalg/ScalarBody.h"

#include "runtime/elements/DType.h"

namespace nereid::importer {

/// Floats, signless integers, i1, and index, which has 64 bits.
std::optional<DType> dtypeOf(mlir::Type type);

/// "torch.float32", of a type that dtypeOf knows.
std::string typeText(mlir::Type type);

/// What `arith.extf` and its like make of a scalar; "" where a definition cannot say it.
std::string conversionText(mlir::Operation &operation, const Scalar &from);
bool isConversion(mlir::Operation &operation);

} // namespace nereid::importer
