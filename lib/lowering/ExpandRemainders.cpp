// SPDX-License-Identifier: Apache-2.0
// expand-remainders: compute remainders of floats by their quotient, or by integers.
//
// Why: not every processor has an instruction or a function for it. While the quotient fits into a
// mantissa, |x| - trunc(|x| / |y|) |y| is exact with one rounding, but for one |y| where the
// quotient was rounded up to an integer. Others go the way of integers: the mantissas', a few bits
// of the quotient at a time.
// Requires: expand-half and expand-math have run, so floats are f32 or f64 and quotients rounded
// correctly; remainders are of scalars; multiplication and addition are one instruction.
// Guarantees: no arith.remf of scalars is left. Results are those of C's fmod: exact, with the sign
// of the first operand.
// Example: `%r = arith.remf %x, %y : f32` becomes a division, a math.fma and, behind a branch for
// quotients from 2^24 on and for what is no number, a loop over the difference of the exponents, 39
// bits a turn.
#include "lib/lowering/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"

#include <cmath>

using namespace mlir;

namespace nereid::lowering {
namespace {

/// Integers of the width of the float's bits, and of 64.
class Remainder {
public:
  Remainder(arith::RemFOp op)
      : b(op), loc(op.getLoc()), type(cast<FloatType>(op.getType())), bits(type.getWidth()),
        mantissa(type.getFPMantissaWidth() - 1), word(b.getIntegerType(bits)), op(op) {}

  Value emit() {
    const Value x = b.create<math::AbsFOp>(loc, op.getLhs());
    const Value y = b.create<math::AbsFOp>(loc, op.getRhs());
    const Value quotient = b.create<arith::DivFOp>(loc, x, y);
    const Value limit = number(std::ldexp(1.0, static_cast<int>(mantissa) + 1));
    const Value isNear = compare(arith::CmpFPredicate::OLT, quotient, limit);
    auto branch = b.create<scf::IfOp>(loc, type, isNear, /*withElseRegion=*/true);
    b.setInsertionPointToStart(branch.thenBlock());
    b.create<scf::YieldOp>(loc, byQuotient(x, y, quotient));
    b.setInsertionPointToStart(branch.elseBlock());
    b.create<scf::YieldOp>(loc, byIntegers());
    return branch.getResult(0);
  }

private:
  /// Of magnitudes whose quotient is below 2^(mantissa + 1).
  Value byQuotient(Value x, Value y, Value quotient) {
    const Value whole = b.create<math::TruncOp>(loc, quotient);
    const Value negated = b.create<arith::NegFOp>(loc, whole);
    const Value rest = b.create<math::FmaOp>(loc, negated, y, x);
    const Value isBelow = compare(arith::CmpFPredicate::OLT, rest, number(0));
    const Value raised = b.create<arith::AddFOp>(loc, rest, y);
    // Also where y is infinite, whose multiple is no number.
    const Value isSmaller = compare(arith::CmpFPredicate::OLT, x, y);
    const Value magnitude = select(isSmaller, x, select(isBelow, raised, rest));
    return b.create<math::CopySignOp>(loc, magnitude, op.getLhs());
  }

  Value byIntegers() {
    const Value x = wordOf(op.getLhs()), y = wordOf(op.getRhs());
    const Value sign = land(x, constant(int64_t(1) << (bits - 1)));
    const Value magnitude = constant(llvm::maxIntN(bits));
    const Value left = land(x, magnitude), right = land(y, magnitude);
    const Value infinity = constant(((int64_t(1) << (bits - 1 - mantissa)) - 1) << mantissa);
    using Predicate = arith::CmpIPredicate;
    const Value isNumber =
        both(is(Predicate::ult, left, infinity),
             both(is(Predicate::ule, right, infinity), is(Predicate::ne, right, constant(0))));
    const Value isSmaller = is(Predicate::ult, left, right);
    const Value divides = both(isNumber, is(Predicate::uge, left, right));
    // Where it is not used, the division is one by 1, of no turn.
    const Value one = constant(int64_t(1) << mantissa);
    Value result = divided(select(divides, left, one), select(divides, right, one));
    result = lor(result, sign);
    const Value nan = lor(infinity, constant(int64_t(1) << (mantissa - 1)));
    const Value other = select(both(isNumber, isSmaller), x, nan);
    return b.create<arith::BitcastOp>(loc, type, select(divides, result, other));
  }

  Value number(double value) {
    return b.create<arith::ConstantOp>(loc, b.getFloatAttr(type, value));
  }
  Value compare(arith::CmpFPredicate predicate, Value left, Value right) {
    return b.create<arith::CmpFOp>(loc, predicate, left, right);
  }
  Value wordOf(Value value) { return b.create<arith::BitcastOp>(loc, word, value); }
  Value constant(int64_t value) {
    return b.create<arith::ConstantOp>(loc, b.getIntegerAttr(word, value));
  }
  Value constant64(int64_t value) {
    return b.create<arith::ConstantOp>(loc, b.getI64IntegerAttr(value));
  }
  Value land(Value left, Value right) { return b.create<arith::AndIOp>(loc, left, right); }
  Value lor(Value left, Value right) { return b.create<arith::OrIOp>(loc, left, right); }
  Value both(Value left, Value right) { return land(left, right); }
  Value is(arith::CmpIPredicate predicate, Value left, Value right) {
    return b.create<arith::CmpIOp>(loc, predicate, left, right);
  }
  Value select(Value condition, Value left, Value right) {
    return b.create<arith::SelectOp>(loc, condition, left, right);
  }
  Value add(Value left, Value right) { return b.create<arith::AddIOp>(loc, left, right); }
  Value sub(Value left, Value right) { return b.create<arith::SubIOp>(loc, left, right); }
  Value wide(Value value) {
    return bits == 64 ? value : b.create<arith::ExtUIOp>(loc, b.getI64Type(), value).getResult();
  }

