// SPDX-License-Identifier: Apache-2.0
// Type promotion of the kernel language: a literal takes the other operand's type unless it is of a
// higher kind (bool < integer < float); otherwise the wider float wins, and integers follow C.
#include "lib/language/emit/Emitter.h"

namespace nereid::language::emit {

static int kindRank(DType type) { return type == DType::Bool ? 0 : isFloat(type) ? 2 : 1; }

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
    return a == b ? a : DType::F16; // which holds the numbers of all four formats
  }
  return a == b ? DType::BF16 : DType::F32;
}

static std::optional<DType> numberType(const Value &value) {
  return value.isTile() ? value.tileType.element.dtype : defaultType(value);
}

std::optional<DType> Emitter::promotedType(const Value &a, const Value &b, Arithmetic kind) {
  std::optional<DType> typeA = numberType(a), typeB = numberType(b);
  if (!typeA || !typeB) {
    return std::nullopt;
  }
  if (kind == Arithmetic::Bitwise) {
    return promoteIntegers(*typeA, *typeB);
  }
  bool isDivision = kind == Arithmetic::Division;
  if (a.isWeak() != b.isWeak()) {
    DType literal = a.isWeak() ? *typeA : *typeB;
    DType other = a.isWeak() ? *typeB : *typeA;
    if (kindRank(literal) <= kindRank(other)) {
      bool isHalf = other == DType::F16 || other == DType::BF16;
      return isDivision && isHalf ? DType::F32 : other;
    }
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
static bool checkLiteral(Emitter &emitter, const Value &value, DType type) {
  if (!value.isWeak() || !value.isWhole() || isFloat(type) || type == DType::Bool) {
    return true;
  }
  int bits = bitWidth(type);
  Integer low = isUnsigned(type) ? 0 : -(static_cast<Integer>(1) << (bits - 1));
  Integer high = (static_cast<Integer>(1) << (isUnsigned(type) ? bits : bits - 1)) - 1;
  if (value.integer >= low && value.integer <= high) {
    return true;
  }
  emitter
      .error("E0222", "the constant " + pythonText(value) + " is not a value of " +
                          typeText(ElementType{type, false}) + ", which holds " + integerText(low) +
                          " to " + integerText(high))
      .withHelp("convert the other operand first, e.g. with .to(tl.int64)");
  return false;
}

bool Emitter::promote(Value &a, Value &b, const std::string &spelled, Arithmetic kind) {
  for (const Value *value : {&a, &b}) {
    if (value->isPoison()) {
      return false;
    }
    bool isOperand = value->isNumber() || (value->isTile() && !value->isPointer());
    if (!isOperand) {
      error("E0204", "'" + spelled + "' does not work on " + describe(a) + " and " + describe(b))
          .withHelp(value->isNone()
                        ? "the value is None in this specialisation; guard the use with "
                          "'is not None'"
                    : value->isPointer() ? "load what the pointer points to with tl.load first"
                                         : "operands are numbers and tiles");
      return false;
    }
  }
  if (std::optional<DType> typeA = numberType(a), typeB = numberType(b);
      kind == Arithmetic::Bitwise && typeA && typeB && (isFloat(*typeA) || isFloat(*typeB))) {
    error("E0204",
          "'" + spelled + "' expects integers, but got " + describe(a) + " and " + describe(b))
        .withHelp("convert with .to(tl.int32), or reinterpret the bits with "
                  ".to(tl.int32, bitcast=True)");
    return false;
  }
  std::optional<DType> type = promotedType(a, b, kind);
  if (!type) {
    error("E0222", "the constant " + pythonText(a.isNumber() ? a : b) + " does not fit 64 bits");
    return false;
  }
  bool isMixed = !a.isWeak() && !b.isWeak() && isInteger(*numberType(a)) &&
                 isInteger(*numberType(b)) &&
                 isUnsigned(*numberType(a)) != isUnsigned(*numberType(b));
  if (kind == Arithmetic::Division && isMixed) {
    error("E0228", "'" + spelled + "' of " + describe(a) + " and " + describe(b) +
                       ": one is signed, the other is not")
        .withHelp("cast one of them so that both are signed or both unsigned");
    return false;
  }
  if (kind != Arithmetic::Bitwise &&
      (!checkLiteral(*this, a, *type) || !checkLiteral(*this, b, *type))) {
    return false;
  }
  a = cast(a, {*type, false});
  b = cast(b, {*type, false});
  return !a.isPoison() && !b.isPoison() && broadcastPair(a, b);
}

} // namespace nereid::language::emit
