// SPDX-License-Identifier: Apache-2.0
#include "lib/targets/nvidia/layouts/FreeTiles.h"

#include "lib/targets/nvidia/ir/Nvidia.h"
#include "lib/targets/nvidia/layouts/OperandLayouts.h"

using namespace mlir;

namespace nereid::nvidia {

bool FreeTiles::contains(Value value) {
  if (!isTile(value)) {
    return true;
  }
  Operation *op = value.getDefiningOp();
  if (!op || !worksInAnyLayout(op)) {
    return false;
  }
  auto [entry, isNew] = known.try_emplace(op, false);
  if (isNew) {
    const bool all = isa<tile::BroadcastOp>(op) ||
                     llvm::all_of(op->getOperands(), [&](Value one) { return contains(one); });
    known[op] = all;
    return all;
  }
  return entry->second;
}

bool FreeTiles::isWidened(Value value, unsigned depth) {
  constexpr unsigned deepest = 6;
  Operation *op = value.getDefiningOp();
  if (depth == deepest ||
      !isa_and_present<tile::AddPtrOp, arith::ExtSIOp, arith::ExtUIOp, arith::AddIOp>(op)) {
    return false;
  }
  Value bound;
  for (Value operand : op->getOperands()) {
    if (!contains(operand)) {
      if (bound) {
        return false;
      }
      bound = operand;
    }
  }
  return bound && (isa<arith::ExtSIOp, arith::ExtUIOp>(op) || isWidened(bound, depth + 1) ||
                   (isa<tile::AddPtrOp>(op) &&
                    tile::elementTypeOf(bound.getType()).getIntOrFloatBitWidth() < 64));
}

} // namespace nereid::nvidia
