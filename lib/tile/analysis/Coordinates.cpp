// SPDX-License-Identifier: Apache-2.0
#include "lib/tile/analysis/Coordinates.h"

#include "lib/tile/ir/Tile.h"

using namespace mlir;

namespace nereid::tile {

bool isElementwise(Operation *op) {
  if (isa<AddPtrOp, PtrToIntOp, IntToPtrOp, PtrCastOp>(op)) {
    return true;
  }
  StringRef dialect = op->getName().getDialectNamespace();
  return (dialect == "arith" || dialect == "math") && op->getNumRegions() == 0 &&
         !isa<arith::ConstantOp>(op);
}

bool readsElsewhere(Operation *op, Value operand) {
  if (auto gather = dyn_cast<GatherOp>(op)) {
    return operand == gather.getSource();
  }
  return isa<ReshapeOp>(op) && !isTrivialReshape(op);
}

static Dims reshapeDims(ArrayRef<int64_t> source, ArrayRef<int64_t> result, const Dims &dims) {
  Dims mapped(source.size(), zeroDim);
  size_t r = 0;
  for (size_t s = 0; s < source.size(); ++s) {
    if (source[s] == 1) {
      continue;
    }
    while (r < result.size() && result[r] == 1) {
      ++r;
    }
    mapped[s] = dims[r++];
  }
  return mapped;
}

bool isTrivialReshape(Operation *op) {
  auto reshape = cast<ReshapeOp>(op);
  SmallVector<int64_t> source, result;
  llvm::copy_if(shapeOf(reshape.getSource().getType()), std::back_inserter(source),
                [](int64_t d) { return d != 1; });
  llvm::copy_if(shapeOf(reshape.getResult().getType()), std::back_inserter(result),
                [](int64_t d) { return d != 1; });
  return source == result;
}

Dims mapDims(Operation *op, Value operand, const Dims &dims) {
  if (readsElsewhere(op, operand)) {
    return Dims(shapeOf(operand.getType()).size(), zeroDim);
  }
  if (auto expand = dyn_cast<ExpandDimsOp>(op)) {
    Dims mapped(dims);
    mapped.erase(mapped.begin() + expand.getAxis());
    return mapped;
  }
  if (isa<BroadcastOp>(op)) {
    Dims mapped(dims);
    for (auto [i, size] : llvm::enumerate(shapeOf(operand.getType()))) {
      if (size == 1) {
        mapped[i] = zeroDim;
      }
    }
    return mapped;
  }
  if (auto trans = dyn_cast<TransOp>(op)) {
    Dims mapped(dims.size(), zeroDim);
    for (auto [i, from] : llvm::enumerate(trans.getOrder())) {
      mapped[from] = dims[i];
    }
    return mapped;
  }
  if (auto reshape = dyn_cast<ReshapeOp>(op)) {
    return reshapeDims(shapeOf(operand.getType()), shapeOf(reshape.getResult().getType()), dims);
  }
  return isa<RankedTensorType>(operand.getType()) ? dims : Dims();
}

} // namespace nereid::tile
