// SPDX-License-Identifier: Apache-2.0
// tl.dot_scaled: operands in the microscaling formats of the Open Compute Project's specification
// (OCP MX v1.0), 32 elements along the contracted dimension sharing a scale 2^(byte - 127), or in
// NVFP4, where 16 elements share a scale in float8e4nv. They are unpacked and scaled in bfloat16,
// or in float16 when an operand has it, and go to tl.dot.
#include "lib/language/emit/Emitter.h"

namespace nereid::language::emit {

static constexpr int64_t mxGroup = 32, nvGroup = 16;

/// One operand: [.., M, K] on the left, [.., K, N] on the right.
struct ScaledOperand {
  std::string name; ///< "lhs"
  Value value, scale;
  std::string format;
  bool isRight = false, isPackedAlongK = true;

  size_t rank() const { return value.tileType.shape.size(); }
  size_t contracted() const { return rank() - (isRight ? 2 : 1); }
  size_t packed() const { return isPackedAlongK ? contracted() : 2 * rank() - 3 - contracted(); }
};

static Value permuted(Emitter &emitter, const Value &value, llvm::ArrayRef<int32_t> order) {
  TileType type = value.tileType;
  for (size_t i = 0; i < order.size(); ++i) {
    type.shape[i] = value.tileType.shape[static_cast<size_t>(order[i])];
  }
  return Value::tile(
      emitter.tiles.make<tile::TransOp>(emitter.tiles.mlirType(type), value.ssa, order), type);
}

static Value swappedLast(Emitter &emitter, const Value &value) {
  llvm::SmallVector<int32_t> order;
  for (size_t i = 0; i < value.tileType.shape.size(); ++i) {
    order.push_back(static_cast<int32_t>(i));
  }
  std::swap(order[order.size() - 1], order[order.size() - 2]);
  return permuted(emitter, value, order);
}

static Value unsignedConstant(uint64_t number, DType type) {
  Value value = Value::whole(static_cast<Integer>(number));
  value.bound = type;
  return value;
}

/// Bits of a bfloat16 from a u16 tile.
static Value asBrain(Emitter &emitter, const Value &bits) {
  return emitter.tiles.bitcast(bits, {DType::BF16, false});
}

/// The numbers 0, 0.5, 1, 1.5, 2, 3, 4, 6 by the low three bits, the sign by the fourth.
static Value decodeNibble(Emitter &emitter, const Value &nibbles) {
  auto word = [](uint64_t number) { return unsignedConstant(number, DType::U16); };
  Value bits = emitter.tiles.cast(nibbles, {DType::U16, false});
  Value code = emitter.operators.binary("&", bits, word(7));
  Value sign =
      emitter.operators.binary("<<", emitter.operators.binary("&", bits, word(8)), word(12));
  // From 1 on the code's exponent and mantissa are a bfloat16's but for the bias; 0.5 is the only
  // subnormal number besides 0.
  Value normal =
      emitter.operators.binary("+", emitter.operators.binary("<<", code, word(6)), word(0x3F00));
  Value magnitude = emitter.operators.select(emitter.operators.compare(">=", code, word(2)), normal,
                                             emitter.operators.binary("*", code, word(0x3F00)));
  return asBrain(emitter, emitter.operators.binary("|", magnitude, sign));
}

/// Two numbers in each byte, the first in the low four bits, side by side along the packed axis.
static Value unpack(Emitter &emitter, const ScaledOperand &operand) {
  Value low = decodeNibble(
      emitter, emitter.operators.binary("&", operand.value, unsignedConstant(15, DType::U8)));
  Value high = decodeNibble(
      emitter, emitter.operators.binary(">>", operand.value, unsignedConstant(4, DType::U8)));
  TileType pair = low.tileType;
  pair.shape.push_back(2);
  Value joined = Value::tile(
      emitter.tiles.make<tile::JoinOp>(emitter.tiles.mlirType(pair), low.ssa, high.ssa), pair);
  Shape shape = operand.value.tileType.shape;
  shape[operand.packed()] *= 2;
  if (operand.packed() + 1 != operand.rank()) {
    joined = swappedLast(emitter, joined); // the pair goes beside the axis it belongs to
  }
  return emitter.tiles.reshapeTo(joined, shape);
}

/// E0214 unless the element type is the format's, or an unsigned integer of its width.
static Value withFormat(Emitter &emitter, const ScaledOperand &operand) {
  struct Row {
    const char *format;
    DType type, bits;
  };
  static const Row rows[] = {{"e4m3", DType::F8E4M3FN, DType::U8},
                             {"e5m2", DType::F8E5M2, DType::U8},
                             {"fp16", DType::F16, DType::U16},
                             {"bf16", DType::BF16, DType::U16},
                             {"e2m1", DType::U8, DType::U8}};
  ElementType given = operand.value.tileType.element;
  for (const Row &row : rows) {
    if (operand.format != row.format) {
      continue;
    }
    if (given.isPointer || (given.dtype != row.type && given.dtype != row.bits)) {
      return emitter.report.fail("E0214",
                                 "'" + operand.name + "' of 'tl.dot_scaled' has the format '" +
                                     operand.format + "' and expects elements of " +
                                     typeText(ElementType{row.type, false}) + ", but got " +
                                     typeText(given),
                                 "'e2m1' is two numbers in a u8; the others may come as bits in an "
                                 "unsigned integer of their width");
    }
    if (operand.format == "e2m1") {
      return unpack(emitter, operand);
    }
    return emitter.tiles.bitcast(operand.value, {row.type, false});
  }
  return emitter.report.fail("E0229",
                             "'" + operand.name +
                                 "_format' of 'tl.dot_scaled' expects 'e2m1', 'e4m3', 'e5m2', "
                                 "'fp16' or 'bf16', but got '" +
                                 operand.format + "'");
}

/// 2^(byte - 127) as bfloat16, NaN for 255.
static Value decodeScale(Emitter &emitter, const Value &bytes) {
  auto word = [](uint64_t number) { return unsignedConstant(number, DType::U16); };
  Value code = emitter.tiles.cast(bytes, {DType::U16, false});
  Value normal = emitter.operators.binary("<<", code, word(7));
  Value small = emitter.operators.select(emitter.operators.compare("==", code, word(0)),
                                         word(0x0040), normal);
  return asBrain(emitter, emitter.operators.select(emitter.operators.compare("==", code, word(255)),
                                                   word(0x7FC0), small));
}

/// The operand times its scales in `type`; `value` is unpacked.
static Value scaled(Emitter &emitter, const ScaledOperand &operand, const Value &value,
                    DType type) {
  Value wide = emitter.tiles.cast(value, {type, false});
  if (operand.scale.isNone() || wide.isPoison()) {
    return wide;
  }
  Value scale = emitter.tiles.toTile(operand.scale);
  if (scale.isPoison()) {
    return scale;
  }
  // Scales lie as [.., M, K/32] and [.., N, K/32]: on the right turned against the operand.
  Shape turned = wide.tileType.shape;
  if (operand.isRight) {
    std::swap(turned[turned.size() - 1], turned[turned.size() - 2]);
  }
  const bool isFloat8Scale = scale.tileType.element == ElementType{DType::F8E4M3FN, false};
  const int64_t groupSize = isFloat8Scale ? nvGroup : mxGroup;
  Shape expected = turned;
  expected.back() = turned.back() / groupSize;
  bool isByte = isFloat8Scale || scale.tileType.element == ElementType{DType::U8, false} ||
                scale.tileType.element == ElementType{DType::I8, false};
  if (!isByte || turned.back() % groupSize != 0 || scale.tileType.shape != expected) {
    return emitter.report.fail(
        "E0214",
        "'" + operand.name + "_scale' of 'tl.dot_scaled' expects " +
            typeText(TileType{{DType::U8, false}, expected}) + ", but got " + describe(scale),
        "one byte 2^(byte - 127) for 32 elements along K, or one float8e4nv for "
        "16; K is the last dimension of the scales of both operands");
  }
  scale = isFloat8Scale ? emitter.tiles.cast(scale, {DType::BF16, false})
                        : decodeScale(emitter, emitter.tiles.bitcast(scale, {DType::U8, false}));
  scale = emitter.tiles.expandDim(scale, static_cast<int64_t>(expected.size()));
  Shape repeated = expected;
  repeated.push_back(groupSize);
  scale = emitter.tiles.reshapeTo(emitter.tiles.broadcastTo(scale, repeated), turned);
  if (operand.isRight) {
    scale = swappedLast(emitter, scale);
  }
  // float16 has not the range of the scales: multiply in float32, where it is exact, and round.
  DType product = type == DType::F16 ? DType::F32 : type;
  Value result = emitter.operators.binary("*", emitter.tiles.cast(wide, {product, false}),
                                          emitter.tiles.cast(scale, {product, false}));
  return emitter.tiles.cast(result, {type, false});
}

static std::optional<ScaledOperand> bindOperand(Emitter &emitter, const Bound &args,
                                                const std::string &name) {
  ScaledOperand operand;
  operand.name = name;
  operand.isRight = name == "rhs";
  operand.value = emitter.tiles.toTile(args[name]);
  operand.scale = args[name + "_scale"];
  std::optional<std::string> format =
      emitter.constants.string(args[name + "_format"], "'" + name + "_format'");
  std::optional<bool> isPackedAlongK =
      emitter.constants.flag(args[name + "_k_pack"], "'" + name + "_k_pack'");
  if (operand.value.isPoison() || !format || !isPackedAlongK) {
    return std::nullopt;
  }
  operand.format = *format;
  operand.isPackedAlongK = *isPackedAlongK;
  if (operand.rank() < 2 || operand.rank() > 3) {
    emitter.report.error("E0214", "'" + name +
                                      "' of 'tl.dot_scaled' expects a tile of rank 2 or 3, but "
                                      "got " +
                                      describe(operand.value));
    return std::nullopt;
  }
  return operand;
}

Value dotScaled(Emitter &emitter, const Bound &args) {
  std::optional<ScaledOperand> left = bindOperand(emitter, args, "lhs");
  std::optional<ScaledOperand> right = bindOperand(emitter, args, "rhs");
  std::optional<bool> isFastMath = emitter.constants.flag(args["fast_math"], "'fast_math'");
  if (!left || !right || !isFastMath) {
    return Value::poison();
  }
  Value a = withFormat(emitter, *left), b = withFormat(emitter, *right);
  if (a.isPoison() || b.isPoison()) {
    return Value::poison();
  }
  bool isHalf = left->format == "fp16" || right->format == "fp16";
  DType type = isHalf ? DType::F16 : DType::BF16;
  a = scaled(emitter, *left, a, type);
  b = scaled(emitter, *right, b, type);
  if (a.isPoison() || b.isPoison()) {
    return Value::poison();
  }
  return emitter.evaluation.callBuiltin(*findBuiltin("dot", 'T'),
                                        {{"", a, args.expr("lhs")}, {"", b, args.expr("rhs")}},
                                        {{"acc", args["acc"], args.expr("acc")},
                                         {"out_dtype", args["out_dtype"], args.expr("out_dtype")}});
}

} // namespace nereid::language::emit
