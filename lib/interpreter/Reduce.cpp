// SPDX-License-Identifier: Apache-2.0
// Reductions. The combining region is associative and commutative, so elements are combined as a
// balanced tree: half of the axis with the other half. A region of elementwise operations then runs
// once per level on whole tiles; any other region runs once per pair of elements.
#include "lib/interpreter/Instance.h"

namespace nereid::interpreter {
namespace {

bool isElementwise(mlir::Block &block) {
  return llvm::all_of(block.without_terminator(), [](mlir::Operation &op) {
    return op.getNumRegions() == 0 &&
           mlir::isa<mlir::arith::ArithDialect, mlir::math::MathDialect>(op.getDialect());
  });
}

/// Combines left and right, tiles of rank 1, element by element into `results`.
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

/// Elements begin..end of the leading axis, each `inner` elements long, as a tile of rank 1.
Tile slice(const Tile &source, size_t begin, size_t end, size_t inner) {
  Tile result = Tile::filled(source.type, {static_cast<int64_t>((end - begin) * inner)}, 0);
  std::copy(source.words->begin() + begin * inner, source.words->begin() + end * inner,
            result.words->begin());
  return result;
}

/// Moves the reduced axis to the front and merges all the others behind it.
Tile axisToFront(const Tile &source, size_t axis) {
  size_t outer = 1, inner = 1;
  for (size_t i = 0; i < source.shape.size(); ++i) {
    (i < axis ? outer : inner) *= i == axis ? 1 : static_cast<size_t>(source.shape[i]);
  }
  const auto length = static_cast<size_t>(source.shape[axis]);
  Tile result = source.like(source.type);
  for (size_t o = 0; o < outer; ++o) {
    for (size_t k = 0; k < length; ++k) {
      for (size_t i = 0; i < inner; ++i) {
        result.at((k * outer + o) * inner + i) = source[(o * length + k) * inner + i];
      }
    }
  }
  return result;
}

bool reduce(Instance &instance, mlir::Operation *op) {
  auto reduce = mlir::cast<tile::ReduceOp>(op);
  const size_t axis = reduce.getAxis();
  Tiles sources;
  for (mlir::Value source : reduce.getSources()) {
    sources.push_back(axisToFront(instance.get(source), axis));
  }
  auto length = static_cast<size_t>(instance.get(reduce.getSources().front()).shape[axis]);
  const size_t inner = sources.front().size() / length;
  mlir::Block &block = reduce.getCombine().front();
  while (length > 1) {
    const size_t pairs = length / 2;
    Tiles left, right, results;
    for (const Tile &source : sources) {
      left.push_back(slice(source, 0, pairs, inner));
      right.push_back(slice(source, length - pairs, length, inner));
    }
    if (!combine(instance, block, left, right, results)) {
      return false;
    }
    for (size_t s = 0; s < sources.size(); ++s) {
      // With an odd length the element in the middle waits for the next round.
      Tile next = slice(sources[s], 0, length - pairs, inner);
      std::copy(results[s].words->begin(), results[s].words->end(), next.words->begin());
      sources[s] = std::move(next);
    }
    length -= pairs;
  }
  for (auto [source, result] : llvm::zip(sources, reduce.getResults())) {
    llvm::ArrayRef<int64_t> shape = tile::shapeOf(result.getType());
    source.isTile = mlir::isa<mlir::RankedTensorType>(result.getType());
    source.shape.assign(shape.begin(), shape.end());
    instance.set(result, source);
  }
  return true;
}

} // namespace

void addReduceHandlers(HandlerTable &table) { table.add<tile::ReduceOp>(reduce); }

} // namespace nereid::interpreter