  /// The exponent that counts the last bit of the mantissa, the least for subnormals; 64 bits.
  Value exponentOf(Value magnitude) {
    const Value exponent = b.create<arith::ShRUIOp>(loc, magnitude, constant(mantissa));
    return wide(b.create<arith::MaxUIOp>(loc, exponent, constant(1)));
  }
  /// With its first bit, where there is one; 64 bits.
  Value mantissaOf(Value magnitude) {
    const Value one = constant(int64_t(1) << mantissa);
    const Value low = land(magnitude, constant((int64_t(1) << mantissa) - 1));
    const Value first = select(is(arith::CmpIPredicate::uge, magnitude, one), one, constant(0));
    return wide(lor(low, first));
  }

  /// Of magnitudes, the second not above the first and no zero.
  Value divided(Value left, Value right) {
    const Value divisor = mantissaOf(right), exponent = exponentOf(right);
    Value rest = b.create<arith::RemUIOp>(loc, mantissaOf(left), divisor);
    const int64_t each = 62 - mantissa; // bits of the quotient that a turn gives
    auto loop = b.create<scf::WhileOp>(
        loc, TypeRange{b.getI64Type(), b.getI64Type()},
        ValueRange{rest, sub(exponentOf(left), exponent)},
        [&](OpBuilder &inner, Location where, ValueRange values) {
          const Value zero = inner.create<arith::ConstantOp>(where, inner.getI64IntegerAttr(0));
          const Value isMore =
              inner.create<arith::CmpIOp>(where, arith::CmpIPredicate::sgt, values[1], zero);
          inner.create<scf::ConditionOp>(where, isMore, values);
        },
        [&](OpBuilder &inner, Location where, ValueRange values) {
          const Value most = inner.create<arith::ConstantOp>(where, inner.getI64IntegerAttr(each));
          const Value step = inner.create<arith::MinSIOp>(where, values[1], most);
          const Value moved = inner.create<arith::ShLIOp>(where, values[0], step);
          const Value next = inner.create<arith::RemUIOp>(where, moved, divisor);
          const Value left = inner.create<arith::SubIOp>(where, values[1], step);
          inner.create<scf::YieldOp>(where, ValueRange{next, left});
        });
    return assembled(loop.getResult(0), exponent);
  }

  /// The number rest * 2^exponent, whose last bit the exponent counts.
  Value assembled(Value rest, Value exponent) {
    const Value zeros =
        b.create<LLVM::CountLeadingZerosOp>(loc, b.getI64Type(), rest, /*is_zero_poison=*/false);
    const Value room = sub(zeros, constant64(63 - mantissa));
    const Value shift = b.create<arith::MinSIOp>(loc, room, sub(exponent, constant64(1)));
    const Value moved = b.create<arith::ShLIOp>(loc, rest, shift);
    // The first bit of the mantissa counts one of the exponent; a subnormal has none of either.
    const Value above = sub(sub(exponent, shift), constant64(1));
    const Value number = add(moved, b.create<arith::ShLIOp>(loc, above, constant64(mantissa)));
    const Value isZero = is(arith::CmpIPredicate::eq, rest, constant64(0));
    const Value all = select(isZero, constant64(0), number);
    return bits == 64 ? all : b.create<arith::TruncIOp>(loc, word, all).getResult();
  }

  OpBuilder b;
  Location loc;
  FloatType type;
  unsigned bits;
  int64_t mantissa;
  Type word;
  arith::RemFOp op;
};

class ExpandRemaindersPass : public PassWrapper<ExpandRemaindersPass, OperationPass<>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ExpandRemaindersPass)

  StringRef getArgument() const override { return "expand-remainders"; }
  StringRef getDescription() const override {
    return "compute remainders of floats by their quotient, or by integers";
  }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<arith::ArithDialect, LLVM::LLVMDialect, math::MathDialect, scf::SCFDialect>();
  }

  void runOnOperation() override {
    SmallVector<arith::RemFOp> found;
    getOperation()->walk([&](arith::RemFOp op) {
      if (op.getType().isF32() || op.getType().isF64()) {
        found.push_back(op);
      }
    });
    for (arith::RemFOp op : found) {
      op.getResult().replaceAllUsesWith(Remainder(op).emit());
      op.erase();
    }
  }
};

} // namespace

std::unique_ptr<Pass> createExpandRemaindersPass() {
  return std::make_unique<ExpandRemaindersPass>();
}

} // namespace nereid::lowering
