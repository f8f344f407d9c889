// SPDX-License-Identifier: Apache-2.0
// make_block_ptr and advance. A block pointer is a value of the front end alone: tl.load and
// tl.store turn it into a tile of pointers (BlockAccess.h).
#include "lib/language/emit/builtins/BlockAccess.h"

#include <algorithm>

namespace nereid::language::emit {

/// The order of dimensions in memory is a hint that nothing here needs; it must make sense.
static bool checkOrder(Emitter &emitter, const Value &given, size_t rank) {
  std::optional<Shape> order = emitter.constants.shape(given, "'order' of 'make_block_ptr'");
  if (!order) {
    return false;
  }
  Shape sorted = *order;
  std::sort(sorted.begin(), sorted.end());
  bool isPermutation = sorted.size() == rank;
  for (size_t i = 0; isPermutation && i < rank; ++i) {
    isPermutation = sorted[i] == static_cast<int64_t>(i);
  }
  if (!isPermutation) {
    emitter.report.error("E0216", "'order' of 'make_block_ptr' expects each dimension from 0 to " +
                                      std::to_string(rank - 1) + " once, but got " +
                                      shapeText(*order));
  }
  return isPermutation;
}

Value makeBlockPointer(Emitter &emitter, const Bound &args) {
  const std::string of = " of 'make_block_ptr'";
  if (!checkBase(emitter, args["base"], "'base'" + of)) {
    return Value::poison();
  }
  Value pointer;
  pointer.kind = Value::Kind::BlockPointer;
  std::optional<Shape> block = blockShape(emitter, args, "'block_shape'" + of, pointer.origins);
  if (!block) {
    return Value::poison();
  }
  size_t rank = block->size();
  Value sizes = indexTuple(emitter, args["shape"], rank, DType::I64, "'shape'" + of);
  Value strides = indexTuple(emitter, args["strides"], rank, DType::I64, "'strides'" + of);
  Value offsets = indexTuple(emitter, args["offsets"], rank, DType::I64, "'offsets'" + of);
  if (sizes.isPoison() || strides.isPoison() || offsets.isPoison() ||
      !checkOrder(emitter, args["order"], rank)) {
    return Value::poison();
  }
  pointer.tileType = {{args["base"].tileType.element.dtype, false}, *block};
  pointer.elements = {args["base"], std::move(sizes), std::move(strides), std::move(offsets)};
  return pointer;
}

Value advanceBuiltin(Emitter &emitter, const Bound &args) {
  Value pointer = args["base"];
  if (pointer.kind != Value::Kind::BlockPointer) {
    return emitter.report.fail(
        "E0216", "'advance' expects a block pointer, but got " + describe(pointer),
        "make one with tl.make_block_ptr; add an integer to move other pointers");
  }
  Value steps = indexTuple(emitter, args["offsets"], pointer.tileType.shape.size(), DType::I64,
                           "'offsets' of 'advance'");
  if (steps.isPoison()) {
    return steps;
  }
  std::vector<Value> &offsets = pointer.elements[BlockParts::Offsets].elements;
  for (size_t i = 0; i < offsets.size(); ++i) {
    std::optional<Value> step = knownNumber(steps.elements[i]);
    if (step && step->integer == 0) {
      continue;
    }
    offsets[i] = indexValue(emitter, emitter.operators.binary("+", offsets[i], steps.elements[i]),
                            DType::I64, "'offsets' of 'advance'");
    if (offsets[i].isPoison()) {
      return Value::poison();
    }
  }
  return pointer;
}

} // namespace nereid::language::emit
