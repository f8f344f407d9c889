// SPDX-License-Identifier: Apache-2.0
#include "lib/targets/cpu/lower/nest/FoldTogether.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace nereid::cpu {

/// The only operation of the region; null when it has others.
static Operation *onlyStep(const Combiner &combiner) {
  Block &body = combiner.op->getRegion(0).front();
  bool isOne = combiner.count() == 1 && llvm::hasSingleElement(body.without_terminator());
  return isOne && !combiner.identity().empty() ? &body.front() : nullptr;
}

bool combineAlike(const Combiner &a, const Combiner &b) {
  Operation *x = onlyStep(a), *y = onlyStep(b);
  return x && y && x->getName() == y->getName() && x->getResultTypes() == y->getResultTypes() &&
         x->getAttrDictionary() == y->getAttrDictionary();
}

unsigned foldableTogether(ArrayRef<Combiner> combiners, int64_t lanes) {
  unsigned alike = 1;
  while (alike < combiners.size() && combineAlike(combiners.front(), combiners[alike])) {
    ++alike;
  }
  return static_cast<unsigned>(std::min<int64_t>(llvm::bit_floor(alike), lanes));
}

SmallVector<Value> foldTogether(const Combiner &combiner, Evaluator &evaluator, OpBuilder &builder,
                                ArrayRef<Value> vectors) {
  Location loc = combiner.op->getLoc();
  const int64_t lanes = cast<VectorType>(vectors.front().getType()).getNumElements();
  auto combine = [&](Value a, Value b) {
    return combiner.apply(evaluator, builder, {a}, {b}).front();
  };
  auto shuffle = [&](Value a, Value b, ArrayRef<int64_t> order) -> Value {
    return builder.create<vector::ShuffleOp>(loc, a, b, order);
  };
  SmallVector<Value> partial(vectors);
  int64_t segment = lanes; // of neighbouring lanes that belong to one vector
  for (; partial.size() > 1; segment /= 2) {
    SmallVector<Value> next;
    for (size_t i = 0; i < partial.size(); i += 2) {
      SmallVector<int64_t> low, high;
      for (int64_t lane = 0; lane < 2 * lanes; ++lane) {
        (lane % segment < segment / 2 ? low : high).push_back(lane);
      }
      next.push_back(combine(shuffle(partial[i], partial[i + 1], low),
                             shuffle(partial[i], partial[i + 1], high)));
    }
    partial = std::move(next);
  }
  Value all = partial.front();
  const int64_t ofVector = segment;
  for (; segment > 1; segment /= 2) {
    SmallVector<int64_t> swapped;
    for (int64_t lane = 0; lane < lanes; ++lane) {
      swapped.push_back(lane ^ (segment / 2));
    }
    all = combine(all, shuffle(all, all, swapped));
  }
  SmallVector<Value> scalars;
  for (size_t i = 0; i < vectors.size(); ++i) {
    scalars.push_back(
        builder.create<vector::ExtractOp>(loc, all, static_cast<int64_t>(i) * ofVector));
  }
  return scalars;
}

} // namespace nereid::cpu
