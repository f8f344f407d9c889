// SPDX-License-Identifier: Apache-2.0
// Combining elements by a region; see the header.
#include "lib/interpreter/operations/Combine.h"

namespace nereid::interpreter {

static bool isElementwise(mlir::Block &block) {
  return llvm::all_of(block.without_terminator(), [](mlir::Operation &op) {
    return op.getNumRegions() == 0 &&
           (mlir::isa<mlir::arith::ArithDialect, mlir::math::MathDialect>(op.getDialect()) ||
            mlir::isa<tile::MaxNumOp, tile::MinNumOp>(op));
  });
}

bool combine(Instance &instance, mlir::Block &block, const Tiles &left, const Tiles &right,
             Tiles &results) {
  Tiles arguments(left);
  arguments.append(right.begin(), right.end());
  const size_t count = left.front().size();
  if (isElementwise(block)) {
    if (!instance.runBlock(block, arguments, results)) {
      return false;
    }
    // A region may return a scalar constant.
    for (Tile &result : results) {
      if (!result.isTile) {
        result = Tile::filled(result.type, left.front().shape, result[0]);
      }
    }
    return true;
  }
  results.clear();
  for (const Tile &source : left) {
    results.push_back(source.like(source.type));
  }
  Tiles scalars, combined;
  for (size_t i = 0; i < count; ++i) {
    scalars.clear();
    for (const Tile &argument : arguments) {
      scalars.push_back(Tile::scalar(argument.type, argument[i]));
    }
    if (!instance.runBlock(block, scalars, combined)) {
      return false;
    }
    for (size_t r = 0; r < results.size(); ++r) {
      results[r].at(i) = combined[r][0];
    }
  }
  return true;
}

Tile slice(const Tile &source, size_t begin, size_t end, size_t inner) {
  Tile result = Tile::filled(source.type, {static_cast<int64_t>((end - begin) * inner)}, 0);
  std::copy(source.words.begin() + begin * inner, source.words.begin() + end * inner,
            result.words.begin());
  return result;
}

namespace {

/// Calls function(place in row-major order, place with the axis in front) for every element.
template <class Function>
void forEachPlace(llvm::ArrayRef<int64_t> shape, size_t axis, Function function) {
  size_t outer = 1, inner = 1;
  for (size_t i = 0; i < shape.size(); ++i) {
    (i < axis ? outer : inner) *= i == axis ? 1 : static_cast<size_t>(shape[i]);
  }
  const auto length = static_cast<size_t>(shape[axis]);
  for (size_t o = 0; o < outer; ++o) {
    for (size_t k = 0; k < length; ++k) {
      for (size_t i = 0; i < inner; ++i) {
        function((o * length + k) * inner + i, (k * outer + o) * inner + i);
      }
    }
  }
}

} // namespace

Tile axisToFront(const Tile &source, size_t axis) {
  Tile result = source.like(source.type);
  forEachPlace(source.shape, axis,
               [&](size_t place, size_t inFront) { result.at(inFront) = source[place]; });
  return result;
}

Tile axisFromFront(const Tile &source, size_t axis) {
  Tile result = source.like(source.type);
  forEachPlace(source.shape, axis,
               [&](size_t place, size_t inFront) { result.at(place) = source[inFront]; });
  return result;
}

} // namespace nereid::interpreter
