// SPDX-License-Identifier: Apache-2.0
// Operators on run-time values: arithmetic, bits, comparisons, logic, pointer offsets. Signed `//`
// and `%` truncate like C; comparisons of floats are ordered, except `!=`.
#include "lib/language/emit/Emitter.h"
#include "lib/language/emit/expressions/Float8E4B15.h"

#include "mlir/IR/Matchers.h"

namespace nereid::language::emit {

using namespace mlir::arith;

static bool isConstantOnly(const Value &value) {
  return value.isString() || value.isTuple() || value.isType() || value.isNone() ||
         value.kind == Value::Kind::Function || value.kind == Value::Kind::Builtin ||
         value.kind == Value::Kind::Module;
}

Value Emitter::addPointer(const Value &pointer, const Value &offset) {
  Value base = pointer, moved = toTile(offset);
  if (moved.isPoison()) {
    return moved;
  }
  ElementType type = moved.tileType.element;
  if (type.isPointer || isFloat(type.dtype)) {
    return fail("E0204", "cannot move " + describe(pointer) + " by " + describe(offset),
                "offsets are integers, counted in elements");
  }
  // tile.addptr reads its offset as signed
  if (type.dtype == DType::Bool) {
    moved = cast(moved, {DType::I32, false});
  } else if (isUnsigned(type.dtype) && bitWidth(type.dtype) < 64) {
    moved = cast(moved, {DType::I64, false});
  }
  if (!broadcastPair(base, moved)) {
    return Value::poison();
  }
  return Value::tile(make<tile::AddPtrOp>(base.ssa.getType(), base.ssa, moved.ssa), base.tileType,
                     base.origins);
}

static Value arithmetic(Emitter &emitter, const std::string &op, const Value &a, const Value &b) {
  bool isReal = isFloat(a.tileType.element.dtype);
  if (op == "+") {
    return isReal ? emitter.like<AddFOp>(a, a.ssa, b.ssa) : emitter.like<AddIOp>(a, a.ssa, b.ssa);
  }
  if (op == "-") {
    return isReal ? emitter.like<SubFOp>(a, a.ssa, b.ssa) : emitter.like<SubIOp>(a, a.ssa, b.ssa);
  }
  return isReal ? emitter.like<MulFOp>(a, a.ssa, b.ssa) : emitter.like<MulIOp>(a, a.ssa, b.ssa);
}

static Value division(Emitter &emitter, const std::string &op, Value a, Value b) {
  DType type = a.tileType.element.dtype;
  bool isReal = isFloat(type);
  if (op == "/") {
    if (!isReal) {
      a = emitter.cast(a, {DType::F32, false});
      b = emitter.cast(b, {DType::F32, false});
    }
    return emitter.like<DivFOp>(a, a.ssa, b.ssa);
  }
  if (op == "%") {
    return isReal             ? emitter.like<RemFOp>(a, a.ssa, b.ssa)
           : isUnsigned(type) ? emitter.like<RemUIOp>(a, a.ssa, b.ssa)
                              : emitter.like<RemSIOp>(a, a.ssa, b.ssa);
  }
  if (isReal) {
    return emitter.fail("E0204",
                        "'//' expects integers, but got " + describe(a) + " and " + describe(b),
                        "use tl.floor(x / y)");
  }
  return isUnsigned(type) ? emitter.like<DivUIOp>(a, a.ssa, b.ssa)
                          : emitter.like<DivSIOp>(a, a.ssa, b.ssa);
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

static Value bits(Emitter &emitter, const std::string &op, const Value &a, Value b,
                  bool isArithmetic) {
  if (op == "&") {
    return emitter.like<AndIOp>(a, a.ssa, b.ssa);
  }
  if (op == "|") {
    return emitter.like<OrIOp>(a, a.ssa, b.ssa);
  }
  if (op == "^") {
    return emitter.like<XOrIOp>(a, a.ssa, b.ssa);
  }
  if (shiftsOut(b)) { // arith leaves the result open: of two constants LLVM makes poison at once
    const TileType &type = a.tileType;
    Value zero = emitter.constantTile(Value::whole(0), type.element.dtype, type.shape);
    if (op == "<<" || !isArithmetic) {
      return zero;
    }
    b = emitter.constantTile(Value::whole(bitWidth(type.element.dtype) - 1), type.element.dtype,
                             type.shape);
  }
  if (op == "<<") {
    return emitter.like<ShLIOp>(a, a.ssa, b.ssa);
  }
  return isArithmetic ? emitter.like<ShRSIOp>(a, a.ssa, b.ssa)
                      : emitter.like<ShRUIOp>(a, a.ssa, b.ssa);
}

/// Arithmetic on 8-bit floats is done in float32, where it is exact or nearly so, and rounded back
/// once; targets need nothing but the conversions.
static Value throughFloat32(Emitter &emitter, const Value &a, const Value &b,
                            const std::function<Value(const Value &, const Value &)> &compute) {
  ElementType narrow = a.tileType.element;
  if (!isFloat8(narrow.dtype)) {
    return compute(a, b);
  }
  ElementType wide{DType::F32, false};
  return emitter.cast(compute(emitter.cast(a, wide), emitter.cast(b, wide)), narrow);
}

Value Emitter::binary(const std::string &op, const Value &a, const Value &b) {
  if (a.isPoison() || b.isPoison()) {
    return Value::poison();
  }
  bool isFoldable = (a.isWeak() || isConstantOnly(a)) && (b.isWeak() || isConstantOnly(b));
  if (isFoldable || a.isTuple() || b.isTuple() || a.isString() || b.isString()) {
    return foldBinary(op, a, b);
  }
  if (op == "**") {
    return power(a, b);
  }
  if (op == "+" && a.isPointer() != b.isPointer()) {
    return a.isPointer() ? addPointer(a, b) : addPointer(b, a);
  }
  if (op == "-" && a.isPointer() && !b.isPointer()) {
    Value offset = unary("-", isConstantOnly(b) ? toTile(b) : b);
    return offset.isPoison() ? offset : addPointer(a, offset);
  }
  Value left = a, right = b;
  if (op == "+" || op == "-" || op == "*") {
    return promote(left, right, op, Arithmetic::Plain)
               ? throughFloat32(
                     *this, left, right,
                     [&](const Value &x, const Value &y) { return arithmetic(*this, op, x, y); })
               : Value::poison();
  }
  if (op == "/" || op == "//" || op == "%") {
    return promote(left, right, op, Arithmetic::Division)
               ? throughFloat32(
                     *this, left, right,
                     [&](const Value &x, const Value &y) { return division(*this, op, x, y); })
               : Value::poison();
  }
  if (op == "&" || op == "|" || op == "^" || op == "<<" || op == ">>") {
    return promote(left, right, op, Arithmetic::Bitwise)
               ? bits(*this, op, left, right, shiftsSign(a, b))
               : Value::poison();
  }
  return fail("E0311", "operator '" + op + "' is not supported in a kernel",
              op == "@" ? "use tl.dot" : "");
}

Value Emitter::power(const Value &a, const Value &b) {
  std::optional<Value> exponent = knownNumber(b);
  bool isSmall =
      exponent && exponent->isWhole() && exponent->integer >= 0 && exponent->integer <= 64;
  Value base = toTile(a);
  if (base.isPoison()) {
    return base;
  }
  bool isReal = !base.isPointer() && isFloat(base.tileType.element.dtype);
  if (isSmall && !base.isPointer() && (!isReal || exponent->integer <= 3)) {
    auto count = static_cast<int>(exponent->integer);
    Value result = constantTile(Value::whole(1), base.tileType.element.dtype, base.tileType.shape);
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
  if (!promote(left, right, "**", Arithmetic::Plain)) {
    return Value::poison();
  }
  if (!isFloat(left.tileType.element.dtype)) {
    return fail("E0204",
                "'**' of integers expects a constant exponent from 0 to 64, but got " + describe(b),
                "convert the base with .to(tl.float32)");
  }
  return throughFloat32(*this, left, right, [&](const Value &x, const Value &y) {
    return like<mlir::math::PowFOp>(x, x.ssa, y.ssa);
  });
}

Value Emitter::compare(const std::string &op, const Value &a, const Value &b) {
  if (a.isPoison() || b.isPoison()) {
    return Value::poison();
  }
  if (b.kind == Value::Kind::Import && b.text == "os.environ" && (op == "in" || op == "not in")) {
    return Value::boolean(op == "not in"); // settings have their defaults here
  }
  if (a.kind == Value::Kind::Import || b.kind == Value::Kind::Import) {
    return failNotFound(a.kind == Value::Kind::Import ? a : b);
  }
  bool isFoldable = (a.isWeak() || isConstantOnly(a)) && (b.isWeak() || isConstantOnly(b));
  bool isEquality = op == "==" || op == "!=" || op == "is" || op == "is not";
  if (isFoldable || op == "in" || op == "not in" ||
      (isEquality && (isConstantOnly(a) || isConstantOnly(b)))) {
    return foldCompare(op, a, b);
  }
  if (op == "is" || op == "is not") {
    std::optional<Value> left = knownNumber(a), right = knownNumber(b);
    if (left && right) {
      return foldCompare(op, *left, *right);
    }
    return fail("E0204",
                "'" + op + "' on " + describe(a) + " and " + describe(b) +
                    " is only known at run time",
                "use == to compare values");
  }
  // A literal that the other operand's type holds is compared in that type: the result is the same.
  auto comparable = [&](const Value &value, const Value &other) {
    bool isOwn = value.isWeak() && other.isTile() && !other.isPointer() &&
                 isExactly(value, other.tileType.element.dtype);
    return isOwn ? value : literalAsScalar(value);
  };
  Value left = comparable(a, b), right = comparable(b, a);
  if (!promote(left, right, op, Arithmetic::Plain)) {
    return Value::poison();
  }
  if (isFloat8(left.tileType.element.dtype)) {
    left = cast(left, {DType::F32, false});
    right = cast(right, {DType::F32, false});
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
    ssa = make<CmpFOp>(predicate, left.ssa, right.ssa);
  } else {
    bool isZeroExtended = isUnsigned(type) || type == DType::Bool;
    CmpIPredicate predicate =
        op == "<"    ? (isZeroExtended ? CmpIPredicate::ult : CmpIPredicate::slt)
        : op == "<=" ? (isZeroExtended ? CmpIPredicate::ule : CmpIPredicate::sle)
        : op == ">"  ? (isZeroExtended ? CmpIPredicate::ugt : CmpIPredicate::sgt)
        : op == ">=" ? (isZeroExtended ? CmpIPredicate::uge : CmpIPredicate::sge)
        : op == "==" ? CmpIPredicate::eq
                     : CmpIPredicate::ne;
    ssa = make<CmpIOp>(predicate, left.ssa, right.ssa);
  }
  return Value::tile(ssa, result, left.origins);
}

Value Emitter::logical(bool isAnd, const Value &a, const Value &b) {
  Value left = truth(a), right = truth(b);
  if (left.isPoison() || right.isPoison() || !broadcastPair(left, right)) {
    return Value::poison();
  }
  return isAnd ? like<AndIOp>(left, left.ssa, right.ssa) : like<OrIOp>(left, left.ssa, right.ssa);
}

static Value unaryOfConstant(Emitter &emitter, const std::string &op, const Value &a) {
  if (op == "+") {
    return a.kind == Value::Kind::Bool ? Value::whole(a.integer) : a;
  }
  if (op == "~") {
    return a.isWhole() ? Value::whole(~a.integer)
                       : emitter.fail("E0204", "'~' expects an integer, but got " + describe(a));
  }
  return a.isWhole() ? Value::whole(-a.integer) : Value::floating(-a.real);
}

Value Emitter::unary(const std::string &op, const Value &a) {
  if (a.isPoison()) {
    return a;
  }
  if (op == "not") {
    if (std::optional<bool> known = constantTruth(a)) {
      return Value::boolean(!*known);
    }
    Value bit = truth(a);
    if (bit.isPoison()) {
      return bit;
    }
    Value one = constantTile(Value::boolean(true), DType::Bool, bit.tileType.shape);
    return like<XOrIOp>(bit, bit.ssa, one.ssa);
  }
  if (a.isWeak()) {
    return unaryOfConstant(*this, op, a);
  }
  Value source = toTile(a);
  if (source.isPoison() || (op == "+" && !source.isPointer())) {
    return source;
  }
  DType type = source.tileType.element.dtype;
  if (source.isPointer() || (op == "~" && isFloat(type))) {
    return fail("E0204", "'" + op + "' does not work on " + describe(a));
  }
  if (op == "~") {
    Value ones = constantTile(type == DType::Bool ? Value::boolean(true) : Value::whole(-1), type,
                              source.tileType.shape);
    return like<XOrIOp>(source, source.ssa, ones.ssa);
  }
  if (type == DType::F8E4B15) {
    return negativeOfE4B15(*this, source);
  }
  if (isFloat(type)) {
    return throughFloat32(*this, source, source,
                          [&](const Value &x, const Value &) { return like<NegFOp>(x, x.ssa); });
  }
  Value zero = constantTile(Value::whole(0), type, source.tileType.shape);
  return like<SubIOp>(source, zero.ssa, source.ssa);
}

Value Emitter::select(const Value &condition, const Value &a, const Value &b) {
  Value mask = truth(condition), left = a, right = b;
  if (mask.isPoison()) {
    return mask;
  }
  bool isPointers = a.isPointer() && b.isPointer() && a.tileType.element == b.tileType.element;
  if (isPointers ? !broadcastPair(left, right)
                 : !promote(left, right, "where", Arithmetic::Plain)) {
    return Value::poison();
  }
  if (mask.isBlock() || left.isBlock()) {
    if (!broadcastPair(mask, left) || !broadcastPair(mask, right) || !broadcastPair(mask, left)) {
      return Value::poison();
    }
  }
  return like<SelectOp>(left, mask.ssa, left.ssa, right.ssa);
}

/// Upstream takes literals for scalars here, and computes bfloat16 in float32.
static Value extremumOperand(Emitter &emitter, const Value &value) {
  Value operand = emitter.literalAsScalar(value);
  bool isBrain = operand.isTile() && operand.tileType.element == ElementType{DType::BF16, false};
  return isBrain ? emitter.cast(operand, {DType::F32, false}) : operand;
}

Value Emitter::extremum(bool isMax, const Value &a, const Value &b, bool propagateNan) {
  Value x = extremumOperand(*this, a), y = extremumOperand(*this, b);
  if (!promote(x, y, isMax ? "maximum" : "minimum", Arithmetic::Plain)) {
    return Value::poison();
  }
  DType type = x.tileType.element.dtype;
  if (isFloat8(type)) {
    return throughFloat32(*this, x, y, [&](const Value &left, const Value &right) {
      return extremum(isMax, left, right, propagateNan);
    });
  }
  if (isFloat(type) && propagateNan) {
    return isMax ? like<MaximumFOp>(x, x.ssa, y.ssa) : like<MinimumFOp>(x, x.ssa, y.ssa);
  }
  if (isFloat(type)) {
    return isMax ? like<tile::MaxNumOp>(x, x.ssa, y.ssa) : like<tile::MinNumOp>(x, x.ssa, y.ssa);
  }
  if (isUnsigned(type) || type == DType::Bool) {
    return isMax ? like<MaxUIOp>(x, x.ssa, y.ssa) : like<MinUIOp>(x, x.ssa, y.ssa);
  }
  return isMax ? like<MaxSIOp>(x, x.ssa, y.ssa) : like<MinSIOp>(x, x.ssa, y.ssa);
}

} // namespace nereid::language::emit
