// SPDX-License-Identifier: Apache-2.0
// The bits of a float16 are sign, 5 exponent bits and 10 mantissa bits of the same bias: the byte
// shifted left by 7 lies in them with the highest exponent bit zero.
#include "lib/language/emit/operators/Float8E4B15.h"

namespace nereid::language::emit {

using namespace mlir::arith;

static Value wordLike(TileBuilder &tiles, const Value &source, int64_t number) {
  return tiles.constantTile(Value::whole(number), DType::I16, source.tileType.shape);
}

static Value byteLike(TileBuilder &tiles, const Value &source, int64_t number) {
  return tiles.constantTile(Value::whole(number), DType::I8, source.tileType.shape);
}

Value halfOfE4B15(TileBuilder &tiles, const Value &source) {
  TileType words{{DType::I16, false}, source.tileType.shape};
  Value word =
      Value::tile(tiles.make<ExtUIOp>(tiles.mlirType(words), source.ssa), words, source.origins);
  auto constant = [&](int64_t number) { return wordLike(tiles, source, number).ssa; };
  Value sign = tiles.like<AndIOp>(word, word.ssa, constant(0x80));
  sign = tiles.like<ShLIOp>(word, sign.ssa, constant(8));
  Value magnitude = tiles.like<AndIOp>(word, word.ssa, constant(0x7F));
  magnitude = tiles.like<ShLIOp>(word, magnitude.ssa, constant(7));
  return tiles.bitcast(tiles.like<OrIOp>(word, sign.ssa, magnitude.ssa), {DType::F16, false});
}

/// float16 toward zero, as upstream converts before it rounds.
static Value choppedHalf(TileBuilder &tiles, const Value &source) {
  DType from = source.tileType.element.dtype;
  if (from == DType::F16 || isFloat8(from)) {
    return tiles.cast(source, {DType::F16, false});
  }
  Value wide = from == DType::BF16 ? tiles.cast(source, {DType::F32, false}) : source;
  TileType halves{{DType::F16, false}, source.tileType.shape};
  auto mode = RoundingModeAttr::get(tiles.builder.getContext(), RoundingMode::toward_zero);
  mlir::Value ssa = tiles.make<TruncFOp>(tiles.mlirType(halves), wide.ssa, mode,
                                         mlir::arith::FastMathFlagsAttr());
  return Value::tile(ssa, halves, source.origins);
}

Value e4b15Of(TileBuilder &tiles, const Value &source) {
  constexpr int64_t largestMade = 0x3F00; // 1.75; the bits of NaN lie above it as well
  Value word = tiles.bitcast(choppedHalf(tiles, source), {DType::I16, false});
  auto constant = [&](int64_t number) { return wordLike(tiles, source, number).ssa; };
  Value sign = tiles.like<ShRUIOp>(word, word.ssa, constant(8));
  if (isFloat8(source.tileType.element.dtype)) { // arithmetic leaves the sign of a NaN open
    TileType words = word.tileType;
    Value byte = tiles.bitcast(source, {DType::I8, false});
    sign = Value::tile(tiles.make<ExtUIOp>(tiles.mlirType(words), byte.ssa), words);
  }
  sign = tiles.like<AndIOp>(word, sign.ssa, constant(0x80));
  Value magnitude = tiles.like<AndIOp>(word, word.ssa, constant(0x7FFF));
  magnitude = tiles.like<MinUIOp>(word, magnitude.ssa, constant(largestMade));
  magnitude = tiles.like<AddIOp>(word, magnitude.ssa, constant(0x40)); // half of the last place
  magnitude = tiles.like<ShRUIOp>(word, magnitude.ssa, constant(7));
  word = tiles.like<OrIOp>(word, sign.ssa, magnitude.ssa);
  return tiles.bitcast(tiles.cast(word, {DType::I8, false}), {DType::F8E4B15, false});
}

Value magnitudeOfE4B15(TileBuilder &tiles, const Value &source) {
  return tiles.like<AndIOp>(source, source.ssa, byteLike(tiles, source, 0x7F).ssa);
}

Value negativeOfE4B15(TileBuilder &tiles, const Value &source) {
  return tiles.like<XOrIOp>(source, source.ssa, byteLike(tiles, source, 0x80).ssa);
}

} // namespace nereid::language::emit
