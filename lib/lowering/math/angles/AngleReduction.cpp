// SPDX-License-Identifier: Apache-2.0
// Cody and Waite's reduction with pi/2 in four parts of 33 bits, so that multiples up to 2^20 are
// exact; Payne and Hanek's for the rest: 2/pi in digits of base 2^24, of which those whose product
// with x is a multiple of 4 turns are skipped. Both follow Muller, Elementary Functions,
// chapter 11.
#include "lib/lowering/math/angles/AngleReduction.h"

#include "lib/lowering/Branches.h"
#include "lib/lowering/math/Coefficients.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"

#include <cmath>

using namespace mlir;

namespace nereid::lowering {
namespace {

constexpr double largestDirect = 0x1p20; // in quarter turns and so, safely, in radians
constexpr double twoOverPi = 0x1.45f306dc9c883p-1;
constexpr double halfPiHigh = 0x1.921fb54442d18p+0, halfPiLow = 0x1.1a62633145c07p-54;
// pi/2 in 33-bit parts, the last one rounded.
constexpr double halfPi1 = 0x1.921fb544p+0, halfPi2 = 0x1.0b4611a6p-34, halfPi3 = 0x1.3198a2e0p-69,
                 halfPi4 = 0x1.b839a252049c1p-104;
constexpr double roundingMagic = 6755399441055744.0; // 1.5 * 2^52

constexpr const char *digitsName = "nereid_two_over_pi";
constexpr int usedDigits = 9; // 9 * 24 bits: 78 before the point, 138 behind

/// x / (pi/2) rounded; `bits` holds it in its low part.
struct Turns {
  Lanes number, bits;
};

Turns countTurns(Lanes quarterTurns) {
  Lanes magic = quarterTurns + roundingMagic;
  return {magic - roundingMagic, bitsOf(magic)};
}

ReducedAngle reduceDirectly(Lanes x, bool isSingle) {
  Turns n = countTurns(x * twoOverPi);
  Lanes first = x - n.number * halfPi1;
  if (isSingle) {
    Lanes rest = first - n.number * halfPi2 - n.number * (halfPi3 + halfPi4);
    return {n.bits, {rest, rest.constant(0)}};
  }
  Pair second = twoSum(first, -(n.number * halfPi2));
  Pair third = twoSum(second.high, -(n.number * halfPi3));
  Lanes low = (second.low + third.low) - n.number * halfPi4;
  return {n.bits, quickTwoSum(third.high, low)};
}

Value digitTable(LanesContext &where) {
  OpBuilder &builder = where.builder;
  auto module = builder.getInsertionBlock()->getParentOp()->getParentOfType<ModuleOp>();
  if (!module.lookupSymbol(digitsName)) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(module.getBody());
    auto type = RankedTensorType::get({int64_t(std::size(coefficients::twoOverPiDigits))},
                                      builder.getI32Type());
    auto digits =
        DenseIntElementsAttr::get(type, llvm::ArrayRef<int32_t>(coefficients::twoOverPiDigits));
    builder.create<LLVM::GlobalOp>(
        module.getLoc(), LLVM::LLVMArrayType::get(builder.getI32Type(), type.getNumElements()),
        /*isConstant=*/true, LLVM::Linkage::Internal, digitsName, digits);
  }
  return builder.create<LLVM::AddressOfOp>(
      where.loc, LLVM::LLVMPointerType::get(builder.getContext()), digitsName);
}

/// Digit number `index` (i64 lanes) of 2/pi as f64.
Lanes loadDigit(Value table, Lanes index) {
  LanesContext &where = index.where();
  OpBuilder &builder = where.builder;
  Type pointer = LLVM::LLVMPointerType::get(builder.getContext());
  Value loaded;
  if (auto vector = dyn_cast<VectorType>(index.type())) {
    Type pointers = LLVM::getFixedVectorType(pointer, vector.getNumElements());
    Value addresses = builder.create<LLVM::GEPOp>(where.loc, pointers, builder.getI32Type(), table,
                                                  ArrayRef<LLVM::GEPArg>{index.get()});
    Lanes allLanes = index == index;
    Type digits = vector.clone(builder.getI32Type());
    loaded = builder.create<LLVM::masked_gather>(where.loc, digits, addresses, allLanes.get(),
                                                 ValueRange{}, builder.getI32IntegerAttr(4));
  } else {
    Value address = builder.create<LLVM::GEPOp>(where.loc, pointer, builder.getI32Type(), table,
                                                ArrayRef<LLVM::GEPArg>{index.get()});
    auto load = builder.create<LLVM::LoadOp>(where.loc, builder.getI32Type(), address);
    load.setInvariant(true);
    loaded = load;
  }
  // Below 2^52, so that the integer is the mantissa of 2^52 + digit.
  Lanes wide = extendUnsigned(Lanes(where, loaded), 64);
  return floatOf(wide | uint64_t(0x4330000000000000)) - 0x1p52;
}

ReducedAngle reduceByDigits(Lanes x) {
  LanesContext &where = x.where();
  Value table = digitTable(where);
  Lanes exponent = (shiftRight(bitsOf(x), 52) & 0x7ff) - bitsOf(x).constantBits(1023);
  // floor((exponent - 54) / 24), not negative; 43691 / 2^20 is 1/24 for all exponents.
  Lanes above = exponent - exponent.constantBits(54);
  above = select(above < above.constantBits(0), above.constantBits(0), above);
  Lanes skipped = shiftRight(above * above.constantBits(43691), 20);
  Lanes scale = floatOf((skipped.constantBits(1023) - skipped * skipped.constantBits(24)) << 52);
  Lanes scaled = x * scale;
  Lanes high = floatOf(bitsOf(scaled) & ~uint64_t(0x7ffffff)); // 26 bits
  Lanes low = scaled - high;
  Lanes sum = x.constant(0), error = sum, rest = sum;
  for (int i = 0; i < usedDigits; ++i) {
    Lanes digit =
        loadDigit(table, skipped + skipped.constantBits(i)) * std::ldexp(1, -24 * (i + 1));
    for (Lanes part : {high, low}) {
      Lanes product = part * digit;
      Lanes quarterTurns = product - roundEven(product * 0.25) * 4.0;
      Pair next = twoSum(sum, quarterTurns);
      sum = next.high;
      Pair carried = twoSum(error, next.low);
      error = carried.high;
      rest = rest + carried.low;
    }
  }
  Turns n = countTurns(sum);
  Pair fraction = twoSum(sum - n.number, error);
  Lanes fractionLow = fraction.low + rest;
  Pair angle = twoProduct(fraction.high, x.constant(halfPiHigh));
  Lanes angleLow = mulAdd(fraction.high, halfPiLow, mulAdd(fractionLow, halfPiHigh, angle.low));
  return {n.bits, quickTwoSum(angle.high, angleLow)};
}

} // namespace

