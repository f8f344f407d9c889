// SPDX-License-Identifier: Apache-2.0
// sin, cos, tan: polynomials on [-pi/4, pi/4], exchanged and negated by quadrant. f32 computes in
// f64 with shorter polynomials; where multiplication and addition are one instruction, all but huge
// angles stay in f32, the tangent's as a pair of numbers.
#include "lib/lowering/Branches.h"
#include "lib/lowering/Passes.h"
#include "lib/lowering/math/ApproximateUnit.h"
#include "lib/lowering/math/Coefficients.h"
#include "lib/lowering/math/Functions.h"
#include "lib/lowering/math/angles/AngleReduction.h"
#include "lib/lowering/math/angles/Tangent.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace nereid::lowering {
namespace {

struct SineAndCosine {
  Lanes quadrant, sine, cosine; // of the reduced angle
};

SineAndCosine evaluate(Lanes x, bool isSingle) {
  ReducedAngle angle = reduceAngle(x, isSingle);
  Lanes r = angle.rest.high, low = angle.rest.low;
  Lanes z = r * r;
  if (isSingle) {
    Lanes sine = mulAdd(r * z, polynomial(z, std::span<const double>(coefficients::sin32)), r);
    Lanes cosine = mulAdd(z * z, polynomial(z, std::span<const double>(coefficients::cos32)),
                          mulAdd(z, -0.5, x.constant(1.0)));
    return {angle.quadrant, sine, cosine};
  }
  // sin(r + low) = sin(r) + low cos(r), cos(r + low) = cos(r) - low sin(r).
  Lanes halfSquare = z * 0.5;
  Lanes one = 1.0 - halfSquare;
  Lanes sineTail =
      mulAdd(r * z, polynomial(z, std::span<const double>(coefficients::sin64)), low * one);
  Lanes cosineTail = mulAdd(z * z, polynomial(z, std::span<const double>(coefficients::cos64)),
                            ((1.0 - one) - halfSquare) - r * low);
  return {angle.quadrant, r + sineTail, one + cosineTail};
}

Lanes isOdd(Lanes quadrant) { return (quadrant & 1) == quadrant.constantBits(1); }

/// Negated where bit 1 of the quadrant is set.
Lanes signedBy(Lanes quadrant, Lanes value) {
  return floatOf(bitsOf(value) ^ ((quadrant & 2) << (value.width() - 2)));
}

constexpr double roundingMagic = 12582912.0; // 1.5 * 2^23

/// sin(angle - number * turn), where the bits' low one says that it is negated. A quarter turn,
/// pi/2, is three numbers, of which the multiples of the first one leave the angle exactly.
Lanes sineBeside(Lanes angle, Lanes number, double quarters, Lanes bits) {
  constexpr double halfPi1 = 0x1.921fb6p+0, halfPi2 = -0x1.777a5cp-25, halfPi3 = -0x1.ee59dap-50;
  Lanes r = mulAdd(number, -quarters * halfPi1, angle);
  r = mulAdd(number, -quarters * halfPi3, mulAdd(number, -quarters * halfPi2, r));
  Lanes z = r * r;
  Lanes tail = polynomial(z, std::span<const double>(coefficients::sinHalfTurn32));
  return floatOf(bitsOf(mulAdd(r * z, tail, r)) ^ (bits << 31));
}

/// In f32, for angles up to largestNear32: the multiple of pi that is nearest.
Lanes sineNear(Lanes x) {
  Lanes magic = mulAdd(x, 0x1.45f306p-2, x.constant(roundingMagic));
  Lanes sine = sineBeside(x, magic - roundingMagic, 2, bitsOf(magic));
  return select(absolute(x) < 0x1p-13, x, sine); // -0 stays what it is
}

/// Likewise: the odd multiple of pi/2 that is nearest.
Lanes cosineNear(Lanes x) {
  Lanes magic = mulAdd(x, 0x1.45f306p-2, x.constant(-0.5)) + roundingMagic;
  Lanes odd = mulAdd(magic - roundingMagic, 2.0, x.constant(1.0));
  Lanes cosine = sineBeside(x, odd, 1, bitsOf(magic) ^ uint64_t(1));
  return select(absolute(x) < 0x1p-12, x.constant(1.0), cosine);
}

/// What `near` makes of angles up to largestNear32, and for others what `far` makes of them.
Lanes nearOrFar(Lanes x, llvm::function_ref<Lanes()> near, llvm::function_ref<Lanes()> far) {
  LanesContext &where = x.where();
  mlir::OpBuilder &b = where.builder;
  Lanes isFar = absolute(x) > largestNear32;
  const bool isVector = mlir::isa<mlir::VectorType>(x.type());
  auto branch = b.create<mlir::scf::IfOp>(where.loc, mlir::TypeRange(x.type()), isAny(isFar), true);
  mlir::OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.elseBlock());
  b.create<mlir::scf::YieldOp>(where.loc, near().get());
  b.setInsertionPointToStart(branch.thenBlock());
  // A lane's result does not depend on its neighbours.
  Lanes mixed = isVector ? select(isFar, far(), near()) : far();
  b.create<mlir::scf::YieldOp>(where.loc, mixed.get());
  return Lanes(where, branch.getResult(0));
}

