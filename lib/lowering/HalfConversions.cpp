// SPDX-License-Identifier: Apache-2.0
// bf16 is the upper half of an f32, so rounding is an integer addition, or an instruction where
// the machine has one; so f16 has instructions or integer arithmetic. f64 goes
// through f32 rounded to odd, which keeps enough of the lost bits for the second rounding to be
// right (Boldo and Melquiond 2008).
#include "lib/lowering/HalfConversions.h"

#include "lib/lowering/Float8Conversions.h"
#include "lib/lowering/math/LaneInstructions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace nereid::lowering {
namespace {

Lanes bf16FromSingle(Lanes number) {
  if (const LaneInstructions *instructions = instructionsFor(number)) {
    if (std::optional<Lanes> bits = instructions->bf16FromSingle(number)) {
      return *bits;
    }
  }
  Lanes bits = bitsOf(number);
  Lanes rounded = bits + ((shiftRight(bits, 16) & 1) + bits.constantBits(0x7fff));
  // Rounding a NaN's mantissa could carry it into infinity; it is made quiet instead.
  Lanes result = select(isNan(number), bits | uint64_t(0x400000), rounded);
  return truncateTo(shiftRight(result, 16), 16);
}

/// Exact: the f16 mantissa is scaled by a power of 2 in f32, which also normalises subnormals.
Lanes halfToSingleByIntegers(Lanes bits) {
  Lanes wide = extendUnsigned(bits, 32);
  Lanes magnitude = (wide & 0x7fff) << 13;
  Lanes scaled = bitsOf(floatOf(magnitude) * 0x1p112);
  Lanes isSpecial = magnitude >= magnitude.constantBits(0x7c00 << 13);
  Lanes result = select(isSpecial, magnitude | uint64_t(0x7f800000), scaled);
  return floatOf(result | ((wide & 0x8000) << 16));
}

Lanes halfFromSingleByIntegers(Lanes number) {
  Lanes bits = bitsOf(number);
  Lanes sign = shiftRight(bits, 16) & 0x8000;
  Lanes magnitude = bits & 0x7fffffff;
  // Subnormal results: adding 1/2 lines their last bit up with that of an f32.
  Lanes small = bitsOf(floatOf(magnitude) + 0.5) - magnitude.constantBits(0x3f000000);
  Lanes normal = shiftRight(
      magnitude + ((shiftRight(magnitude, 13) & 1) + magnitude.constantBits(0xc8000fff)), 13);
  Lanes result = select(magnitude < magnitude.constantBits(0x38800000), small, normal);
  Lanes overflows = magnitude >= magnitude.constantBits(0x477ff000);
  result = select(overflows, magnitude.constantBits(0x7c00), result);
  Lanes nan = (shiftRight(magnitude, 13) & 0x3ff) | uint64_t(0x7e00);
  result = select(magnitude > magnitude.constantBits(0x7f800000), nan, result);
  return truncateTo(result | sign, 16);
}

/// f64 to f32 so that the last bit tells whether anything was lost.
Lanes singleRoundedToOdd(Lanes number) {
  Lanes single = toSingle(number);
  Lanes back = toDouble(single);
  Lanes bits = bitsOf(single);
  // Truncation towards zero, then the last bit set when it was inexact.
  Lanes isAbove = absolute(back) > absolute(number);
  Lanes isInexact = !(back == number) & !isNan(number);
  Lanes one = bits.constantBits(1), zero = bits.constantBits(0);
  Lanes truncated = select(isAbove, bits - one, bits);
  return floatOf(truncated | select(isInexact, one, zero));
}

/// The number, of which LLVM does not know that it was float16 before: it would narrow comparisons
/// and roundings of it to that type, and then write them lane by lane.
static Lanes fenced(Lanes single) {
  LanesContext &where = single.where();
  OpBuilder &builder = where.builder;
  auto fence = builder.create<LLVM::CallIntrinsicOp>(
      where.loc, single.type(), builder.getStringAttr("llvm.arithmetic.fence"),
      ValueRange{single.get()}, LLVM::FastmathFlagsAttr::get(builder.getContext(), {}));
  return Lanes(where, fence.getResult(0));
}

Lanes decodeHalf(Lanes bits, bool isBf16) {
  if (isBf16) {
    return floatOf(extendUnsigned(bits, 32) << 16);
  }
  LanesContext &where = bits.where();
  if (!where.machine.hasHalfConversions) {
    return halfToSingleByIntegers(bits);
  }
  OpBuilder &builder = where.builder;
  Value half =
      builder.create<arith::BitcastOp>(where.loc, bits.typeOf(builder.getF16Type()), bits.get());
  const Lanes single(
      where, builder.create<arith::ExtFOp>(where.loc, bits.typeOf(builder.getF32Type()), half));
  return where.machine.hasOnlyHalfConversions ? fenced(single) : single;
}

Lanes encodeHalf(Lanes single, bool isBf16) {
  LanesContext &where = single.where();
  if (isBf16 && !where.machine.hasBf16Rounding) {
    return bf16FromSingle(single);
  }
  if (!isBf16 && !where.machine.hasHalfConversions) {
    return halfFromSingleByIntegers(single);
  }
  OpBuilder &builder = where.builder;
  Type format = isBf16 ? Type(builder.getBF16Type()) : Type(builder.getF16Type());
  Value half = builder.create<arith::TruncFOp>(where.loc, single.typeOf(format), single.get());
  return Lanes(where, builder.create<arith::BitcastOp>(where.loc,
                                                       single.typeOf(builder.getI16Type()), half));
}

} // namespace

