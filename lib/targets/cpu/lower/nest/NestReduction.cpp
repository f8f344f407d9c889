// SPDX-License-Identifier: Apache-2.0
// Reductions in a nest: the source's region is applied to whole vectors, several independent ones
// to hide latency, then across the lanes of one vector by halves.
#include "lib/targets/cpu/lower/nest/NestReduction.h"

#include "lib/targets/cpu/lower/nest/FoldTogether.h"

using namespace mlir;

namespace nereid::cpu {

Reductions::Reductions(ArrayRef<FusionRoot> roots) : shape(roots[0].shape()) {
  for (const FusionRoot &root : roots) {
    if (root.kind == FusionRoot::Kind::Reduce) {
      combiners.emplace_back(cast<tile::ReduceOp>(root.op));
      axis = static_cast<int>(cast<tile::ReduceOp>(root.op).getAxis());
      sources += combiners.back().count();
      identitiesKnown &= !combiners.back().identity().empty();
    }
  }
}

void Reductions::start(Evaluator &evaluator, unsigned copies) {
  accumulators.clear();
  for (unsigned c = 0; c < copies; ++c) {
    for (Combiner &combiner : combiners) {
      for (TypedAttr neutral : combiner.identity()) {
        accumulators.push_back(evaluator.broadcast(evaluator.scopes.back()->builder,
                                                   evaluator.kernel.constant(neutral),
                                                   neutral.getType()));
      }
    }
  }
}

void Reductions::accumulate(Evaluator &evaluator, ArrayRef<SmallVector<Value>> values,
                            unsigned copies) {
  if (seeding || accumulators.empty()) {
    accumulators.clear();
    for (const SmallVector<Value> &copy : values) {
      accumulators.append(copy.begin(), copy.end());
    }
    seeding = false;
    return;
  }
  for (unsigned c = 0; c < copies; ++c) {
    unsigned at = 0;
    for (Combiner &combiner : combiners) {
      unsigned n = combiner.count();
      ArrayRef<Value> running = ArrayRef<Value>(accumulators).slice(c * sources + at, n);
      ArrayRef<Value> next = ArrayRef<Value>(values[c]).slice(at, n);
      SmallVector<Value> result =
          combiner.apply(evaluator, evaluator.scopes.back()->builder, running, next);
      std::copy(result.begin(), result.end(), accumulators.begin() + c * sources + at);
      at += n;
    }
  }
}

/// Combines the accumulators of the unrolled copies pairwise into one set.
void Reductions::foldCopies(Evaluator &evaluator) {
  unsigned copies = accumulators.size() / sources;
  for (; copies > 1; copies /= 2) {
    for (unsigned c = 0; c < copies / 2; ++c) {
      unsigned at = 0;
      for (Combiner &combiner : combiners) {
        unsigned n = combiner.count();
        ArrayRef<Value> all(accumulators);
        SmallVector<Value> result = combiner.apply(evaluator, evaluator.scopes.back()->builder,
                                                   all.slice(c * sources + at, n),
                                                   all.slice((c + copies / 2) * sources + at, n));
        std::copy(result.begin(), result.end(), accumulators.begin() + c * sources + at);
        at += n;
      }
    }
  }
  accumulators.resize(sources);
}

void Reductions::foldLanes(Evaluator &evaluator) {
  ArrayRef<Combiner> all(combiners);
  auto type = dyn_cast<VectorType>(accumulators[0].getType());
  unsigned at = 0;
  for (size_t i = 0; i < all.size();) {
    const Combiner &combiner = all[i];
    unsigned together = type ? foldableTogether(all.drop_front(i), type.getNumElements()) : 1;
    unsigned n = combiner.count() * together;
    SmallVector<Value> lanes(accumulators.begin() + at, accumulators.begin() + at + n);
    SmallVector<Value> result =
        together > 1 ? foldTogether(combiner, evaluator, evaluator.scopes.back()->builder, lanes)
                     : combiner.acrossLanes(evaluator, evaluator.scopes.back()->builder, lanes);
    std::copy(result.begin(), result.end(), accumulators.begin() + at);
    at += n;
    i += together;
  }
}

void Reductions::finish(Evaluator &evaluator, unsigned copies,
                        const llvm::DenseMap<Value, int> &results) {
  for (unsigned c = 0; c < copies; ++c) {
    unsigned at = c * sources;
    for (Combiner &combiner : combiners) {
      for (Value result : combiner.op->getResults()) {
        Value value = accumulators[at++];
        if (!isTile(result)) {
          evaluator.kernel.scalars[result] = value;
          continue;
        }
        Dims dims;
        for (int8_t d = 0; d < static_cast<int8_t>(shape.size()); ++d) {
          if (d != axis) {
            dims.push_back(shape[d] == 1 ? zeroDim : d);
          }
        }
        evaluator.storeToBuffer(results.lookup(result), value, dims, c, combiner.op->getLoc());
      }
    }
  }
}

} // namespace nereid::cpu
