// SPDX-License-Identifier: Apache-2.0
// One operator, one operation.
#include "lib/lowering/math/Lanes.h"

#include "lib/lowering/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;

namespace nereid::lowering {
namespace {

template <class Op> Lanes emit(Lanes a, Lanes b) {
  LanesContext &where = a.where();
  return Lanes(where, where.builder.create<Op>(where.loc, a.get(), b.get()));
}

template <class Op> Lanes emitOne(Lanes a) {
  LanesContext &where = a.where();
  return Lanes(where, where.builder.create<Op>(where.loc, a.get()));
}

template <class Op> Lanes convert(Lanes a, Type element) {
  LanesContext &where = a.where();
  return Lanes(where, where.builder.create<Op>(where.loc, a.typeOf(element), a.get()));
}

Lanes compare(Lanes a, Lanes b, arith::CmpFPredicate floats, arith::CmpIPredicate integers) {
  LanesContext &where = a.where();
  if (a.isFloat()) {
    return Lanes(where, where.builder.create<arith::CmpFOp>(where.loc, floats, a.get(), b.get()));
  }
  return Lanes(where, where.builder.create<arith::CmpIOp>(where.loc, integers, a.get(), b.get()));
}

Type floatType(Lanes a, unsigned width) {
  OpBuilder &builder = a.where().builder;
  return width == 32 ? Type(builder.getF32Type()) : Type(builder.getF64Type());
}

} // namespace

Type Lanes::element() const { return getElementTypeOrSelf(value.getType()); }

bool Lanes::isFloat() const { return isa<FloatType>(element()); }

Type Lanes::typeOf(Type element) const {
  if (auto vector = dyn_cast<VectorType>(value.getType())) {
    return vector.clone(element);
  }
  return element;
}

Lanes Lanes::constant(double number) const {
  TypedAttr scalar;
  if (isFloat()) {
    scalar = FloatAttr::get(element(), number);
  } else {
    return constantBits(static_cast<uint64_t>(static_cast<int64_t>(number)));
  }
  if (auto vector = dyn_cast<VectorType>(value.getType())) {
    scalar = DenseElementsAttr::get(vector, Attribute(scalar));
  }
  return Lanes(*context, context->builder.create<arith::ConstantOp>(context->loc, scalar));
}

Lanes Lanes::constantBits(uint64_t bits) const {
  APInt number(width(), bits); // keeps the low bits
  TypedAttr scalar = IntegerAttr::get(element(), number);
  if (auto vector = dyn_cast<VectorType>(value.getType())) {
    scalar = DenseElementsAttr::get(vector, Attribute(scalar));
  }
  return Lanes(*context, context->builder.create<arith::ConstantOp>(context->loc, scalar));
}

Lanes operator+(Lanes a, Lanes b) {
  return a.isFloat() ? emit<arith::AddFOp>(a, b) : emit<arith::AddIOp>(a, b);
}
Lanes operator-(Lanes a, Lanes b) {
  return a.isFloat() ? emit<arith::SubFOp>(a, b) : emit<arith::SubIOp>(a, b);
}
Lanes operator*(Lanes a, Lanes b) {
  return a.isFloat() ? emit<arith::MulFOp>(a, b) : emit<arith::MulIOp>(a, b);
}
Lanes operator/(Lanes a, Lanes b) { return emit<arith::DivFOp>(a, b); }
Lanes operator+(Lanes a, double b) { return a + a.constant(b); }
Lanes operator-(Lanes a, double b) { return a - a.constant(b); }
Lanes operator*(Lanes a, double b) { return a * a.constant(b); }
Lanes operator-(double a, Lanes b) { return b.constant(a) - b; }
Lanes operator/(double a, Lanes b) { return b.constant(a) / b; }
Lanes operator-(Lanes a) { return a.isFloat() ? emitOne<arith::NegFOp>(a) : a.constantBits(0) - a; }

Lanes operator&(Lanes a, Lanes b) { return emit<arith::AndIOp>(a, b); }
Lanes operator|(Lanes a, Lanes b) { return emit<arith::OrIOp>(a, b); }
Lanes operator^(Lanes a, Lanes b) { return emit<arith::XOrIOp>(a, b); }
Lanes operator&(Lanes a, uint64_t bits) { return a & a.constantBits(bits); }
Lanes operator|(Lanes a, uint64_t bits) { return a | a.constantBits(bits); }
Lanes operator^(Lanes a, uint64_t bits) { return a ^ a.constantBits(bits); }
Lanes operator!(Lanes condition) { return condition ^ uint64_t(1); }
Lanes operator<<(Lanes a, unsigned count) { return emit<arith::ShLIOp>(a, a.constantBits(count)); }
Lanes shiftRight(Lanes a, unsigned count) { return emit<arith::ShRUIOp>(a, a.constantBits(count)); }
Lanes shiftRightSigned(Lanes a, unsigned count) {
  return emit<arith::ShRSIOp>(a, a.constantBits(count));
}
Lanes shiftRight(Lanes a, Lanes count) { return emit<arith::ShRUIOp>(a, count); }

Lanes operator<(Lanes a, Lanes b) {
  return compare(a, b, arith::CmpFPredicate::OLT, arith::CmpIPredicate::slt);
}
Lanes operator>(Lanes a, Lanes b) {
  return compare(a, b, arith::CmpFPredicate::OGT, arith::CmpIPredicate::sgt);
}
Lanes operator<=(Lanes a, Lanes b) {
  return compare(a, b, arith::CmpFPredicate::OLE, arith::CmpIPredicate::sle);
}
Lanes operator>=(Lanes a, Lanes b) {
  return compare(a, b, arith::CmpFPredicate::OGE, arith::CmpIPredicate::sge);
}
Lanes operator==(Lanes a, Lanes b) {
  return compare(a, b, arith::CmpFPredicate::OEQ, arith::CmpIPredicate::eq);
}
Lanes operator<(Lanes a, double b) { return a < a.constant(b); }
Lanes operator>(Lanes a, double b) { return a > a.constant(b); }
Lanes operator<=(Lanes a, double b) { return a <= a.constant(b); }
Lanes operator>=(Lanes a, double b) { return a >= a.constant(b); }
Lanes operator==(Lanes a, double b) { return a == a.constant(b); }
Lanes isBelow(Lanes integers, uint64_t limit) {
  LanesContext &where = integers.where();
  return Lanes(where, where.builder.create<arith::CmpIOp>(where.loc, arith::CmpIPredicate::ult,
                                                          integers.get(),
                                                          integers.constantBits(limit).get()));
}
Lanes isNan(Lanes a) { return compare(a, a, arith::CmpFPredicate::UNO, arith::CmpIPredicate::ne); }

Lanes select(Lanes condition, Lanes yes, Lanes no) {
  LanesContext &where = yes.where();
  return Lanes(where, where.builder.create<arith::SelectOp>(where.loc, condition.get(), yes.get(),
                                                            no.get()));
}
Lanes select(Lanes condition, Lanes yes, double no) {
  return select(condition, yes, yes.constant(no));
}
Lanes select(Lanes condition, double yes, Lanes no) {
  return select(condition, no.constant(yes), no);
}
// In this form the comparison and the select become one min or max instruction.
Lanes atMost(Lanes a, double limit) { return select(a > limit, limit, a); }
Lanes atLeast(Lanes a, double limit) { return select(a < limit, limit, a); }

Lanes mulAdd(Lanes a, Lanes b, Lanes c) {
  LanesContext &where = a.where();
  if (!where.machine.hasFma) {
    return a * b + c;
  }
  return Lanes(where, where.builder.create<math::FmaOp>(where.loc, a.get(), b.get(), c.get()));
}
Lanes mulAdd(Lanes a, double b, Lanes c) { return mulAdd(a, a.constant(b), c); }
Lanes mulAdd(Lanes a, Lanes b, double c) { return mulAdd(a, b, a.constant(c)); }

template <class Number> static Lanes horner(Lanes x, std::span<const Number> coefficients) {
  Lanes total = x.constant(coefficients.back());
  for (size_t i = coefficients.size() - 1; i-- > 0;) {
    total = mulAdd(total, x, static_cast<double>(coefficients[i]));
  }
  return total;
}
Lanes polynomial(Lanes x, std::span<const float> coefficients) { return horner(x, coefficients); }
Lanes polynomial(Lanes x, std::span<const double> coefficients) { return horner(x, coefficients); }

Lanes absolute(Lanes a) { return emitOne<math::AbsFOp>(a); }
Lanes copySign(Lanes magnitude, Lanes sign) { return emit<math::CopySignOp>(magnitude, sign); }
Lanes squareRoot(Lanes a) { return emitOne<math::SqrtOp>(a); }
Lanes roundEven(Lanes a) { return emitOne<math::RoundEvenOp>(a); }

Lanes bitsOf(Lanes floats) {
  return convert<arith::BitcastOp>(floats, floats.where().builder.getIntegerType(floats.width()));
}
Lanes floatOf(Lanes bits) { return convert<arith::BitcastOp>(bits, floatType(bits, bits.width())); }
Lanes toInteger(Lanes floats) {
  return convert<arith::FPToSIOp>(floats, floats.where().builder.getIntegerType(floats.width()));
}
Lanes toFloat(Lanes integers) {
  return convert<arith::SIToFPOp>(integers, floatType(integers, integers.width()));
}
Lanes toDouble(Lanes floats) { return convert<arith::ExtFOp>(floats, floatType(floats, 64)); }
Lanes toSingle(Lanes floats) { return convert<arith::TruncFOp>(floats, floatType(floats, 32)); }
Lanes extendSigned(Lanes integers, unsigned width) {
  return convert<arith::ExtSIOp>(integers, integers.where().builder.getIntegerType(width));
}
Lanes extendUnsigned(Lanes integers, unsigned width) {
  return convert<arith::ExtUIOp>(integers, integers.where().builder.getIntegerType(width));
}
Lanes truncateTo(Lanes integers, unsigned width) {
  return convert<arith::TruncIOp>(integers, integers.where().builder.getIntegerType(width));
}

// Knuth's and Dekker's error-free transformations (Muller et al., Handbook of Floating-Point
// Arithmetic, chapter 4).
Pair twoSum(Lanes a, Lanes b) {
  Lanes sum = a + b;
  Lanes bPart = sum - a;
  return {sum, (a - (sum - bPart)) + (b - bPart)};
}

Pair quickTwoSum(Lanes a, Lanes b) {
  Lanes sum = a + b;
  return {sum, b - (sum - a)};
}

Lanes roundedProduct(Lanes a, Lanes b) {
  Lanes product = a * b;
  product.get().getDefiningOp()->setAttr(roundedAttribute, a.where().builder.getUnitAttr());
  return product;
}

Pair twoProduct(Lanes a, Lanes b) {
  Lanes product = roundedProduct(a, b);
  if (a.where().machine.hasFma) {
    return {product, mulAdd(a, b, -product)};
  }
  double splitter = a.width() == 64 ? 134217729.0 : 4097.0; // 2^27 + 1, 2^12 + 1
  auto split = [&](Lanes x) {
    Lanes scaled = x * splitter;
    Lanes high = scaled - (scaled - x);
    return Pair{high, x - high};
  };
  Pair as = split(a), bs = split(b);
  Lanes error =
      ((as.high * bs.high - product) + as.high * bs.low + as.low * bs.high) + as.low * bs.low;
  return {product, error};
}

} // namespace nereid::lowering
