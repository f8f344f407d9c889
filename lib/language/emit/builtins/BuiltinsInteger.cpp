// SPDX-License-Identifier: Apache-2.0
// Builtins on the bits of integers: the high half of a product, and bit counts.
#include "lib/language/emit/Emitter.h"

namespace nereid::language::emit {

/// High half of the unsigned product of two tiles of 32- or 64-bit integers of one type.
static mlir::Value unsignedHigh(Emitter &emitter, const Value &a, const Value &b) {
  using namespace mlir::arith;
  int bits = bitWidth(a.tileType.element.dtype);
  if (bits == 32) {
    TileType wideType{{DType::U64, false}, a.tileType.shape};
    mlir::Type wide = emitter.tiles.mlirType(wideType);
    mlir::Value product = emitter.tiles.make<MulIOp>(emitter.tiles.make<ExtUIOp>(wide, a.ssa),
                                                     emitter.tiles.make<ExtUIOp>(wide, b.ssa));
    Value half = emitter.tiles.constantTile(Value::whole(32), DType::U64, a.tileType.shape);
    return emitter.tiles.make<TruncIOp>(a.ssa.getType(),
                                        emitter.tiles.make<ShRUIOp>(product, half.ssa));
  }
  // Products of halves, as on paper; the middle column cannot overflow: (2^32-1)^2 + 2 (2^32-1).
  Value mask = emitter.tiles.constantTile(Value::whole(0xFFFFFFFF), DType::U64, a.tileType.shape);
  Value half = emitter.tiles.constantTile(Value::whole(32), DType::U64, a.tileType.shape);
  auto low = [&](mlir::Value x) { return emitter.tiles.make<AndIOp>(x, mask.ssa); };
  auto high = [&](mlir::Value x) { return emitter.tiles.make<ShRUIOp>(x, half.ssa); };
  mlir::Value lowA = low(a.ssa), highA = high(a.ssa), lowB = low(b.ssa), highB = high(b.ssa);
  mlir::Value lowest = emitter.tiles.make<MulIOp>(lowA, lowB);
  mlir::Value first =
      emitter.tiles.make<AddIOp>(emitter.tiles.make<MulIOp>(highA, lowB), high(lowest));
  mlir::Value second =
      emitter.tiles.make<AddIOp>(emitter.tiles.make<MulIOp>(lowA, highB), low(first));
  mlir::Value upper =
      emitter.tiles.make<AddIOp>(emitter.tiles.make<MulIOp>(highA, highB), high(first));
  return emitter.tiles.make<AddIOp>(upper, high(second));
}

/// Both factors as integers of one type of 32 or 64 bits; E0204 otherwise.
static bool bindFactors(Emitter &emitter, const Bound &args, const std::string &name, Value &a,
                        Value &b) {
  a = literalAsScalar(args["x"]);
  b = literalAsScalar(args["y"]);
  if (!emitter.promotion.promote(a, b, name, Arithmetic::Plain)) {
    return false;
  }
  DType type = a.tileType.element.dtype;
  if (isFloat(type) || bitWidth(type) < 32) {
    emitter.report.error("E0204", "'" + name + "' expects integers of 32 or 64 bits, but got " +
                                      describe(args["x"]) + " and " + describe(args["y"]));
    return false;
  }
  return true;
}

Value umulhi(Emitter &emitter, const Bound &args) {
  Value a, b;
  if (!bindFactors(emitter, args, "umulhi", a, b)) {
    return Value::poison();
  }
  return Value::tile(unsignedHigh(emitter, a, b), a.tileType, a.origins);
}

/// The high half of the product, by the sign of the operands' type.
Value mulhi(Emitter &emitter, const Bound &args) {
  Value a, b;
  if (!bindFactors(emitter, args, "mulhi", a, b)) {
    return Value::poison();
  }
  Value high = Value::tile(unsignedHigh(emitter, a, b), a.tileType, a.origins);
  if (isUnsigned(a.tileType.element.dtype)) {
    return high;
  }
  // As an unsigned number a negative factor is too large by 2^bits.
  for (auto [factor, other] : {std::pair(&a, &b), std::pair(&b, &a)}) {
    Value isNegative = emitter.operators.compare("<", *factor, Value::whole(0));
    high = emitter.operators.binary("-", high,
                                    emitter.operators.select(isNegative, *other, Value::whole(0)));
  }
  return high;
}

template <class Op> static Value bitCount(Emitter &emitter, const Value &x, const char *name) {
  Value source = emitter.tiles.toTile(x);
  if (source.isPoison()) {
    return source;
  }
  ElementType type = source.tileType.element;
  if (type.isPointer || isFloat(type.dtype) || bitWidth(type.dtype) < 32) {
    return emitter.report.fail("E0204", "'" + std::string(name) +
                                            "' expects integers of 32 or 64 bits, but got " +
                                            describe(x));
  }
  return emitter.tiles.cast(emitter.tiles.like<Op>(source, source.ssa), {DType::I32, false});
}

Value popc(Emitter &emitter, const Bound &args) {
  return bitCount<mlir::math::CtPopOp>(emitter, args["x"], "popc");
}

Value clz(Emitter &emitter, const Bound &args) {
  return bitCount<mlir::math::CountLeadingZerosOp>(emitter, args["x"], "clz");
}

} // namespace nereid::language::emit
