// SPDX-License-Identifier: Apache-2.0
// Arithmetic on MLIR values written like arithmetic on numbers, for the math functions: a Lanes is
// one scalar or one vector of floats, integers or conditions, and every operator emits one
// operation. Literals take the type of the other operand.
#pragma once

#include "mlir/IR/Builders.h"
#include "mlir/IR/Value.h"

#include <cstdint>
#include <span>

namespace nereid::lowering {

class ApproximateUnit;
class LaneInstructions;

/// What of a processor decides how numbers are computed.
struct FloatUnit {
  bool hasFma = false;
  bool hasHalfConversions = false;     ///< float16 to and from float32
  bool hasOnlyHalfConversions = false; ///< and no other instruction of float16
  bool hasBf16Rounding = false;        ///< bfloat16 from float32
  bool dividesAtOnce = true; ///< false: f32 by many instructions, of which some are behind a branch
  const LaneInstructions *instructions = nullptr; ///< null: none; they outlive all compilations
  const ApproximateUnit *approximate = nullptr;   ///< likewise
};

/// Where the operations go and what the machine can do.
struct LanesContext {
  mlir::OpBuilder &builder;
  mlir::Location loc;
  const FloatUnit &machine;
};

class Lanes {
public:
  Lanes(LanesContext &context, mlir::Value value) : context(&context), value(value) {}
  mlir::Value get() const { return value; }
  LanesContext &where() const { return *context; }
  mlir::Type type() const { return value.getType(); }
  mlir::Type element() const;
  bool isFloat() const;
  unsigned width() const { return element().getIntOrFloatBitWidth(); }

  /// The same number of lanes, of another element type.
  mlir::Type typeOf(mlir::Type element) const;
  /// A constant of this value's type (integers take the value modulo 2^width).
  Lanes constant(double number) const;
  Lanes constantBits(uint64_t bits) const;

private:
  LanesContext *context;
  mlir::Value value;
};

Lanes operator+(Lanes a, Lanes b);
Lanes operator-(Lanes a, Lanes b);
Lanes operator*(Lanes a, Lanes b);
Lanes operator/(Lanes a, Lanes b);
Lanes operator+(Lanes a, double b);
Lanes operator-(Lanes a, double b);
Lanes operator*(Lanes a, double b);
Lanes operator-(double a, Lanes b);
Lanes operator/(double a, Lanes b);
Lanes operator-(Lanes a);

// Integers and conditions.
Lanes operator&(Lanes a, Lanes b);
Lanes operator|(Lanes a, Lanes b);
Lanes operator^(Lanes a, Lanes b);
Lanes operator&(Lanes a, uint64_t bits);
Lanes operator|(Lanes a, uint64_t bits);
Lanes operator^(Lanes a, uint64_t bits);
Lanes operator!(Lanes condition);
Lanes operator<<(Lanes a, unsigned count);
Lanes shiftRight(Lanes a, unsigned count);       ///< fills with zeros
Lanes shiftRightSigned(Lanes a, unsigned count); ///< fills with the sign
Lanes shiftRight(Lanes a, Lanes count);

// Float comparisons are ordered: false when one side is NaN. Integers compare signed.
Lanes operator<(Lanes a, Lanes b);
Lanes operator>(Lanes a, Lanes b);
Lanes operator<=(Lanes a, Lanes b);
Lanes operator>=(Lanes a, Lanes b);
Lanes operator==(Lanes a, Lanes b);
Lanes operator<(Lanes a, double b);
Lanes operator>(Lanes a, double b);
Lanes operator<=(Lanes a, double b);
Lanes operator>=(Lanes a, double b);
Lanes operator==(Lanes a, double b);
Lanes isNan(Lanes a);
Lanes isBelow(Lanes integers, uint64_t limit); ///< unsigned

Lanes select(Lanes condition, Lanes yes, Lanes no);
Lanes select(Lanes condition, Lanes yes, double no);
Lanes select(Lanes condition, double yes, Lanes no);
/// The smaller or larger; a NaN in `a` comes through.
Lanes atMost(Lanes a, double limit);
Lanes atLeast(Lanes a, double limit);

/// a * b + c; one rounding where the machine has the instruction, else two.
Lanes mulAdd(Lanes a, Lanes b, Lanes c);
Lanes mulAdd(Lanes a, double b, Lanes c);
Lanes mulAdd(Lanes a, Lanes b, double c);
/// Horner's scheme, coefficients lowest power first.
Lanes polynomial(Lanes x, std::span<const float> coefficients);
Lanes polynomial(Lanes x, std::span<const double> coefficients);

Lanes absolute(Lanes a);
Lanes copySign(Lanes magnitude, Lanes sign);
Lanes squareRoot(Lanes a);
Lanes roundEven(Lanes a);

Lanes bitsOf(Lanes floats);    ///< float to the integer of its width
Lanes floatOf(Lanes bits);     ///< f32 or f64 from an integer of its width
Lanes toInteger(Lanes floats); ///< truncates to the integer of its width
Lanes toFloat(Lanes integers); ///< signed, to the float of its width
Lanes toDouble(Lanes floats);  ///< f32 to f64
Lanes toSingle(Lanes floats);  ///< f64 to f32
Lanes extendSigned(Lanes integers, unsigned width);
Lanes extendUnsigned(Lanes integers, unsigned width);
Lanes truncateTo(Lanes integers, unsigned width);

/// A number as the unevaluated sum of two; |low| is at most half an ulp of high.
struct Pair {
  Lanes high, low;
};
/// a * b, which no addition is joined with: what is added to it later must know its rounding.
Lanes roundedProduct(Lanes a, Lanes b);
Pair twoSum(Lanes a, Lanes b);      ///< exact
Pair quickTwoSum(Lanes a, Lanes b); ///< exact when |a| >= |b| or a == 0
Pair twoProduct(Lanes a, Lanes b);  ///< exact unless it overflows or underflows

} // namespace nereid::lowering
