// SPDX-License-Identifier: Apache-2.0
#include "test/tables/TypeRules.h"

#include "llvm/ADT/SmallString.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>

namespace nereid::tables {

// Rows are left operands, columns right ones; "-" is refused.
static const char *const arithmeticTable = R"(
       i1   i8  i16  i32  i64   u8  u16  u32  u64 fp16 bf16 fp32 fp64
  i1   i1   i8  i16  i32  i64   u8  u16  u32  u64 fp16 fp32 fp32 fp64
  i8   i8   i8  i16  i32  i64   u8  u16  u32  u64 fp16 fp32 fp32 fp64
 i16  i16  i16  i16  i32  i64  i16  u16  u32  u64 fp16 fp32 fp32 fp64
 i32  i32  i32  i32  i32  i64  i32  i32  u32  u64 fp16 fp32 fp32 fp64
 i64  i64  i64  i64  i64  i64  i64  i64  i64  u64 fp16 fp32 fp32 fp64
  u8   u8   u8  i16  i32  i64   u8  u16  u32  u64 fp16 fp32 fp32 fp64
 u16  u16  u16  u16  i32  i64  u16  u16  u32  u64 fp16 fp32 fp32 fp64
 u32  u32  u32  u32  u32  i64  u32  u32  u32  u64 fp16 fp32 fp32 fp64
 u64  u64  u64  u64  u64  u64  u64  u64  u64  u64 fp16 fp32 fp32 fp64
fp16 fp16 fp16 fp16 fp16 fp16 fp16 fp16 fp16 fp16 fp16 fp16 fp32 fp64
bf16 fp32 fp32 fp32 fp32 fp32 fp32 fp32 fp32 fp32 fp16 bf16 fp32 fp64
fp32 fp32 fp32 fp32 fp32 fp32 fp32 fp32 fp32 fp32 fp32 fp32 fp32 fp64
fp64 fp64 fp64 fp64 fp64 fp64 fp64 fp64 fp64 fp64 fp64 fp64 fp64 fp64)";

static const char *const divisionTable = R"(
       i1   i8  i16  i32  i64   u8  u16  u32  u64 fp16 bf16 fp32 fp64
  i1 fp32    -    -    -    - fp32 fp32 fp32 fp32 fp32 fp32 fp32 fp64
  i8    - fp32 fp32 fp32 fp32    -    -    -    - fp32 fp32 fp32 fp64
 i16    - fp32 fp32 fp32 fp32    -    -    -    - fp32 fp32 fp32 fp64
 i32    - fp32 fp32 fp32 fp32    -    -    -    - fp32 fp32 fp32 fp64
 i64    - fp32 fp32 fp32 fp32    -    -    -    - fp32 fp32 fp32 fp64
  u8 fp32    -    -    -    - fp32 fp32 fp32 fp32 fp32 fp32 fp32 fp64
 u16 fp32    -    -    -    - fp32 fp32 fp32 fp32 fp32 fp32 fp32 fp64
 u32 fp32    -    -    -    - fp32 fp32 fp32 fp32 fp32 fp32 fp32 fp64
 u64 fp32    -    -    -    - fp32 fp32 fp32 fp32 fp32 fp32 fp32 fp64
fp16 fp32 fp32 fp32 fp32 fp32 fp32 fp32 fp32 fp32 fp32 fp32 fp32 fp64
bf16 fp32 fp32 fp32 fp32 fp32 fp32 fp32 fp32 fp32 fp32 fp32 fp32 fp64
fp32 fp32 fp32 fp32 fp32 fp32 fp32 fp32 fp32 fp32 fp32 fp32 fp32 fp64
fp64 fp64 fp64 fp64 fp64 fp64 fp64 fp64 fp64 fp64 fp64 fp64 fp64 fp64)";

// Of // and %; where an operand is a float, // is refused and % gives what / gives.
static const char *const wholeDivisionTable = R"(
       i1   i8  i16  i32  i64   u8  u16  u32  u64
  i1   i1    -    -    -    -   u8  u16  u32  u64
  i8    -   i8  i16  i32  i64    -    -    -    -
 i16    -  i16  i16  i32  i64    -    -    -    -
 i32    -  i32  i32  i32  i64    -    -    -    -
 i64    -  i64  i64  i64  i64    -    -    -    -
  u8   u8    -    -    -    -   u8  u16  u32  u64
 u16  u16    -    -    -    -  u16  u16  u32  u64
 u32  u32    -    -    -    -  u32  u32  u32  u64
 u64  u64    -    -    -    -  u64  u64  u64  u64)";

