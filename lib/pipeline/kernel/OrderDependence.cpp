// SPDX-License-Identifier: Apache-2.0
#include "lib/pipeline/kernel/OrderDependence.h"

#include "lib/tile/ir/Tile.h"

#include "mlir/IR/Builders.h"

namespace nereid::pipeline {

void noteOrderDependence(mlir::Operation *kernel) {
  const bool adds = kernel
                        ->walk([](tile::AtomicRMWOp op) {
                          return op.getKind() == tile::AtomicKind::FAdd
                                     ? mlir::WalkResult::interrupt()
                                     : mlir::WalkResult::advance();
                        })
                        .wasInterrupted();
  if (adds) {
    kernel->setAttr("nereid.adds_floats", mlir::UnitAttr::get(kernel->getContext()));
  }
}

} // namespace nereid::pipeline
