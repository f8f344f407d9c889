// SPDX-License-Identifier: Apache-2.0
// The store of the row before (see PipelineRows.cpp) inside the lane loop of this one: all of it in
// step with the loop, or shared between the row's first and last nest. Of four vectors the first
// nest then takes those that make one cache line, from the beginning of the row, and the last nest
// the others, from where the first one ends.
#include "lib/targets/cpu/lower/nest/LoopNest.h"

#include "lib/targets/cpu/lower/nest/DelayedStores.h"

using namespace mlir;

namespace nereid::cpu {

void LoopNest::checkDelayedParts() {
  for (const FusionRoot &root : roots) {
    if (root.part == DelayedPart::All) {
      continue;
    }
    std::optional<SmallVector<Value>> masks = masksOfSharedRows(roots, plan);
    if (!masks || (root.part == DelayedPart::Rest && !areSameMasks(*masks, kernel.splitMasks))) {
      kernel.misplaced(root.op, "the first and the last nest do not walk the row alike");
    } else if (root.part == DelayedPart::First) {
      kernel.splitMasks = *masks;
    }
  }
}

/// Before anything else in the body: it reads the buffer that the body overwrites. The vectors of
/// the last nest's share are read no later than the loop gets there: its first one is ahead of the
/// loop at the beginning of the row, and level with it at the end.
void LoopNest::emitDelayedStore(const FusionRoot &root, unsigned copies) {
  auto store = cast<tile::StoreOp>(root.op);
  bool isShared = mainEnd && root.part != DelayedPart::All;
  bool isOutside = evaluator.part == PeeledPart::Outside && store.getMask() &&
                   evaluator.evaluateMask(store.getMask(), identityDims(shape.size()), 0).kind ==
                       LaneMask::Kind::None;
  if (isOutside || (root.part == DelayedPart::First && !mainEnd)) {
    return;
  }
  Scope *lanes = evaluator.scopes.back();
  if (store.getMask() && !isShared) {
    // In front of the branch, where the rest of the body finds it too.
    for (unsigned c = 0; c < copies; ++c) {
      evaluator.evaluateMask(store.getMask(), identityDims(shape.size()), c);
    }
  }
  auto branch = lanes->builder.create<scf::IfOp>(loc, root.guard, false);
  InFrontOf around(ArrayRef(evaluator.scopes).drop_back(), branch);
  OpBuilder builder = branch.getThenBodyBuilder();
  SmallVector<Value, 4> positions(evaluator.laneBase);
  if (isShared) {
    int64_t bytes = KernelState::byteSize(elementTypeOf(store.getValue())) * evaluator.width;
    unsigned line =
        canBeNonTemporal(store) ? static_cast<unsigned>(kernel.machine.vectorBytes / bytes) : 1;
    unsigned taken = root.part == DelayedPart::First ? line : sharedCopies - line;
    auto shareOf = [&](Value position, unsigned share) -> Value {
      Value quarter = builder.create<arith::ShRUIOp>(loc, position, kernel.i64(2));
      return builder.create<arith::MulIOp>(loc, quarter, kernel.i64(share));
    };
    Value first = shareOf(evaluator.laneBase[0], taken);
    if (root.part == DelayedPart::Rest) {
      first = builder.create<arith::AddIOp>(loc, first, shareOf(mainEnd, line));
    }
    evaluator.laneBase.clear();
    for (unsigned c = 0; c < taken; ++c) {
      evaluator.laneBase.push_back(
          builder.create<arith::AddIOp>(loc, first, kernel.i64(c * evaluator.width)));
    }
    copies = taken;
  }
  // Elsewhere than the rest of the body: nothing computed there may be used.
  Scope inside(builder, isShared ? nullptr : lanes);
  evaluator.scopes.back() = &inside;
  SmallVector<Value> values;
  for (unsigned c = 0; c < copies; ++c) {
    values.push_back(evaluator.evaluate(store.getValue(), identityDims(shape.size()), c));
  }
  emitStore(store, values, mainEnd != nullptr);
  evaluator.scopes.back() = lanes;
  evaluator.laneBase.assign(positions.begin(), positions.end());
}

} // namespace nereid::cpu