using Table = std::vector<std::vector<std::optional<DType>>>;

static Table parsed(const char *words) {
  std::istringstream lines(words);
  std::string line, word;
  std::getline(lines, line);
  std::getline(lines, line); // the columns' names
  Table table;
  while (std::getline(lines, line)) {
    std::istringstream row(line);
    row >> word;
    table.emplace_back();
    while (row >> word) {
      table.back().push_back(parseDType(word));
    }
  }
  return table;
}

const std::vector<DType> &tableTypes() {
  static const std::vector<DType> types = {
      DType::Bool, DType::I8,  DType::I16, DType::I32,  DType::I64, DType::U8, DType::U16,
      DType::U32,  DType::U64, DType::F16, DType::BF16, DType::F32, DType::F64};
  return types;
}

static std::optional<DType> lookedUp(const Table &table, DType a, DType b) {
  auto place = [](DType type) {
    return static_cast<size_t>(std::find(tableTypes().begin(), tableTypes().end(), type) -
                               tableTypes().begin());
  };
  return table[place(a)][place(b)];
}

static bool isComparison(const std::string &op) {
  return op[0] == '=' || op[0] == '!' || op == "<" || op == ">" || op == "<=" || op == ">=";
}

static bool isBitwise(const std::string &op) {
  return op == "&" || op == "|" || op == "^" || op == "<<" || op == ">>";
}

static bool isExtremum(const std::string &op) {
  return op.starts_with("max") || op.starts_with("min");
}

std::optional<DType> computationType(const std::string &op, DType a, DType b) {
  static const Table arithmetic = parsed(arithmeticTable), division = parsed(divisionTable),
                     wholeDivision = parsed(wholeDivisionTable);
  bool isReal = isFloat(a) || isFloat(b);
  if (op == "/" || (op == "%" && isReal)) {
    return lookedUp(division, a, b);
  }
  if (op == "//" || op == "%") {
    return isReal ? std::nullopt : lookedUp(wholeDivision, a, b);
  }
  if (isBitwise(op) && isReal) {
    return std::nullopt;
  }
  if (isExtremum(op)) { // computed in float32 for want of bfloat16 instructions
    a = a == DType::BF16 ? DType::F32 : a;
    b = b == DType::BF16 ? DType::F32 : b;
  }
  return lookedUp(arithmetic, a, b);
}

std::optional<DType> resultType(const std::string &op, DType a, DType b) {
  std::optional<DType> type = computationType(op, a, b);
  return type && isComparison(op) ? DType::Bool : type;
}

/// On operands of the type it is computed in; `signSource` is what `>>` looks at.
static std::optional<Scalar> computed(const std::string &op, Scalar a, Scalar b, DType signSource) {
  if (op.starts_with("where")) {
    return op == "where yes" ? a : b;
  }
  return apply(op == ">>" && isSigned(signSource) ? ">>s" : op, a, b);
}

std::optional<Scalar> evaluate(const std::string &op, Scalar a, Scalar b) {
  DType type = *computationType(op, a.type, b.type);
  return computed(op, *convert(a, type), *convert(b, type), a.type);
}

std::vector<Literal> literals() {
  std::vector<Literal> list = {{"True", Literal::Kind::Bool, 1, 1}};
  constexpr __int128 one = 1;
  for (__int128 whole : {0 * one,
                         one,
                         -one,
                         7 * one,
                         127 * one,
                         128 * one,
                         -128 * one,
                         -129 * one,
                         255 * one,
                         256 * one,
                         32767 * one,
                         32768 * one,
                         65536 * one,
                         (one << 31) - 1,
                         one << 31,
                         -(one << 31),
                         -(one << 31) - 1,
                         (one << 32) - 1,
                         one << 32,
                         (one << 63) - 1,
                         one << 63,
                         -(one << 63),
                         (one << 64) - 1}) {
    llvm::SmallString<24> digits;
    llvm::APSInt(llvm::APInt(128, static_cast<uint64_t>(whole < 0 ? -whole : whole)), true)
        .toString(digits);
    std::string text = whole < 0 ? "(-" + std::string(digits) + ")" : std::string(digits);
    list.push_back({text, Literal::Kind::Integer, whole, 0});
  }
  for (auto [text, real] : std::initializer_list<std::pair<const char *, double>>{
           {"0.0", 0.0},
           {"(-0.0)", -0.0},
           {"0.5", 0.5},
           {"0.1", 0.1},
           {"65520.0", 65520.0}, // the first that is infinite in float16
           {"1e39", 1e39},       // too large and too small for float32: float64
           {"1e-40", 1e-40},
           {"float('inf')", std::numeric_limits<double>::infinity()},
           {"float('nan')", std::numeric_limits<double>::quiet_NaN()}}) {
    list.push_back({text, Literal::Kind::Float, 0, real});
  }
  return list;
}

