// SPDX-License-Identifier: Apache-2.0
// The MLIR passes of this library: floats without an instruction of their own, and functions,
// become what every processor has. They work on scalars and on vectors with one dimension.
#pragma once

#include "lib/lowering/math/Lanes.h"

#include "mlir/Pass/Pass.h"

#include <memory>

namespace nereid::lowering {

/// Unit, of an arith.mulf or arith.divf of f32 or f64: its result is rounded correctly, whatever
/// the processor's approximations and fused additions could do.
inline constexpr llvm::StringLiteral roundedAttribute = "lowering.rounded";

/// Unit, of an arith.divf of f32: its operands carry errors, so that it need not be rounded
/// correctly.
inline constexpr llvm::StringLiteral approximateAttribute = "lowering.approximate";

/// Unit, of an arith.divf of f32: operands and result are normal, and a result within two units in
/// the last place is enough.
inline constexpr llvm::StringLiteral nearbyAttribute = "lowering.nearby";

/// Unit, of an arith.select or an scf.if: its condition holds for few lanes.
inline constexpr llvm::StringLiteral rareAttribute = "lowering.rare";

/// Unit, of an arith.select: its second value is enough where all that becomes of the result is
/// rounded to 16 bits; else the result is the first one.
inline constexpr llvm::StringLiteral forHalvesAttribute = "lowering.for_halves";

/// take a function's short form where its result is only rounded to 16 bits
std::unique_ptr<mlir::Pass> createChooseFormsPass();

/// compute what only few lanes need behind a branch
std::unique_ptr<mlir::Pass> createBranchToRarePass();

/// put branches to what few lanes need behind one branch to all of them
std::unique_ptr<mlir::Pass> createJoinRareBranchesPass();

/// replace f16, bf16 and 8-bit float values by their bits, computing in f32 and rounding after each
/// operation
std::unique_ptr<mlir::Pass> createExpandHalfPass(const FloatUnit &machine);

/// replace math functions by inline polynomials with the error bounds of docs/math.md
std::unique_ptr<mlir::Pass> createExpandMathPass(const FloatUnit &machine);

/// compute remainders of floats by their quotient, or by integers, for targets without a function
/// for them; of scalars
std::unique_ptr<mlir::Pass> createExpandRemaindersPass();

} // namespace nereid::lowering