ReducedAngle reduceAngle(Lanes x, bool isSingle) {
  LanesContext &where = x.where();
  OpBuilder &builder = where.builder;
  ReducedAngle direct = reduceDirectly(x, isSingle);
  Lanes isLarge = absolute(x) > largestDirect;
  SmallVector<Type> types = {direct.quadrant.type(), x.type(), x.type()};
  auto branch =
      builder.create<scf::IfOp>(where.loc, types, isAny(isLarge), /*withElseRegion=*/true);
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(branch.thenBlock());
    ReducedAngle far = reduceByDigits(x);
    Lanes quadrant = select(isLarge, far.quadrant, direct.quadrant);
    Lanes high = select(isLarge, far.rest.high, direct.rest.high);
    Lanes low = select(isLarge, far.rest.low, direct.rest.low);
    builder.create<scf::YieldOp>(where.loc, ValueRange{quadrant.get(), high.get(), low.get()});
    builder.setInsertionPointToStart(branch.elseBlock());
    builder.create<scf::YieldOp>(
        where.loc,
        ValueRange{direct.quadrant.get(), direct.rest.high.get(), direct.rest.low.get()});
  }
  Lanes high(where, branch.getResult(1));
  // 0, or NaN where x is infinite or NaN.
  Lanes poison = x - x;
  return {Lanes(where, branch.getResult(0)), {high + poison, Lanes(where, branch.getResult(2))}};
}

} // namespace nereid::lowering