DType typeOf(const Literal &literal) {
  if (literal.kind == Literal::Kind::Bool) {
    return DType::Bool;
  }
  if (literal.kind == Literal::Kind::Integer) {
    constexpr __int128 one = 1;
    __int128 number = literal.whole;
    return number >= -(one << 31) && number < one << 31   ? DType::I32
           : number >= 0 && number < one << 32            ? DType::U32
           : number >= -(one << 63) && number < one << 63 ? DType::I64
                                                          : DType::U64;
  }
  double size = std::fabs(literal.real);
  bool isSingle =
      size == 0 || !std::isfinite(size) ||
      (size >= std::numeric_limits<float>::min() && size <= std::numeric_limits<float>::max());
  return isSingle ? DType::F32 : DType::F64;
}

/// Rounded once from the number as written.
static Scalar literalAs(const Literal &literal, DType type) {
  if (literal.kind == Literal::Kind::Float) {
    return convert(llvm::APFloat(literal.real), type);
  }
  bool isNegative = literal.whole < 0;
  auto low = static_cast<uint64_t>(literal.whole);
  // Between -2^63 and 2^64: 64 bits and the sign say it all.
  Scalar whole{isNegative ? DType::I64 : DType::U64, low};
  return type == DType::Bool ? Scalar{type, low != 0} : *convert(whole, type);
}

static int kindOf(DType type) { return type == DType::Bool ? 0 : isFloat(type) ? 2 : 1; }

/// Comparisons, maximum and minimum make a scalar of a literal before anything else.
static bool makesScalar(const std::string &op) { return isComparison(op) || isExtremum(op); }

static bool takesOther(const Literal &literal, const std::string &op, DType other) {
  return !makesScalar(op) && kindOf(typeOf(literal)) <= kindOf(other);
}

static std::optional<DType> computationBeside(const Literal &literal, const std::string &op,
                                              DType other, bool isLeft) {
  DType own = typeOf(literal);
  if (!takesOther(literal, op, other)) {
    return isLeft ? computationType(op, own, other) : computationType(op, other, own);
  }
  if (literal.kind == Literal::Kind::Integer && kindOf(other) == 1) {
    Scalar taken = literalAs(literal, other);
    llvm::APSInt value = whole(taken);
    bool isNegative = value.isSigned() && value.isNegative();
    bool fits = isNegative == (literal.whole < 0) &&
                (isNegative ? value.getSExtValue() == static_cast<int64_t>(literal.whole)
                            : value.getZExtValue() == static_cast<uint64_t>(literal.whole));
    if (!fits) {
      return std::nullopt;
    }
  }
  return computationType(op, other, other); // float32 for the quotient of half floats
}

std::optional<DType> resultBeside(const Literal &literal, const std::string &op, DType other,
                                  bool isLeft) {
  std::optional<DType> type = computationBeside(literal, op, other, isLeft);
  return type && isComparison(op) ? DType::Bool : type;
}

std::optional<Scalar> evaluateBeside(const Literal &literal, const std::string &op, Scalar other,
                                     bool isLeft) {
  DType type = *computationBeside(literal, op, other.type, isLeft);
  Scalar number = takesOther(literal, op, other.type)
                      ? literalAs(literal, type)
                      : *convert(literalAs(literal, typeOf(literal)), type);
  Scalar value = *convert(other, type);
  return isLeft ? computed(op, number, value, other.type) : computed(op, value, number, other.type);
}

} // namespace nereid::tables
