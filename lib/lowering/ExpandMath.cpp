// SPDX-License-Identifier: Apache-2.0
// expand-math: replace math functions by inline polynomials with the bounds of docs/math.md.
//
// Why: a call into libm would be scalar and differ from machine to machine; here every lane is
// computed in vector registers and the error is ours to state.
// Requires: expand-half has run, so floats are f32 or f64.
// Guarantees: math operations that remain are single instructions (absf, copysign, floor, ceil,
// trunc, round, roundeven, sqrt, fma, integer bit counts).
// Example: `%y = math.rsqrt %x : f32` becomes `%s = math.sqrt %x`, `%y = arith.divf %one, %s`.
#include "lib/lowering/Branches.h"
#include "lib/lowering/KnownDivisor.h"
#include "lib/lowering/OnlyForHalves.h"
#include "lib/lowering/Passes.h"
#include "lib/lowering/math/ApproximateUnit.h"
#include "lib/lowering/math/Approximated.h"
#include "lib/lowering/math/ForHalves.h"
#include "lib/lowering/math/Functions.h"
#include "lib/lowering/math/LaneInstructions.h"
#include "lib/lowering/math/Magnitudes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Matchers.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;

namespace nereid::lowering {
namespace {

Lanes reciprocalSquareRoot(Lanes x) {
  const ApproximateUnit *unit = approximateUnitFor(x);
  return unit ? unit->reciprocalSquareRoot(x) : 1.0 / squareRoot(x);
}

/// x to an integer power: the integer is exact in f64 up to 2^53.
Lanes powerByInteger(Lanes x, Lanes power) {
  LanesContext &where = x.where();
  Type f64 = where.builder.getF64Type();
  Lanes wide = x.width() == 32 ? toDouble(x) : x;
  Lanes exponent(where,
                 where.builder.create<arith::SIToFPOp>(where.loc, power.typeOf(f64), power.get()));
  Lanes result = emitPow(wide, exponent);
  return x.width() == 32 ? toSingle(result) : result;
}

struct Expansion {
  const char *operation;
  Lanes (*unary)(Lanes) = nullptr;
  Lanes (*binary)(Lanes, Lanes) = nullptr;
  bool hasWideForm = false; ///< of one argument, a full register of f32
  /// Forms of f32 that cost less, with an approximate unit: of a difference, of what the unit has
  /// computed, of what was f16. That is the one of all numbers that are no larger, too, where there
  /// is a fused product.
  Lanes (*ofDifference)(Lanes) = nullptr;
  Lanes (*ofApproximated)(Lanes) = nullptr;
  Lanes (*ofHalf)(Lanes) = nullptr;
  /// Likewise, where all that comes of the result is rounded to 16 bits; where it is added to one
  /// alone besides; and of two arguments, where nothing but the result is rounded.
  Lanes (*toHalf)(Lanes) = nullptr;
  Lanes (*toHalfBesideOne)(Lanes) = nullptr;
  Lanes (*binaryToHalf)(Lanes, Lanes) = nullptr;
};

const Expansion expansions[] = {
    {.operation = "math.exp",
     .unary = emitExp,
     .hasWideForm = true,
     .ofDifference = expOfDifference,
     .toHalf = expToHalf,
     .toHalfBesideOne = expToHalfBesideOne},
    {.operation = "math.exp2", .unary = emitExp2, .hasWideForm = true},
    {.operation = "math.expm1", .unary = emitExpm1},
    {.operation = "math.log", .unary = emitLog},
    {.operation = "math.log2", .unary = emitLog2},
    {.operation = "math.log10", .unary = emitLog10, .toHalf = log10ToHalf},
    {.operation = "math.log1p",
     .unary = emitLog1p,
     .ofApproximated = log1pOfApproximated,
     .toHalf = log1pOfApproximated},
    {.operation = "math.powf", .binary = emitPow, .binaryToHalf = powToHalf},
    {.operation = "math.fpowi", .binary = powerByInteger},
    {.operation = "math.cbrt", .unary = emitCbrt},
    {.operation = "math.rsqrt", .unary = reciprocalSquareRoot},
    {.operation = "math.sin", .unary = emitSin, .ofHalf = sinOfHalf},
    {.operation = "math.cos", .unary = emitCos, .ofHalf = cosOfHalf},
    {.operation = "math.tan", .unary = emitTan, .toHalf = tanToHalf},
    {.operation = "math.asin", .unary = emitAsin, .toHalf = asinToHalf},
    {.operation = "math.acos", .unary = emitAcos, .toHalf = acosToHalf},
    {.operation = "math.atan", .unary = emitAtan},
    {.operation = "math.atan2", .binary = emitAtan2},
    {.operation = "math.tanh", .unary = emitTanh, .hasWideForm = true},
    {.operation = "math.sinh", .unary = emitSinh, .toHalf = sinhToHalf},
    {.operation = "math.cosh", .unary = emitCosh, .toHalf = coshToHalf},
    {.operation = "math.asinh", .unary = emitAsinh},
    {.operation = "math.acosh", .unary = emitAcosh},
    {.operation = "math.atanh", .unary = emitAtanh},
    {.operation = "math.erf", .unary = emitErf, .hasWideForm = true},
};

/// A scalar takes the vectors' form too: half the instructions, and the same result in every lane
/// of a tile, whether a lowering computes it once or in each.
Value expandInRegister(const Expansion &expansion, Lanes scalar) {
  LanesContext &where = scalar.where();
  auto full = VectorType::get(LaneInstructions::singles, scalar.type());
  Value lanes = where.builder.create<vector::BroadcastOp>(where.loc, full, scalar.get());
  Lanes result = expansion.unary(Lanes(where, lanes));
  return where.builder.create<vector::ExtractOp>(where.loc, result.get(), 0);
}

bool fitsInRegister(const Expansion &expansion, Lanes value) {
  return expansion.hasWideForm && value.type().isF32() && value.where().machine.instructions;
}

constexpr double largestHalf = 65504;

Lanes (*unaryForm(const Expansion &expansion, Lanes x))(Lanes) {
  if (approximateUnitFor(x)) {
    if (expansion.ofDifference && x.get().getDefiningOp<arith::SubFOp>()) {
      return expansion.ofDifference;
    }
    if (expansion.ofHalf && wasFloat16(x.get())) {
      return expansion.ofHalf;
    }
  }
  const bool isSmall = expansion.ofHalf && x.width() == 32 && x.where().machine.hasFma &&
                       largestMagnitude(x.get()) <= largestHalf;
  return isSmall ? expansion.ofHalf : expansion.unary;
}

/// dividend / divisor of normal numbers, by the unit's reciprocal.
Lanes quotientOfNormal(Value dividend, Lanes divisor) {
  Lanes inverse = approximateUnitFor(divisor)->reciprocalOfNormal(divisor);
  return matchPattern(dividend, m_OneFloat()) ? inverse
                                              : Lanes(divisor.where(), dividend) * inverse;
}

/// The value of a constant number that no factor of four makes subnormal or infinite.
std::optional<double> moderateConstant(Value value) {
  APFloat number(0.0);
  if (!matchPattern(value, m_ConstantFloat(&number)) || !number.isFiniteNonZero()) {
    return std::nullopt;
  }
  const double found = number.convertToDouble();
  return std::abs(found) >= 0x1p-100 && std::abs(found) <= 0x1p100 ? std::optional(found)
                                                                   : std::nullopt;
}

bool isAddedToOneAlone(Operation *op) {
  return llvm::all_of(op->getUsers(), [](Operation *user) {
    return isa<arith::AddFOp>(user) && isOneAndPower(user->getResult(0));
  });
}

/// dividend / (1 + power), by the unit's reciprocal of a quarter of the divisor: neither that nor
/// its reciprocal is subnormal, so that nothing has to be scaled on conditions.
Lanes quotientOfOneAndPower(double dividend, arith::AddFOp sum, LanesContext &where) {
  Lanes power(where, matchPattern(sum.getLhs(), m_OneFloat()) ? sum.getRhs() : sum.getLhs());
  Lanes quarter = mulAdd(power, 0.25, power.constant(0.25));
  return approximateUnitFor(power)->reciprocalOfNormal(quarter) * (dividend * 0.25);
}

Lanes approximateQuotient(arith::DivFOp op, LanesContext &where) {
  Lanes divisor(where, op.getRhs());
  if (op->hasAttr(nearbyAttribute)) {
    return quotientOfNormal(op.getLhs(), divisor);
  }
  if (auto known = moderateConstant(op.getRhs())) {
    return Lanes(where, op.getLhs()) * (1 / *known);
  }
  if (auto dividend = moderateConstant(op.getLhs()); dividend && isOneAndPower(op.getRhs())) {
    return quotientOfOneAndPower(*dividend, op.getRhs().getDefiningOp<arith::AddFOp>(), where);
  }
  return where.machine.approximate->quotient(Lanes(where, op.getLhs()), divisor);
}

/// Whether the number is 0 or no smaller than 2^-24, NaN aside.
bool isOfFewExponents(Value value) {
  return wasFloat16(value) ||
         isa_and_present<arith::SIToFPOp, arith::UIToFPOp>(value.getDefiningOp());
}

/// That of a quotient of f32 which is a sum of products, in every bit.
std::optional<KnownDivisor> knownDivisorOf(arith::DivFOp op) {
  APFloat divisor(0.0);
  if (!getElementTypeOrSelf(op.getType()).isF32() ||
      !matchPattern(op.getRhs(), m_ConstantFloat(&divisor))) {
    return std::nullopt;
  }
  return knownDivisor(divisor.convertToFloat());
}

/// The quotient; tiny numbers, whose products lose bits, are divided behind a branch. Zeros, of
/// which there may be many, are none of them: what is compared wraps around.
Lanes quotientByKnown(arith::DivFOp op, const KnownDivisor &divisor, LanesContext &where) {
  Lanes dividend(where, op.getLhs());
  Lanes usual = mulAdd(dividend, dividend.constant(divisor.high),
                       roundedProduct(dividend, dividend.constant(divisor.low)));
  if (isOfFewExponents(op.getLhs())) {
    return usual;
  }
  auto twiceLessOne = [](Lanes bits) { return (bits << 1) - bits.constantBits(1); };
  const uint64_t least = 2 * uint64_t{llvm::bit_cast<uint32_t>(divisor.least)} - 1;
  return unlessRare(isBelow(twiceLessOne(bitsOf(dividend)), least), usual,
                    [&] { return dividend / Lanes(where, op.getRhs()); });
}

class ExpandMathPass : public PassWrapper<ExpandMathPass, OperationPass<ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ExpandMathPass)

