// SPDX-License-Identifier: Apache-2.0
#include "test/tables/Scalar.h"

#include "llvm/ADT/SmallString.h"

namespace nereid::tables {

using llvm::APFloat;
using llvm::APInt;
using llvm::APSInt;

static const llvm::fltSemantics &semanticsOf(DType type) {
  switch (type) {
  case DType::F16:
    return APFloat::IEEEhalf();
  case DType::BF16:
    return APFloat::BFloat();
  case DType::F32:
    return APFloat::IEEEsingle();
  case DType::F8E4M3FN:
    return APFloat::Float8E4M3FN();
  case DType::F8E5M2:
    return APFloat::Float8E5M2();
  case DType::F8E4M3FNUZ:
    return APFloat::Float8E4M3FNUZ();
  case DType::F8E5M2FNUZ:
    return APFloat::Float8E5M2FNUZ();
  default:
    return APFloat::IEEEdouble();
  }
}

unsigned widthOf(DType type) {
  return type == DType::Bool ? 1 : 8 * static_cast<unsigned>(sizeInBytes(type));
}

bool isSigned(DType type) { return isSignedInteger(type); }

/// APFloat has no F8E4B15: its numbers are the float16 whose upper bits they are.
APFloat real(Scalar value) {
  if (value.type == DType::F8E4B15) {
    const uint64_t bits = (value.bits & 0x80) << 8 | (value.bits & 0x7F) << 7;
    return APFloat(APFloat::IEEEhalf(), APInt(16, bits));
  }
  return APFloat(semanticsOf(value.type), APInt(widthOf(value.type), value.bits));
}

APSInt whole(Scalar value) {
  return APSInt(APInt(widthOf(value.type), value.bits), !isSigned(value.type));
}

Scalar scalar(const APInt &bits, DType type) { return {type, bits.getZExtValue()}; }

Scalar scalar(const APFloat &value) {
  for (int i = 0; i < dtypeCount; ++i) {
    auto type = static_cast<DType>(i);
    if (isFloat(type) && &semanticsOf(type) == &value.getSemantics()) {
      return scalar(value.bitcastToAPInt(), type);
    }
  }
  return {DType::F64, 0};
}

bool isNan(Scalar value) { return isFloat(value.type) && real(value).isNaN(); }

bool isSame(Scalar a, Scalar b) {
  return a.type == b.type && (a.bits == b.bits || (isNan(a) && isNan(b)));
}

std::string text(Scalar value) {
  llvm::SmallString<40> out;
  if (isFloat(value.type)) {
    real(value).toString(out);
  } else {
    whole(value).toString(out);
  }
  return std::string(out) + ":" + std::string(kernelName(value.type));
}

/// A float16 toward zero, then the neighbour that is not farther away, of two the larger one.
static Scalar toE4B15(const APFloat &value) {
  APFloat half = abs(value);
  bool losesInfo = false;
  half.convert(APFloat::IEEEhalf(), APFloat::rmTowardZero, &losesInfo);
  const uint64_t sign = value.isNegative() ? 0x80 : 0;
  for (uint64_t code = 0; code < 0x7E && !half.isNaN(); ++code) {
    APFloat below = half, above = real({DType::F8E4B15, code + 1});
    below.subtract(real({DType::F8E4B15, code}), nearest); // exact between two neighbours
    above.subtract(half, nearest);
    if (below.compare(above) == APFloat::cmpLessThan) {
      return {DType::F8E4B15, sign | code};
    }
  }
  return {DType::F8E4B15, sign | 0x7E};
}

Scalar convert(const APFloat &value, DType to, llvm::RoundingMode rounding) {
  if (to == DType::F8E4B15) {
    return toE4B15(value);
  }
  APFloat rounded = value;
  bool losesInfo = false;
  rounded.convert(semanticsOf(to), rounding, &losesInfo);
  if (isFloat8(to) && !value.isNaN() && !rounded.isFinite()) {
    rounded = APFloat::getLargest(semanticsOf(to), value.isNegative());
  }
  return scalar(rounded);
}

std::optional<Scalar> convert(Scalar value, DType to, llvm::RoundingMode rounding) {
  if (value.type == to) {
    return value;
  }
  if (to == DType::Bool) {
    bool isTrue = isFloat(value.type) ? !real(value).isZero() : !whole(value).isZero();
    return Scalar{to, isTrue ? 1U : 0U};
  }
  if (!isFloat(value.type) && !isFloat(to)) {
    return scalar(whole(value).extOrTrunc(widthOf(to)), to);
  }
  if (isFloat(value.type) && isFloat(to)) {
    return convert(real(value), to, rounding);
  }
  if (isFloat(to)) {
    APFloat number(semanticsOf(isFloat8(to) ? DType::F32 : to));
    number.convertFromAPInt(whole(value), isSigned(value.type), nearest);
    return isFloat8(to) ? convert(number, to) : scalar(number);
  }
  APSInt truncated(widthOf(to), !isSigned(to));
  bool isExact = false;
  APFloat::opStatus status =
      real(value).convertToInteger(truncated, APFloat::rmTowardZero, &isExact);
  return status & APFloat::opInvalidOp ? std::nullopt : std::optional(scalar(truncated, to));
}

static Scalar truthOf(bool isTrue) { return {DType::Bool, isTrue ? 1U : 0U}; }

static std::optional<Scalar> applyToReals(const std::string &op, const APFloat &a,
                                          const APFloat &b) {
  APFloat result = a;
  if (op == "+") {
    result.add(b, nearest);
  } else if (op == "-") {
    result.subtract(b, nearest);
  } else if (op == "*") {
    result.multiply(b, nearest);
  } else if (op == "/") {
    result.divide(b, nearest);
  } else if (op == "%") {
    result.mod(b);
  } else if (op == "max" || op == "min") { // IEEE 754-2008 maxNum: a number wins over NaN
    if (a.isZero() && b.isZero() && a.isNegative() != b.isNegative()) {
      return std::nullopt; // either zero
    }
    result = a.isNaN() ? b : b.isNaN() ? a : op == "max" ? maximum(a, b) : minimum(a, b);
  } else if (op == "max nan" || op == "min nan") {
    result = op == "max nan" ? maximum(a, b) : minimum(a, b);
  } else {
    APFloat::cmpResult order = a.compare(b);
    bool isLess = order == APFloat::cmpLessThan, isEqual = order == APFloat::cmpEqual;
    bool isGreater = order == APFloat::cmpGreaterThan;
    return truthOf(op == "<"    ? isLess
                   : op == "<=" ? isLess || isEqual
                   : op == ">"  ? isGreater
                   : op == ">=" ? isGreater || isEqual
                   : op == "==" ? isEqual
                                : !isEqual);
  }
  return scalar(result);
}

static APInt shifted(const std::string &op, const APInt &a, const APInt &b) {
  unsigned width = a.getBitWidth();
  auto amount = static_cast<unsigned>(b.getLimitedValue(width));
  if (op == "<<") {
    return amount >= width ? APInt(width, 0) : a.shl(amount);
  }
  if (op == ">>s") {
    return a.ashr(amount >= width ? width - 1 : amount);
  }
  return amount >= width ? APInt(width, 0) : a.lshr(amount);
}

static std::optional<Scalar> applyToWholes(const std::string &op, const APSInt &a, const APSInt &b,
                                           DType type) {
  if (op == "+" || op == "-" || op == "*") {
    return scalar(op == "+" ? a + b : op == "-" ? a - b : a * b, type);
  }
  if (op == "//" || op == "%") {
    return b.isZero() ? std::nullopt : std::optional(scalar(op == "%" ? a % b : a / b, type));
  }
  if (op == "&" || op == "|" || op == "^") {
    return scalar(op == "&" ? a & b : op == "|" ? a | b : a ^ b, type);
  }
  if (op == "<<" || op == ">>" || op == ">>s") {
    return scalar(shifted(op, a, b), type);
  }
  if (op.starts_with("max") || op.starts_with("min")) {
    return scalar(op.starts_with("max") == (a < b) ? b : a, type);
  }
  return truthOf(op == "<"    ? a < b
                 : op == "<=" ? a <= b
                 : op == ">"  ? a > b
                 : op == ">=" ? a >= b
                 : op == "==" ? a == b
                              : a != b);
}

std::optional<Scalar> apply(const std::string &op, Scalar a, Scalar b) {
  return isFloat(a.type) ? applyToReals(op, real(a), real(b))
                         : applyToWholes(op, whole(a), whole(b), a.type);
}

static std::vector<Scalar> edgesOfReals(DType type) {
  const llvm::fltSemantics &format = semanticsOf(type);
  APFloat above(format, "1");
  above.next(false);
  std::vector<APFloat> list = {APFloat::getZero(format),
                               APFloat::getZero(format, true),
                               APFloat(format, "1"),
                               APFloat(format, "-1"),
                               above,
                               APFloat(format, "-3"),
                               APFloat(format, "0.1"),
                               APFloat(format, "7.5"),
                               APFloat(format, "300"),
                               APFloat::getLargest(format),
                               APFloat::getLargest(format, true),
                               APFloat::getSmallestNormalized(format),
                               APFloat::getSmallest(format, true),
                               APFloat::getInf(format),
                               APFloat::getInf(format, true),
                               APFloat::getNaN(format)};
  std::vector<Scalar> values;
  for (const APFloat &value : list) {
    values.push_back(scalar(value));
  }
  return values;
}

std::vector<Scalar> edges(DType type) {
  if (type == DType::Bool) {
    return {{type, 0}, {type, 1}};
  }
  if (type == DType::F8E4B15) {
    std::vector<Scalar> values;
    for (uint64_t code : {0x00, 0x01, 0x07, 0x08, 0x38, 0x77, 0x7E, 0x7F}) {
      values.push_back({type, code});
      values.push_back({type, code | 0x80});
    }
    return values;
  }
  if (isFloat(type)) {
    return edgesOfReals(type);
  }
  unsigned width = widthOf(type);
  APInt low = isSigned(type) ? APInt::getSignedMinValue(width) : APInt(width, 0);
  APInt high = isSigned(type) ? APInt::getSignedMaxValue(width) : APInt::getMaxValue(width);
  APInt middle = isSigned(type) ? APInt(width, 101) : APInt::getSignedMaxValue(width);
  std::vector<Scalar> values;
  for (uint64_t small : {0, 1, 2, 3, 5, 7}) {
    values.push_back({type, small});
  }
  APInt minusOne = APInt::getAllOnes(width);
  for (const APInt &value : {low, low + 1, high, high - 1, middle, middle + 1, minusOne,
                             minusOne - 6, APInt(width, width), APInt(width, width - 1)}) {
    values.push_back(scalar(value, type));
  }
  return values;
}

} // namespace nereid::tables
