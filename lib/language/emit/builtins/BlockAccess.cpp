// SPDX-License-Identifier: Apache-2.0
// The scalar part of every address, base + offset · stride over all dimensions, is added up first,
// so that what varies over the tile is a range times a stride: rows with a stride of 1 are seen to
// be contiguous, and what is uniform leaves the loops.
#include "lib/language/emit/builtins/BlockAccess.h"

#include <cmath>

namespace nereid::language::emit {

Value indexValue(Emitter &emitter, const Value &given, DType type, const std::string &what) {
  if (given.isPoison()) {
    return given;
  }
  std::optional<Value> known = knownNumber(given);
  if (known && known->isWhole()) {
    Value constant = Value::whole(known->integer);
    constant.bound = type;
    return constant;
  }
  bool isInteger = given.isTile() && !given.isBlock() && !given.isPointer() &&
                   !isFloat(given.tileType.element.dtype);
  if (!isInteger) {
    return emitter.report.fail(
        "E0216", what + " expects integers, but got " + describe(given),
        given.isBlock() ? "the block adds its own range of indices to a scalar" : "");
  }
  return emitter.tiles.cast(given, {type, false});
}

Value indexTuple(Emitter &emitter, const Value &given, size_t rank, DType type,
                 const std::string &what) {
  std::vector<Value> elements = given.isTuple() ? given.elements : std::vector<Value>{given};
  if (elements.size() != rank) {
    return emitter.report.fail("E0216", what + " expects " + std::to_string(rank) +
                                            (rank == 1 ? " value" : " values") + ", but got " +
                                            std::to_string(elements.size()));
  }
  for (Value &element : elements) {
    element = indexValue(emitter, element, type, what);
    if (element.isPoison()) {
      return element;
    }
  }
  return Value::tuple(std::move(elements));
}

bool checkBase(Emitter &emitter, const Value &base, const std::string &what) {
  if (base.isPointer() && !base.isBlock()) {
    return true;
  }
  emitter.report.error("E0216", what + " expects a scalar pointer, but got " + describe(base))
      .withHelp(base.isNone() ? "the argument is None in this specialisation; guard the use with "
                                "'is not None'"
                              : "pass the address of the first element");
  return false;
}

std::optional<Shape> blockShape(Emitter &emitter, const Bound &args, const std::string &what,
                                Origins &origins) {
  std::optional<Shape> shape = emitter.constants.shape(args["block_shape"], what);
  if (!shape || !emitter.tiles.checkShape(*shape)) {
    return std::nullopt;
  }
  if (shape->empty()) {
    emitter.report.error("E0216", what + " expects at least one size, but got none");
    return std::nullopt;
  }
  const Expr *expr = args.expr("block_shape");
  bool isDisplay = expr && (expr->kind == ExprKind::Tuple || expr->kind == ExprKind::List) &&
                   expr->operands.size() == shape->size();
  for (size_t i = 0; i < shape->size(); ++i) {
    origins.push_back(
        emitter.position.origin(isDisplay ? expr->operands[i].get() : expr, (*shape)[i]));
  }
  return shape;
}

/// The offsets 0 … size-1.
static Value indexRange(Emitter &emitter, int64_t size) {
  TileType type{{DType::I32, false}, {size}};
  mlir::Value ssa = emitter.tiles.make<tile::MakeRangeOp>(emitter.tiles.mlirType(type), 0,
                                                          static_cast<uint32_t>(size));
  return emitter.tiles.cast(Value::tile(ssa, type), {DType::I64, false});
}

/// A tile of rank 1 as one that varies along dimension `at` of `rank` dimensions.
static Value alongDimension(Emitter &emitter, Value tile, size_t at, size_t rank) {
  for (size_t d = 0; d < rank; ++d) {
    if (d != at) {
      tile = emitter.tiles.expandDim(tile, static_cast<int64_t>(d));
    }
  }
  return tile;
}

static bool isKnownToBe(Emitter &emitter, const Value &value, Integer wanted) {
  std::optional<Value> known = knownNumber(value);
  return known && known->integer == wanted;
}

static bool isKnownNotNegative(Emitter &emitter, const Value &value) {
  std::optional<Value> known = knownNumber(value);
  return known && known->integer >= 0;
}

/// Where offset + range is an index of a dimension of the size.
static Value inside(Emitter &emitter, const Value &offset, const Value &range, const Value &size) {
  Value index =
      isKnownToBe(emitter, offset, 0) ? range : emitter.operators.binary("+", range, offset);
  Value isBelow =
      emitter.operators.compare("<", index, emitter.tiles.cast(size, {DType::I64, false}));
  if (isKnownNotNegative(emitter, offset)) {
    return isBelow;
  }
  return emitter.operators.logical(true, emitter.operators.compare(">=", index, Value::whole(0)),
                                   isBelow);
}

static BlockTile addressBlock(Emitter &emitter, const Value &access,
                              llvm::ArrayRef<bool> isChecked) {
  const std::vector<Value> &sizes = access.elements[BlockParts::Sizes].elements;
  const std::vector<Value> &strides = access.elements[BlockParts::Strides].elements;
  size_t rank = isChecked.size();
  std::vector<Value> offsets, ranges;
  for (size_t d = 0; d < rank; ++d) {
    const Value &offset = access.elements[BlockParts::Offsets].elements[d];
    offsets.push_back(emitter.tiles.cast(offset, {DType::I64, false}));
    ranges.push_back(indexRange(emitter, access.tileType.shape[d]));
  }
  Value pointers = access.elements[BlockParts::Base];
  for (size_t d = 0; d < rank; ++d) {
    if (!isKnownToBe(emitter, offsets[d], 0)) {
      pointers = emitter.operators.addPointer(
          pointers, emitter.operators.binary("*", offsets[d], strides[d]));
    }
  }
  Value mask;
  for (size_t d = 0; d < rank; ++d) {
    Value moved = isKnownToBe(emitter, strides[d], 1)
                      ? ranges[d]
                      : emitter.operators.binary("*", ranges[d], strides[d]);
    pointers = emitter.operators.addPointer(pointers, alongDimension(emitter, moved, d, rank));
    if (isChecked[d]) {
      Value holds =
          alongDimension(emitter, inside(emitter, offsets[d], ranges[d], sizes[d]), d, rank);
      mask = mask.isNone() ? holds : emitter.operators.logical(true, mask, holds);
    }
    if (pointers.isPoison() || mask.isPoison()) {
      return {Value::poison(), Value::none()};
    }
  }
  if (!mask.isNone() && !emitter.tiles.broadcastPair(pointers, mask)) {
    return {Value::poison(), Value::none()};
  }
  return {pointers, mask};
}

/// True for each dimension that boundary_check names.
static std::optional<llvm::SmallVector<bool>> checkedDimensions(Emitter &emitter, const Bound &args,
                                                                size_t rank) {
  llvm::SmallVector<bool> isChecked(rank, false);
  const Value &given = args["boundary_check"];
  if (given.isNone()) {
    return isChecked;
  }
  std::optional<Shape> named = emitter.constants.shape(given, "'boundary_check'");
  if (!named) {
    return std::nullopt;
  }
  for (int64_t dimension : *named) {
    if (dimension < 0 || dimension >= static_cast<int64_t>(rank)) {
      emitter.report.error("E0216", "'boundary_check' expects dimensions from 0 to " +
                                        std::to_string(rank - 1) + ", but got " +
                                        std::to_string(dimension));
      return std::nullopt;
    }
    isChecked[static_cast<size_t>(dimension)] = true;
  }
  return isChecked;
}

BlockTile addressForAccess(Emitter &emitter, const Bound &args, const char *name) {
  const Value &access = args["pointer"];
  for (const char *refused : {"mask", "other"}) {
    if (!args[refused].isNone()) {
      return {emitter.report.fail("E0216",
                                  "'" + std::string(name) + "' of a block pointer takes no '" +
                                      refused + "', but got " + describe(args[refused]),
                                  "name the dimensions that can end early in 'boundary_check'"),
              Value::none()};
    }
  }
  auto isChecked = checkedDimensions(emitter, args, access.tileType.shape.size());
  if (!isChecked) {
    return {Value::poison(), Value::none()};
  }
  return addressBlock(emitter, access, *isChecked);
}

Value paddingValue(Emitter &emitter, const Value &option, DType type) {
  std::optional<std::string> text = emitter.constants.string(option, "'padding_option'");
  if (!text) {
    return Value::poison();
  }
  bool isNan = *text == "nan";
  if (!isNan && !text->empty() && *text != "zero") {
    return emitter.report.fail("E0229", "'padding_option' expects 'zero', 'nan' or '', but got '" +
                                            *text + "'");
  }
  if (isNan && (!isFloat(type) || type == DType::F8E4B15)) {
    return emitter.report.fail("E0216",
                               "'padding_option' is 'nan', but the elements are " +
                                   typeText(ElementType{type, false}) + ", which has none",
                               "pad them with 'zero'");
  }
  return isNan ? Value::floating(std::nan("")) : Value::whole(0);
}

} // namespace nereid::language::emit