Lanes decodeNarrow(Lanes bits, Type format) {
  return bits.width() == 8 ? decodeFloat8(bits, format) : decodeHalf(bits, format.isBF16());
}

Lanes encodeNarrow(Lanes number, Type format) {
  Lanes single = number.width() == 64 ? singleRoundedToOdd(number) : number;
  return format.getIntOrFloatBitWidth() == 8 ? encodeFloat8(single, format)
                                             : encodeHalf(single, format.isBF16());
}

Lanes encodeTowardZero(Lanes number, Type format) {
  // The nearest number, and the one before it where that is too large: infinity included.
  Lanes nearest = encodeNarrow(number, format);
  Lanes back = decodeNarrow(nearest, format);
  Lanes isAbove = absolute(number.width() == 64 ? toDouble(back) : back) > absolute(number);
  Lanes below = nearest - nearest.constantBits(1);
  if (nearest.width() == 8 && hasNanForNegativeZero(format)) {
    below = select(below == below.constantBits(0x80), below.constantBits(0), below);
  }
  return select(isAbove, below, nearest);
}

Lanes singleTowardZero(Lanes number) {
  Lanes single = toSingle(number);
  Lanes bits = bitsOf(single);
  Lanes isAbove = absolute(toDouble(single)) > absolute(number);
  return floatOf(select(isAbove, bits - bits.constantBits(1), bits));
}

Lanes integerToDouble(Lanes integers, bool isSigned) {
  LanesContext &where = integers.where();
  Lanes source = integers;
  if (integers.width() == 64) {
    // Beyond 2^53 the low bits are folded into one, far below the last bit that decides.
    uint64_t lowBits = 0xfff;
    Lanes low = integers & lowBits;
    Lanes sticky =
        select(low == low.constantBits(0), low.constantBits(0), low.constantBits(lowBits + 1));
    Lanes folded = (integers & ~lowBits) | sticky;
    // |x| < 2^52 exactly when the upper bits are all equal to the sign, or all 0.
    Lanes top = isSigned ? shiftRightSigned(integers, 52) : shiftRight(integers, 52);
    Lanes isExact = top == top.constantBits(0);
    if (isSigned) {
      isExact = isExact | (top == top.constantBits(~uint64_t(0)));
    }
    source = select(isExact, integers, folded);
  }
  Type f64 = integers.typeOf(where.builder.getF64Type());
  if (isSigned) {
    return Lanes(where, where.builder.create<arith::SIToFPOp>(where.loc, f64, source.get()));
  }
  return Lanes(where, where.builder.create<arith::UIToFPOp>(where.loc, f64, source.get()));
}

} // namespace nereid::lowering
