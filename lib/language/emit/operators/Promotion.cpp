// SPDX-License-Identifier: Apache-2.0
#include "lib/language/emit/operators/Promotion.h"

#include "runtime/elements/Float8.h"

#include "llvm/ADT/APFloat.h"

namespace nereid::language::emit {

static int kindRank(DType type) { return type == DType::Bool ? 0 : isFloat(type) ? 2 : 1; }

/// Truth values have no sign: they stand with the unsigned types.
static bool isZeroExtended(DType type) { return isUnsigned(type) || type == DType::Bool; }

static DType promoteIntegers(DType a, DType b) {
  int widthA = bitWidth(a), widthB = bitWidth(b);
  if (isUnsigned(a) == isUnsigned(b)) {
    return widthA > widthB ? a : b;
  }
  if (isUnsigned(a)) {
    return widthA >= widthB ? a : b;
  }
  return widthB >= widthA ? b : a;
}

static DType promoteFloats(DType a, DType b, bool isDivision) {
  if (a == DType::F64 || b == DType::F64) {
    return DType::F64;
  }
  bool isWide = isDivision && !(isFloat8(a) && isFloat8(b));
  if (a == DType::F32 || b == DType::F32 || isWide) {
    return DType::F32;
  }
  if (a == DType::F16 || b == DType::F16) {
    return DType::F16;
  }
  if (isFloat8(a) && isFloat8(b)) {
    return a == b ? a : DType::F16; // which holds the numbers of all formats
  }
  return a == b ? DType::BF16 : DType::F32;
}

/// The smallest and the largest value of an integer type.
static std::pair<Integer, Integer> integerRange(DType type) {
  int bits = bitWidth(type);
  Integer low = isUnsigned(type) ? 0 : -(static_cast<Integer>(1) << (bits - 1));
  return {low, low + (static_cast<Integer>(1) << bits) - 1};
}

static bool fitsInteger(Integer value, DType type) {
  auto [low, high] = integerRange(type);
  return value >= low && value <= high;
}

static std::optional<DType> numberType(const Value &value) {
  return value.isTile() ? value.tileType.element.dtype : defaultType(value);
}

Value literalAsScalar(Value value) {
  if (value.isWeak()) {
    value.bound = defaultType(value);
  }
  return value;
}

bool Promotion::isExactly(const Value &literal, DType type) {
  std::optional<DType> own = defaultType(literal);
  if (!own || kindRank(*own) > kindRank(type)) {
    return false;
  }
  if (!isFloat(type)) {
    return type == DType::Bool || fitsInteger(literal.integer, type);
  }
  for (DType each : {type, literal.isWhole() ? type : *own}) {
    if (each == DType::F8E4B15) {
      if (fromFloat8(toFloat8(literal.asReal(), each), each) != literal.asReal()) {
        return false;
      }
      continue;
    }
    llvm::APFloat number(literal.asReal());
    bool losesInfo = false;
    number.convert(
        llvm::cast<mlir::FloatType>(tiles.mlirType(ElementType{each, false})).getFloatSemantics(),
        llvm::APFloat::rmNearestTiesToEven, &losesInfo);
    if (losesInfo) {
      return false;
    }
  }
  return !literal.isWhole() || static_cast<Integer>(literal.asReal()) == literal.integer;
}

/// Whether one of the operands is a literal that takes the other's type.
static bool hasYieldingLiteral(const Value &a, const Value &b, DType typeA, DType typeB) {
  return a.isWeak() != b.isWeak() &&
         (a.isWeak() ? kindRank(typeA) <= kindRank(typeB) : kindRank(typeB) <= kindRank(typeA));
}

std::optional<DType> promotedType(const Value &a, const Value &b, Arithmetic kind) {
  std::optional<DType> typeA = numberType(a), typeB = numberType(b);
  if (!typeA || !typeB) {
    return std::nullopt;
  }
  bool isDivision = kind == Arithmetic::Division;
  if (hasYieldingLiteral(a, b, *typeA, *typeB)) {
    DType other = a.isWeak() ? *typeB : *typeA;
    bool isHalf = other == DType::F16 || other == DType::BF16;
    return isDivision && isHalf ? DType::F32 : other;
  }
  if (isFloat(*typeA) != isFloat(*typeB) && (isFloat8(*typeA) || isFloat8(*typeB))) {
    return DType::F32; // an integer beside an 8-bit float: neither holds the other
  }
  if (isFloat(*typeA) || isFloat(*typeB)) {
    return promoteFloats(*typeA, *typeB, isDivision);
  }
  return promoteIntegers(*typeA, *typeB);
}

/// A literal must be a value of the integer type it takes.
bool Promotion::checkLiteral(const Value &value, DType type) {
  if (!value.isWeak() || !value.isWhole() || isFloat(type) || type == DType::Bool ||
      fitsInteger(value.integer, type)) {
    return true;
  }
  auto [low, high] = integerRange(type);
  report
      .error("E0222", "the constant " + pythonText(value) + " is not a value of " +
                          typeText(ElementType{type, false}) + ", which holds " + integerText(low) +
                          " to " + integerText(high))
      .withHelp("convert the other operand first, e.g. with .to(tl.int64)");
  return false;
}

bool Promotion::promote(Value &a, Value &b, const std::string &spelled, Arithmetic kind) {
  for (const Value *value : {&a, &b}) {
    if (value->isPoison()) {
      return false;
    }
    bool isOperand = value->isNumber() || (value->isTile() && !value->isPointer());
    if (!isOperand) {
      report
          .error("E0204",
                 "'" + spelled + "' does not work on " + describe(a) + " and " + describe(b))
          .withHelp(value->isNone()
                        ? "the value is None in this specialisation; guard the use with "
                          "'is not None'"
                    : value->isPointer() ? "load what the pointer points to with tl.load first"
                                         : "operands are numbers and tiles");
      return false;
    }
  }
  std::optional<DType> type = promotedType(a, b, kind);
  if (!type) {
    bool isOfA = a.isNumber() && !defaultType(a);
    report.error("E0222", "the constant " + pythonText(isOfA ? a : b) + " does not fit 64 bits");
    return false;
  }
  if (kind == Arithmetic::Bitwise && isFloat(*type)) {
    report
        .error("E0204",
               "'" + spelled + "' expects integers, but got " + describe(a) + " and " + describe(b))
        .withHelp("convert with .to(tl.int32), or reinterpret the bits with "
                  ".to(tl.int32, bitcast=True)");
    return false;
  }
  DType typeA = *numberType(a), typeB = *numberType(b);
  if (kind == Arithmetic::Division && isInteger(*type) &&
      isZeroExtended(typeA) != isZeroExtended(typeB) && !hasYieldingLiteral(a, b, typeA, typeB)) {
    report
        .error("E0228", "'" + spelled + "' of " + describe(a) + " and " + describe(b) +
                            ": one is signed, the other is not")
        .withHelp("cast one of them so that both are signed or both unsigned");
    return false;
  }
  if (!checkLiteral(a, *type) || !checkLiteral(b, *type)) {
    return false;
  }
  a = tiles.cast(a, {*type, false});
  b = tiles.cast(b, {*type, false});
  return !a.isPoison() && !b.isPoison() && tiles.broadcastPair(a, b);
}

} // namespace nereid::language::emit
