// SPDX-License-Identifier: Apache-2.0
#include "lib/targets/cpu/lower/plan/NestCollector.h"

using namespace mlir;

namespace nereid::cpu {

void NestCollector::flush() {
  if (pending.empty()) {
    return;
  }
  SmallVector<FusionRoot> roots(pending.all());
  pending.clear();
  build(roots);
}

void NestCollector::add(const FusionRoot &root) {
  if (!pending.canJoin(root)) {
    flush();
  }
  pending.add(root);
}

bool NestCollector::isAlone(Value tile) const {
  auto load = tile.getDefiningOp<tile::LoadOp>();
  return plan.isReadTransposed(tile) || (load && load.getIsVolatile());
}

void NestCollector::makeRoomFor(Value tile) {
  if (isAlone(tile) ||
      !pending.canJoin({FusionRoot::Kind::Materialise, nullptr, tile, -1, false})) {
    flush();
  }
}

void NestCollector::addMaterialised(const FusionRoot &root) {
  pending.add(root);
  if (isAlone(root.value)) {
    flush();
  }
}

std::string_view NestCollector::addDelayedStore(const FusionRoot &root) {
  auto isDelayed = [](const FusionRoot &other) {
    return other.op && isDelayedStore(other.op->getParentOp());
  };
  if (pending.empty()) {
    return "no nest stands in front of the delayed store";
  }
  if (!pending.canJoin(root) || llvm::any_of(pending.all(), isDelayed)) {
    return "the nest in front of the delayed store cannot take it";
  }
  auto rows = cast<scf::ForOp>(root.op->getParentOp()->getParentOp());
  for (Value tile : rows.getYieldedValues()) {
    if (isTile(tile) && pending.materialises(tile) != (root.part != DelayedPart::First)) {
      return "a tile that the delayed store reads is overwritten in another nest than the one it "
             "joins";
    }
  }
  pending.add(root);
  return {};
}

void NestCollector::flushBefore(Operation &scalar) {
  auto load = dyn_cast<tile::LoadOp>(scalar);
  if (llvm::any_of(scalar.getOperands(), [&](Value v) { return pending.isNeededBy(v); }) ||
      (load && (load.getIsVolatile() || pending.writesMemory()))) {
    flush();
  }
}

} // namespace nereid::cpu
