// SPDX-License-Identifier: Apache-2.0
#include "lib/targets/nvidia/pipeline/NeighbourLoops.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace nereid::nvidia {

/// The value as computed in front of the loop, of what is known there.
static Value askOutside(OpBuilder &b, scf::ForOp loop, Value value) {
  if (loop.isDefinedOutsideOfLoop(value)) {
    return value;
  }
  IRMapping mapping;
  for (Value operand : value.getDefiningOp()->getOperands()) {
    mapping.map(operand, askOutside(b, loop, operand));
  }
  return b.clone(*value.getDefiningOp(), mapping)->getResult(0);
}

std::optional<OtherLoop> askForNeighbours(scf::ForOp loop, MutableArrayRef<StagedLoad> loads) {
  Value all;
  OpBuilder b(loop);
  for (StagedLoad &one : loads) {
    if (!one.neighbours || !one.neighbours->condition ||
        !llvm::all_of(one.neighbours->starts,
                      [&](Value start) { return loop.isDefinedOutsideOfLoop(start); })) {
      continue;
    }
    Value holds = askOutside(b, loop, one.neighbours->condition);
    all = all ? b.create<arith::AndIOp>(loop.getLoc(), all, holds).getResult() : holds;
    one.neighbours->condition = {};
  }
  if (!all) {
    return std::nullopt;
  }
  auto choice = b.create<scf::IfOp>(loop.getLoc(), loop.getResultTypes(), all,
                                    /*addThenBlock=*/true, /*addElseBlock=*/true);
  loop.replaceAllUsesWith(choice.getResults());
  IRMapping mapping;
  OtherLoop other;
  other.loop = cast<scf::ForOp>(choice.getElseBodyBuilder().clone(*loop.getOperation(), mapping));
  for (StagedLoad &one : loads) {
    other.loads.push_back(one);
    other.loads.back().load = mapping.lookup(Value(one.load)).getDefiningOp<tile::LoadOp>();
    other.loads.back().neighbours.reset();
  }
  loop->moveBefore(choice.thenBlock(), choice.thenBlock()->end());
  for (scf::ForOp each : {loop, other.loop}) {
    OpBuilder::atBlockEnd(each->getBlock()).create<scf::YieldOp>(loop.getLoc(), each.getResults());
  }
  return other;
}

} // namespace nereid::nvidia