/// An angle of f32; what is far is reduced in f64.
ReducedAngle32 reduceSingle(Lanes x) {
  LanesContext &where = x.where();
  mlir::OpBuilder &b = where.builder;
  Lanes isFar = absolute(x) > largestNear32;
  ReducedAngle32 near = reduceNear32(x);
  const mlir::Type types[] = {near.quadrant.type(), x.type(), x.type()};
  auto branch = b.create<mlir::scf::IfOp>(where.loc, types, isAny(isFar), true);
  branch->setAttr(rareAttribute, b.getUnitAttr());
  mlir::OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.elseBlock());
  b.create<mlir::scf::YieldOp>(
      where.loc, mlir::ValueRange{near.quadrant.get(), near.rest.get(), near.missing.get()});
  b.setInsertionPointToStart(branch.thenBlock());
  ReducedAngle32 far = reduceFar32(x);
  b.create<mlir::scf::YieldOp>(where.loc,
                               mlir::ValueRange{select(isFar, far.quadrant, near.quadrant).get(),
                                                select(isFar, far.rest, near.rest).get(),
                                                select(isFar, far.missing, near.missing).get()});
  return {Lanes(where, branch.getResult(0)), Lanes(where, branch.getResult(1)),
          Lanes(where, branch.getResult(2))};
}

Lanes sineOf(Lanes wide, const SineAndCosine &part) {
  Lanes result = signedBy(part.quadrant, select(isOdd(part.quadrant), part.cosine, part.sine));
  return select(absolute(wide) < 0x1p-27, wide, result);
}

Lanes cosineOf(const SineAndCosine &part) {
  return signedBy(part.quadrant + part.quadrant.constantBits(1),
                  select(isOdd(part.quadrant), part.sine, part.cosine));
}

Lanes sineInDouble(Lanes x) {
  Lanes wide = toDouble(x);
  return toSingle(sineOf(wide, evaluate(wide, /*isSingle=*/true)));
}

Lanes cosineInDouble(Lanes x) { return toSingle(cosineOf(evaluate(toDouble(x), true))); }

} // namespace

// f16 ends at 65504, so that every angle is near.
Lanes sinOfHalf(Lanes x) { return sineNear(x); }
Lanes cosOfHalf(Lanes x) { return cosineNear(x); }

Lanes emitSin(Lanes x) {
  if (x.width() == 64) {
    return sineOf(x, evaluate(x, /*isSingle=*/false));
  }
  auto inDouble = [&] { return sineInDouble(x); };
  return !x.where().machine.hasFma ? inDouble()
                                   : nearOrFar(x, [&] { return sineNear(x); }, inDouble);
}

Lanes emitCos(Lanes x) {
  if (x.width() == 64) {
    return cosineOf(evaluate(x, /*isSingle=*/false));
  }
  auto inDouble = [&] { return cosineInDouble(x); };
  return !x.where().machine.hasFma ? inDouble()
                                   : nearOrFar(x, [&] { return cosineNear(x); }, inDouble);
}

Lanes emitTan(Lanes x) {
  if (hasSinglePairs(x)) {
    if (!approximateUnitFor(x)) {
      return tangentOf(reduceSingle(x)); // a register's near and far lanes share the polynomial
    }
    // The branch is one for all elements of a thread, which waits with them: one number of each
    // that comes out of it takes fewer registers than three.
    return unlessRare(absolute(x) > largestNear32, tangentOf(reduceNear32(x)),
                      [&] { return tangentOf(reduceFar32(x)); });
  }
  bool isSingle = x.width() == 32;
  Lanes wide = isSingle ? toDouble(x) : x;
  SineAndCosine part = evaluate(wide, isSingle);
  Lanes odd = isOdd(part.quadrant);
  Lanes result = select(odd, -part.cosine, part.sine) / select(odd, part.sine, part.cosine);
  result = select(absolute(wide) < 0x1p-27, wide, result);
  return isSingle ? toSingle(result) : result;
}

} // namespace nereid::lowering
