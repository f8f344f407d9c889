// SPDX-License-Identifier: Apache-2.0
// Reductions. The combining region is associative and commutative, so elements are combined as a
// balanced tree: half of the axis with the other half. A region of elementwise operations then runs
// once per level on whole tiles; any other region runs once per pair of elements.
#include "lib/interpreter/operations/Combine.h"

namespace nereid::interpreter {
namespace {

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
      std::copy(results[s].words.begin(), results[s].words.end(), next.words.begin());
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
