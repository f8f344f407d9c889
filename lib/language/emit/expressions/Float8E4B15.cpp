// SPDX-License-Identifier: Apache-2.0
// The bits of a float16 are sign, 5 exponent bits and 10 mantissa bits of the same bias: the byte
// shifted left by 7 lies in them with the highest exponent bit zero.
#include "lib/language/emit/expressions/Float8E4B15.h"

namespace nereid::language::emit {

using namespace mlir::arith;

static Value wordLike(Emitter &emitter, const Value &source, int64_t number) {
  return emitter.constantTile(Value::whole(number), DType::I16, source.tileType.shape);
}

static Value byteLike(Emitter &emitter, const Value &source, int64_t number) {
  return emitter.constantTile(Value::whole(number), DType::I8, source.tileType.shape);
}

Value halfOfE4B15(Emitter &emitter, const Value &source) {
  TileType words{{DType::I16, false}, source.tileType.shape};
  Value word = Value::tile(emitter.make<ExtUIOp>(emitter.mlirType(words), source.ssa), words,
                           source.origins);
  auto constant = [&](int64_t number) { return wordLike(emitter, source, number).ssa; };
  Value sign = emitter.like<AndIOp>(word, word.ssa, constant(0x80));
  sign = emitter.like<ShLIOp>(word, sign.ssa, constant(8));
  Value magnitude = emitter.like<AndIOp>(word, word.ssa, constant(0x7F));
  magnitude = emitter.like<ShLIOp>(word, magnitude.ssa, constant(7));
  return emitter.bitcast(emitter.like<OrIOp>(word, sign.ssa, magnitude.ssa), {DType::F16, false});
}

/// float16 toward zero, as upstream converts before it rounds.
static Value choppedHalf(Emitter &emitter, const Value &source) {
  DType from = source.tileType.element.dtype;
  if (from == DType::F16 || isFloat8(from)) {
    return emitter.cast(source, {DType::F16, false});
  }
  Value wide = from == DType::BF16 ? emitter.cast(source, {DType::F32, false}) : source;
  TileType halves{{DType::F16, false}, source.tileType.shape};
  auto mode = RoundingModeAttr::get(emitter.builder.getContext(), RoundingMode::toward_zero);
  mlir::Value ssa = emitter.make<TruncFOp>(emitter.mlirType(halves), wide.ssa, mode,
                                           mlir::arith::FastMathFlagsAttr());
  return Value::tile(ssa, halves, source.origins);
}

Value e4b15Of(Emitter &emitter, const Value &source) {
  constexpr int64_t largestMade = 0x3F00; // 1.75; the bits of NaN lie above it as well
  Value word = emitter.bitcast(choppedHalf(emitter, source), {DType::I16, false});
  auto constant = [&](int64_t number) { return wordLike(emitter, source, number).ssa; };
  Value sign = emitter.like<ShRUIOp>(word, word.ssa, constant(8));
  if (isFloat8(source.tileType.element.dtype)) { // arithmetic leaves the sign of a NaN open
    TileType words = word.tileType;
    Value byte = emitter.bitcast(source, {DType::I8, false});
    sign = Value::tile(emitter.make<ExtUIOp>(emitter.mlirType(words), byte.ssa), words);
  }
  sign = emitter.like<AndIOp>(word, sign.ssa, constant(0x80));
  Value magnitude = emitter.like<AndIOp>(word, word.ssa, constant(0x7FFF));
  magnitude = emitter.like<MinUIOp>(word, magnitude.ssa, constant(largestMade));
  magnitude = emitter.like<AddIOp>(word, magnitude.ssa, constant(0x40)); // half of the last place
  magnitude = emitter.like<ShRUIOp>(word, magnitude.ssa, constant(7));
  word = emitter.like<OrIOp>(word, sign.ssa, magnitude.ssa);
  return emitter.bitcast(emitter.cast(word, {DType::I8, false}), {DType::F8E4B15, false});
}

Value magnitudeOfE4B15(Emitter &emitter, const Value &source) {
  return emitter.like<AndIOp>(source, source.ssa, byteLike(emitter, source, 0x7F).ssa);
}

Value negativeOfE4B15(Emitter &emitter, const Value &source) {
  return emitter.like<XOrIOp>(source, source.ssa, byteLike(emitter, source, 0x80).ssa);
}

} // namespace nereid::language::emit