  explicit ExpandMathPass(const FloatUnit &machine) : machine(machine) {}

  StringRef getArgument() const override { return "expand-math"; }
  StringRef getDescription() const override {
    return "replace math functions by inline polynomials with the error bounds of docs/math.md";
  }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<arith::ArithDialect, LLVM::LLVMDialect, math::MathDialect, scf::SCFDialect,
                    vector::VectorDialect>();
  }

  void runOnOperation() override {
    llvm::StringMap<const Expansion *> table;
    for (const Expansion &expansion : expansions) {
      table[expansion.operation] = &expansion;
    }
    SmallVector<std::pair<Operation *, const Expansion *>> found;
    SmallVector<math::FmaOp> fused;
    SmallVector<Operation *> extrema;
    SmallVector<arith::DivFOp> quotients; // that need not be rounded correctly
    SmallVector<std::pair<arith::DivFOp, KnownDivisor>> byKnown;
    ApproximatedValues approximated;
    llvm::DenseSet<Operation *> ofApproximated, forHalves, addedToOne;
    getOperation()->walk([&](Operation *op) {
      if (machine.instructions && isa<arith::MaxNumFOp, arith::MinNumFOp>(op)) {
        extrema.push_back(op);
      }
      if (auto quotient = dyn_cast<arith::DivFOp>(op);
          machine.approximate && quotient && quotient.getType().isF32() &&
          !quotient->hasAttr(roundedAttribute) &&
          (quotient->hasAttr(approximateAttribute) || quotient->hasAttr(nearbyAttribute) ||
           approximated.contains(quotient.getLhs()) || approximated.contains(quotient.getRhs()))) {
        quotients.push_back(quotient);
      } else if (quotient && !machine.dividesAtOnce && machine.hasFma) {
        if (auto known = knownDivisorOf(quotient)) {
          byKnown.push_back({quotient, *known});
        }
      }
      if (!isa<math::MathDialect>(op->getDialect())) {
        return;
      }
      auto entry = table.find(op->getName().getStringRef());
      if (entry != table.end()) {
        found.push_back({op, entry->second});
        if (machine.approximate && entry->second->ofApproximated &&
            op->getResult(0).getType().isF32() && approximated.contains(op->getOperand(0))) {
          ofApproximated.insert(op);
        }
        if (machine.approximate && entry->second->toHalf && op->getResult(0).getType().isF32() &&
            isOnlyForHalves(op->getResult(0))) {
          forHalves.insert(op);
          if (entry->second->toHalfBesideOne && isAddedToOneAlone(op)) {
            addedToOne.insert(op); // quotients of the sum take it apart before it is expanded
          }
        }
      } else if (auto fma = dyn_cast<math::FmaOp>(op); fma && !machine.hasFma) {
        fused.push_back(fma);
      }
    });
    for (arith::DivFOp op : quotients) {
      OpBuilder builder(op);
      LanesContext where{builder, op.getLoc(), machine};
      op.getResult().replaceAllUsesWith(approximateQuotient(op, where).get());
      op.erase();
    }
    for (auto &[op, known] : byKnown) {
      OpBuilder builder(op);
      LanesContext where{builder, op.getLoc(), machine};
      op.getResult().replaceAllUsesWith(quotientByKnown(op, known, where).get());
      op.erase();
    }
    for (auto [op, expansion] : found) {
      OpBuilder builder(op);
      LanesContext where{builder, op->getLoc(), machine};
      Lanes first(where, op->getOperand(0));
      Value result;
      if (ofApproximated.contains(op)) {
        result = expansion->ofApproximated(first).get();
      } else if (forHalves.contains(op)) {
        const bool isBesideOne = addedToOne.contains(op);
        result = (isBesideOne ? expansion->toHalfBesideOne : expansion->toHalf)(first).get();
      } else if (fitsInRegister(*expansion, first)) {
        result = expandInRegister(*expansion, first);
      } else if (expansion->unary) {
        result = unaryForm(*expansion, first)(first).get();
      } else {
        const bool isToHalf = expansion->binaryToHalf && approximateUnitFor(first) &&
                              llvm::all_of(op->getUsers(), roundsToHalf);
        const Lanes second(where, op->getOperand(1));
        result = (isToHalf ? expansion->binaryToHalf : expansion->binary)(first, second).get();
      }
      op->getResult(0).replaceAllUsesWith(result);
      op->erase();
    }
    for (Operation *op : extrema) {
      // One instruction instead of a comparison, a test for NaN and a choice.
      OpBuilder builder(op);
      LanesContext where{builder, op->getLoc(), machine};
      Lanes left(where, op->getOperand(0)), right(where, op->getOperand(1));
      if (const LaneInstructions *instructions = instructionsFor(left)) {
        Lanes result = isa<arith::MaxNumFOp>(op) ? instructions->largerNumber(left, right)
                                                 : instructions->smallerNumber(left, right);
        op->getResult(0).replaceAllUsesWith(result.get());
        op->erase();
      }
    }
    for (math::FmaOp op : fused) {
      OpBuilder builder(op);
      LanesContext where{builder, op.getLoc(), machine};
      const Lanes a(where, op.getA()), b(where, op.getB()), c(where, op.getC());
      // A rounded product; adding 0 makes -0 positive, and rounds nothing.
      const Lanes result =
          matchPattern(op.getC(), m_AnyZeroFloat()) ? a * b + c : emitFusedMultiplyAdd(a, b, c);
      op.getResult().replaceAllUsesWith(result.get());
      op.erase();
    }
  }

private:
  FloatUnit machine;
};

} // namespace

std::unique_ptr<Pass> createExpandMathPass(const FloatUnit &machine) {
  return std::make_unique<ExpandMathPass>(machine);
}

} // namespace nereid::lowering
