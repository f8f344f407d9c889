// SPDX-License-Identifier: Apache-2.0
// Operators on run-time values: arithmetic, bits, comparisons, logic, pointer offsets. Signed `//`
// and `%` truncate like C; comparisons of floats are ordered, except `!=`.
#include "lib/language/emit/operators/Operators.h"

#include "lib/language/emit/operators/Float8E4B15.h"
#include "lib/language/emit/tiles/KnownNumber.h"

#include "mlir/IR/Matchers.h"

namespace nereid::language::emit {

using namespace mlir::arith;

static bool isConstantOnly(const Value &value) {
  return value.isString() || value.isTuple() || value.isType() || value.isNone() ||
         value.kind == Value::Kind::Function || value.kind == Value::Kind::Builtin ||
         value.kind == Value::Kind::Module;
}

Value Operators::addPointer(const Value &pointer, const Value &offset) {
  Value base = pointer, moved = tiles.toTile(offset);
  if (moved.isPoison()) {
    return moved;
  }
  ElementType type = moved.tileType.element;
  if (type.isPointer || isFloat(type.dtype)) {
    return report.fail("E0204", "cannot move " + describe(pointer) + " by " + describe(offset),
                       "offsets are integers, counted in elements");
  }
  // tile.addptr reads its offset as signed
  if (type.dtype == DType::Bool) {
    moved = tiles.cast(moved, {DType::I32, false});
  } else if (isUnsigned(type.dtype) && bitWidth(type.dtype) < 64) {
    moved = tiles.cast(moved, {DType::I64, false});
  }
  if (!tiles.broadcastPair(base, moved)) {
    return Value::poison();
  }
  return Value::tile(tiles.make<tile::AddPtrOp>(base.ssa.getType(), base.ssa, moved.ssa),
                     base.tileType, base.origins);
}

Value Operators::arithmetic(const std::string &op, const Value &a, const Value &b) {
  bool isReal = isFloat(a.tileType.element.dtype);
  if (op == "+") {
    return isReal ? tiles.like<AddFOp>(a, a.ssa, b.ssa) : tiles.like<AddIOp>(a, a.ssa, b.ssa);
  }
  if (op == "-") {
    return isReal ? tiles.like<SubFOp>(a, a.ssa, b.ssa) : tiles.like<SubIOp>(a, a.ssa, b.ssa);
  }
  return isReal ? tiles.like<MulFOp>(a, a.ssa, b.ssa) : tiles.like<MulIOp>(a, a.ssa, b.ssa);
}

Value Operators::division(const std::string &op, Value a, Value b) {
  DType type = a.tileType.element.dtype;
  bool isReal = isFloat(type);
  if (op == "/") {
    if (!isReal) {
      a = tiles.cast(a, {DType::F32, false});
      b = tiles.cast(b, {DType::F32, false});
    }
    return tiles.like<DivFOp>(a, a.ssa, b.ssa);
  }
  if (op == "%") {
    return isReal             ? tiles.like<RemFOp>(a, a.ssa, b.ssa)
           : isUnsigned(type) ? tiles.like<RemUIOp>(a, a.ssa, b.ssa)
                              : tiles.like<RemSIOp>(a, a.ssa, b.ssa);
  }
  if (isReal) {
    return report.fail("E0204",
                       "'//' expects integers, but got " + describe(a) + " and " + describe(b),
                       "use tl.floor(x / y)");
  }
  return isUnsigned(type) ? tiles.like<DivUIOp>(a, a.ssa, b.ssa)
                          : tiles.like<DivSIOp>(a, a.ssa, b.ssa);
}

/// Whether `>>` copies the sign: by the type of the value that is shifted, before promotion; a
/// literal is shifted like the other operand's type.
static bool shiftsSign(const Value &a, const Value &b) {
  const Value &typed = a.isWeak() ? b : a;
  return isSignedInteger(typed.isTile() ? typed.tileType.element.dtype : *defaultType(typed));
}

/// Whether every element is shifted by this constant, which leaves no bit.
static bool shiftsOut(const Value &amount) {
  llvm::APInt constant;
  return mlir::matchPattern(amount.ssa, mlir::m_ConstantInt(&constant)) &&
         constant.uge(constant.getBitWidth());
}

Value Operators::bits(const std::string &op, const Value &a, Value b, bool isArithmetic) {
  if (op == "&") {
    return tiles.like<AndIOp>(a, a.ssa, b.ssa);
  }
  if (op == "|") {
    return tiles.like<OrIOp>(a, a.ssa, b.ssa);
  }
  if (op == "^") {
    return tiles.like<XOrIOp>(a, a.ssa, b.ssa);
  }
  if (shiftsOut(b)) { // arith leaves the result open: of two constants LLVM makes poison at once
    const TileType &type = a.tileType;
    Value zero = tiles.constantTile(Value::whole(0), type.element.dtype, type.shape);
    if (op == "<<" || !isArithmetic) {
      return zero;
    }
    b = tiles.constantTile(Value::whole(bitWidth(type.element.dtype) - 1), type.element.dtype,
                           type.shape);
  }
  if (op == "<<") {
    return tiles.like<ShLIOp>(a, a.ssa, b.ssa);
  }
  return isArithmetic ? tiles.like<ShRSIOp>(a, a.ssa, b.ssa) : tiles.like<ShRUIOp>(a, a.ssa, b.ssa);
}

/// Arithmetic on 8-bit floats is done in float32, where it is exact or nearly so, and rounded back
/// once; targets need nothing but the conversions.
Value Operators::throughFloat32(const Value &a, const Value &b,
                                const std::function<Value(const Value &, const Value &)> &compute) {
  ElementType narrow = a.tileType.element;
  if (!isFloat8(narrow.dtype)) {
    return compute(a, b);
  }
  ElementType wide{DType::F32, false};
  return tiles.cast(compute(tiles.cast(a, wide), tiles.cast(b, wide)), narrow);
}

Value Operators::binary(const std::string &op, const Value &a, const Value &b) {
  if (a.isPoison() || b.isPoison()) {
    return Value::poison();
  }
  bool isFoldable = (a.isWeak() || isConstantOnly(a)) && (b.isWeak() || isConstantOnly(b));
  if (isFoldable || a.isTuple() || b.isTuple() || a.isString() || b.isString()) {
    return folding.binary(op, a, b);
  }
  if (op == "**") {
    return power(a, b);
  }
  if (op == "+" && a.isPointer() != b.isPointer()) {
    return a.isPointer() ? addPointer(a, b) : addPointer(b, a);
  }
  if (op == "-" && a.isPointer() && !b.isPointer()) {
    Value offset = unary("-", isConstantOnly(b) ? tiles.toTile(b) : b);
    return offset.isPoison() ? offset : addPointer(a, offset);
  }
  Value left = a, right = b;
  if (op == "+" || op == "-" || op == "*") {
    return promotion.promote(left, right, op, Arithmetic::Plain)
               ? throughFloat32(
                     left, right,
                     [&](const Value &x, const Value &y) { return arithmetic(op, x, y); })
               : Value::poison();
  }
  if (op == "/" || op == "//" || op == "%") {
    return promotion.promote(left, right, op, Arithmetic::Division)
               ? throughFloat32(left, right,
                                [&](const Value &x, const Value &y) { return division(op, x, y); })
               : Value::poison();
  }
  if (op == "&" || op == "|" || op == "^" || op == "<<" || op == ">>") {
    return promotion.promote(left, right, op, Arithmetic::Bitwise)
               ? bits(op, left, right, shiftsSign(a, b))
               : Value::poison();
  }
  return report.fail("E0311", "operator '" + op + "' is not supported in a kernel",
                     op == "@" ? "use tl.dot" : "");
}

Value Operators::power(const Value &a, const Value &b) {
  std::optional<Value> exponent = knownNumber(b);
  bool isSmall =
      exponent && exponent->isWhole() && exponent->integer >= 0 && exponent->integer <= 64;
  Value base = tiles.toTile(a);
  if (base.isPoison()) {
    return base;
  }
  bool isReal = !base.isPointer() && isFloat(base.tileType.element.dtype);
  if (isSmall && !base.isPointer() && (!isReal || exponent->integer <= 3)) {
    auto count = static_cast<int>(exponent->integer);
    Value result =
        tiles.constantTile(Value::whole(1), base.tileType.element.dtype, base.tileType.shape);
    for (Value square = base; count > 0; count >>= 1) {
      if (count & 1) {
        result = binary("*", result, square);
      }
      if (count > 1) {
        square = binary("*", square, square);
      }
    }
    return result;
  }
  Value left = base, right = b;
  if (!promotion.promote(left, right, "**", Arithmetic::Plain)) {
    return Value::poison();
  }
  if (!isFloat(left.tileType.element.dtype)) {
    return report.fail("E0204",
                       "'**' of integers expects a constant exponent from 0 to 64, but got " +
                           describe(b),
                       "convert the base with .to(tl.float32)");
  }
  return throughFloat32(left, right, [&](const Value &x, const Value &y) {
    return tiles.like<mlir::math::PowFOp>(x, x.ssa, y.ssa);
  });
}

Value Operators::compare(const std::string &op, const Value &a, const Value &b) {
  if (a.isPoison() || b.isPoison()) {
    return Value::poison();
  }
  if (b.kind == Value::Kind::Import && b.text == "os.environ" && (op == "in" || op == "not in")) {
    return Value::boolean(op == "not in"); // settings have their defaults here
  }
  if (a.kind == Value::Kind::Import || b.kind == Value::Kind::Import) {
    return report.failNotFound(a.kind == Value::Kind::Import ? a : b);
  }
  bool isFoldable = (a.isWeak() || isConstantOnly(a)) && (b.isWeak() || isConstantOnly(b));
  bool isEquality = op == "==" || op == "!=" || op == "is" || op == "is not";
  if (isFoldable || op == "in" || op == "not in" ||
      (isEquality && (isConstantOnly(a) || isConstantOnly(b)))) {
    return folding.compare(op, a, b);
  }
  if (op == "is" || op == "is not") {
    std::optional<Value> left = knownNumber(a), right = knownNumber(b);
    if (left && right) {
      return folding.compare(op, *left, *right);
    }
    return report.fail("E0204",
                       "'" + op + "' on " + describe(a) + " and " + describe(b) +
                           " is only known at run time",
                       "use == to compare values");
  }
  // A literal that the other operand's type holds is compared in that type: the result is the same.
  auto comparable = [&](const Value &value, const Value &other) {
    bool isOwn = value.isWeak() && other.isTile() && !other.isPointer() &&
                 promotion.isExactly(value, other.tileType.element.dtype);
    return isOwn ? value : literalAsScalar(value);
  };
  Value left = comparable(a, b), right = comparable(b, a);
  if (!promotion.promote(left, right, op, Arithmetic::Plain)) {
    return Value::poison();
  }
  if (isFloat8(left.tileType.element.dtype)) {
    left = tiles.cast(left, {DType::F32, false});
    right = tiles.cast(right, {DType::F32, false});
  }
  DType type = left.tileType.element.dtype;
  TileType result{{DType::Bool, false}, left.tileType.shape};
  mlir::Value ssa;
  if (isFloat(type)) {
    CmpFPredicate predicate = op == "<"    ? CmpFPredicate::OLT
                              : op == "<=" ? CmpFPredicate::OLE
                              : op == ">"  ? CmpFPredicate::OGT
                              : op == ">=" ? CmpFPredicate::OGE
                              : op == "==" ? CmpFPredicate::OEQ
                                           : CmpFPredicate::UNE;
    ssa = tiles.make<CmpFOp>(predicate, left.ssa, right.ssa);
  } else {
    bool isZeroExtended = isUnsigned(type) || type == DType::Bool;
    CmpIPredicate predicate =
        op == "<"    ? (isZeroExtended ? CmpIPredicate::ult : CmpIPredicate::slt)
        : op == "<=" ? (isZeroExtended ? CmpIPredicate::ule : CmpIPredicate::sle)
        : op == ">"  ? (isZeroExtended ? CmpIPredicate::ugt : CmpIPredicate::sgt)
        : op == ">=" ? (isZeroExtended ? CmpIPredicate::uge : CmpIPredicate::sge)
        : op == "==" ? CmpIPredicate::eq
                     : CmpIPredicate::ne;
    ssa = tiles.make<CmpIOp>(predicate, left.ssa, right.ssa);
  }
  return Value::tile(ssa, result, left.origins);
}

Value Operators::logical(bool isAnd, const Value &a, const Value &b) {
  Value left = tiles.truth(a), right = tiles.truth(b);
  if (left.isPoison() || right.isPoison() || !tiles.broadcastPair(left, right)) {
    return Value::poison();
  }
  return isAnd ? tiles.like<AndIOp>(left, left.ssa, right.ssa)
               : tiles.like<OrIOp>(left, left.ssa, right.ssa);
}

Value Operators::unary(const std::string &op, const Value &a) {
  if (a.isPoison()) {
    return a;
  }
  if (op == "not") {
    if (std::optional<bool> known = constantTruth(a)) {
      return Value::boolean(!*known);
    }
    Value bit = tiles.truth(a);
    if (bit.isPoison()) {
      return bit;
    }
    Value one = tiles.constantTile(Value::boolean(true), DType::Bool, bit.tileType.shape);
    return tiles.like<XOrIOp>(bit, bit.ssa, one.ssa);
  }
  if (a.isWeak()) {
    return folding.unary(op, a);
  }
  Value source = tiles.toTile(a);
  if (source.isPoison() || (op == "+" && !source.isPointer())) {
    return source;
  }
  DType type = source.tileType.element.dtype;
  if (source.isPointer() || (op == "~" && isFloat(type))) {
    return report.fail("E0204", "'" + op + "' does not work on " + describe(a));
  }
  if (op == "~") {
    Value ones = tiles.constantTile(type == DType::Bool ? Value::boolean(true) : Value::whole(-1),
                                    type, source.tileType.shape);
    return tiles.like<XOrIOp>(source, source.ssa, ones.ssa);
  }
  if (type == DType::F8E4B15) {
    return negativeOfE4B15(tiles, source);
  }
  if (isFloat(type)) {
    return throughFloat32(source, source, [&](const Value &x, const Value &) {
      return tiles.like<NegFOp>(x, x.ssa);
    });
  }
  Value zero = tiles.constantTile(Value::whole(0), type, source.tileType.shape);
  return tiles.like<SubIOp>(source, zero.ssa, source.ssa);
}

Value Operators::select(const Value &condition, const Value &a, const Value &b) {
  Value mask = tiles.truth(condition), left = a, right = b;
  if (mask.isPoison()) {
    return mask;
  }
  bool isPointers = a.isPointer() && b.isPointer() && a.tileType.element == b.tileType.element;
  if (isPointers ? !tiles.broadcastPair(left, right)
                 : !promotion.promote(left, right, "where", Arithmetic::Plain)) {
    return Value::poison();
  }
  if (mask.isBlock() || left.isBlock()) {
    if (!tiles.broadcastPair(mask, left) || !tiles.broadcastPair(mask, right) ||
        !tiles.broadcastPair(mask, left)) {
      return Value::poison();
    }
  }
  return tiles.like<SelectOp>(left, mask.ssa, left.ssa, right.ssa);
}

/// Upstream takes literals for scalars here, and computes bfloat16 in float32.
Value Operators::extremumOperand(const Value &value) {
  Value operand = literalAsScalar(value);
  bool isBrain = operand.isTile() && operand.tileType.element == ElementType{DType::BF16, false};
  return isBrain ? tiles.cast(operand, {DType::F32, false}) : operand;
}

Value Operators::extremum(bool isMax, const Value &a, const Value &b, bool propagateNan) {
  Value x = extremumOperand(a), y = extremumOperand(b);
  if (!promotion.promote(x, y, isMax ? "maximum" : "minimum", Arithmetic::Plain)) {
    return Value::poison();
  }
  DType type = x.tileType.element.dtype;
  if (isFloat8(type)) {
    return throughFloat32(x, y, [&](const Value &left, const Value &right) {
      return extremum(isMax, left, right, propagateNan);
    });
  }
  if (isFloat(type) && propagateNan) {
    return isMax ? tiles.like<MaximumFOp>(x, x.ssa, y.ssa)
                 : tiles.like<MinimumFOp>(x, x.ssa, y.ssa);
  }
  if (isFloat(type)) {
    return isMax ? tiles.like<tile::MaxNumOp>(x, x.ssa, y.ssa)
                 : tiles.like<tile::MinNumOp>(x, x.ssa, y.ssa);
  }
  if (isUnsigned(type) || type == DType::Bool) {
    return isMax ? tiles.like<MaxUIOp>(x, x.ssa, y.ssa) : tiles.like<MinUIOp>(x, x.ssa, y.ssa);
  }
  return isMax ? tiles.like<MaxSIOp>(x, x.ssa, y.ssa) : tiles.like<MinSIOp>(x, x.ssa, y.ssa);
}

} // namespace nereid::language::emit
