// SPDX-License-Identifier: Apache-2.0
// One element of any type and what operators make of it, in LLVM's APInt and APFloat: the judge of
// both the interpreter and the targets, and shares no code with either.
#pragma once

#include "runtime/elements/DType.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/APSInt.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace nereid::tables {

/// The element's bits in the low end of the word.
struct Scalar {
  DType type;
  uint64_t bits;
};

unsigned widthOf(DType type); ///< in bits; 1 for Bool
bool isSigned(DType type);    ///< I8 to I64
llvm::APFloat real(Scalar value);
llvm::APSInt whole(Scalar value);
Scalar scalar(const llvm::APInt &bits, DType type);
Scalar scalar(const llvm::APFloat &value); ///< of the type whose format the value has
bool isNan(Scalar value);
/// The same bits, or both NaN.
bool isSame(Scalar a, Scalar b);
std::string text(Scalar value);

constexpr auto nearest = llvm::APFloat::rmNearestTiesToEven;

/// Rounded once, F8E4B15 in Triton's way; 8-bit floats saturate, infinities too; integers keep
/// their low bits; what is not zero is true. Nothing for a float whose whole part does not fit the
/// integer.
std::optional<Scalar> convert(Scalar value, DType to, llvm::RoundingMode rounding = nearest);
Scalar convert(const llvm::APFloat &value, DType to, llvm::RoundingMode rounding = nearest);

/// Both operands of one type. ">>" of a signed value by an unsigned amount is asked for as ">>s".
/// Nothing where the language leaves the result open: division by zero, and which zero is
/// the larger one unless NaNs are passed on.
std::optional<Scalar> apply(const std::string &op, Scalar a, Scalar b);

/// Zeros, ones, both ends, what rounds and what wraps; sixteen of each type, two of Bool.
std::vector<Scalar> edges(DType type);

} // namespace nereid::tables
