// SPDX-License-Identifier: Apache-2.0
#include "lib/targets/nvidia/layouts/Anchors.h"

#include "lib/targets/nvidia/ir/Nvidia.h"
#include "lib/targets/nvidia/layouts/LaneProducts.h"
#include "lib/targets/nvidia/layouts/LikelySteps.h"
#include "lib/targets/nvidia/layouts/MatrixLayouts.h"
#include "lib/targets/nvidia/layouts/OperandLayouts.h"
#include "lib/tile/ir/Attributes.h"

#include <algorithm>

using namespace mlir;

namespace nereid::nvidia {

using layout::LinearLayout;

namespace {

int64_t elementBytes(Type element) {
  auto pointer = dyn_cast<tile::PtrType>(element);
  const Type pointee = pointer ? pointer.getPointee() : element;
  return isa<tile::PtrType>(pointee)
             ? 8
             : std::max<int64_t>(1, static_cast<int64_t>(pointee.getIntOrFloatBitWidth()) / 8);
}

MatrixShape matrixShape(tile::DotOp dot) {
  const int64_t bits = tile::elementTypeOf(dot.getA().getType()).getIntOrFloatBitWidth();
  return {256 / bits, bits};
}

WarpGrid warpGrid(tile::DotOp dot, const Threads &threads) {
  const auto shape = shapeOf(dot.getResult());
  return dot->hasAttr(warpgroupAttribute) ? *warpgroupGridFor(shape[0], shape[1], threads.warps)
                                          : warpGridFor(shape[0], shape[1], threads.warps);
}

} // namespace

Threads threadsOf(Operation *kernel) {
  Threads threads;
  if (auto warps = kernel->getAttrOfType<IntegerAttr>(tile::attribute::numWarps)) {
    threads.warps = warps.getInt();
  }
  if (auto blocks = kernel->getAttrOfType<IntegerAttr>(tile::attribute::numCtas)) {
    threads.blocks = blocks.getInt();
    threads.warps *= threads.blocks;
  }
  return threads;
}

LinearLayout accessLayout(Value pointer, const tile::AxisInfos &axes, const Threads &threads) {
  const LinearLayout::Shape shape = shapeOf(pointer);
  const tile::AxisInfo info = axes.of(pointer);
  const std::vector<int32_t> order = orderOfAccess(pointer, axes);
  const auto fastest = static_cast<unsigned>(order.front());
  const int64_t bytes = elementBytes(tile::elementTypeOf(pointer.getType()));
  const int64_t run = info.contiguity(fastest);
  const int64_t aligned = info.divisibility(fastest) / bytes;
  const int64_t elements = LinearLayout(shape, {}, {}, {}).elementCount();
  const int64_t share = elements / (threads.lanes * threads.warps);
  const int64_t vector = std::max<int64_t>(1, std::min({16 / bytes, run, aligned, share}));
  return layout::blockedLayout(shape, order, vector, threads.lanes, threads.warps);
}

bool isScattered(const tile::AxisInfo &info) {
  return llvm::all_of(info.axes, [](const tile::AxisRun &run) { return run.length == 1; });
}

int64_t neighboursOf(const LinearLayout &layout) {
  int64_t count = 1;
  for (int64_t basis : layout.bases(layout::Holder::Register)) {
    count *= basis == count ? 2 : 1;
  }
  return count;
}

bool comesFromScan(Value value, unsigned depth) {
  constexpr unsigned deepest = 8;
  Operation *op = value.getDefiningOp();
  if (!op || depth == deepest) {
    return false;
  }
  return isa<tile::ScanOp>(op) ||
         (worksInAnyLayout(op) && llvm::any_of(op->getOperands(), [&](Value operand) {
            return isTile(operand) && comesFromScan(operand, depth + 1);
          }));
}

LinearLayout layoutBeside(Operation *access, const tile::AxisInfos &axes, const Threads &threads) {
  const auto own = [&](Operation &op) { return accessLayout(op.getOperand(0), axes, threads); };
  const auto shape = shapeOf(access->getOperand(0));
  LinearLayout best = own(*access);
  int64_t most = 1;
  for (Operation &other : *access->getBlock()) {
    if (!isa<tile::LoadOp, tile::StoreOp>(other) || &other == access ||
        !isTile(other.getOperand(0)) || shapeOf(other.getOperand(0)) != shape) {
      continue;
    }
    LinearLayout layout = own(other);
    if (const int64_t taken = neighboursOf(layout); taken > most) {
      most = taken;
      best = std::move(layout);
    }
  }
  return best;
}

bool fillsSectors(const LinearLayout &layout, Value pointer, const tile::AxisInfo &info) {
  using layout::Holder;
  constexpr int64_t sector = 32;
  const int64_t bytes = elementBytes(tile::elementTypeOf(pointer.getType()));
  int64_t unit = 1; // the step of a dimension in an element's number
  for (size_t dim = layout.shape().size(); dim-- > 0; unit *= layout.shape()[dim]) {
    const auto axis = static_cast<unsigned>(dim);
    // Neighbours of a thread, which one instruction takes, then those of its neighbours.
    int64_t count = 1;
    for (Holder holder : {Holder::Register, Holder::Lane}) {
      for (int64_t basis : layout.bases(holder)) {
        count *= basis == count * unit ? 2 : 1;
      }
    }
    count = std::min(count, layout.shape()[dim]);
    if (info.contiguity(axis) * bytes >= sector && info.divisibility(axis) >= 16) {
      return count * bytes >= sector && layout.replicaBits(Holder::Register) == 0 &&
             layout.replicaBits(Holder::Lane) == 0 && layout.replicaBits(Holder::Warp) == 0;
    }
  }
  return false;
}

LinearLayout usualLayout(Value tile, const Threads &threads) {
  const LinearLayout::Shape shape = shapeOf(tile);
  return layout::blockedLayout(shape, layout::rowMajorOrder(shape.size()), 1, threads.lanes,
                               threads.warps);
}

bool usesMatrixUnit(Operation *op) {
  auto dot = cast<tile::DotOp>(op);
  const auto left = shapeOf(dot.getA()), result = shapeOf(dot.getResult());
  const Type from = tile::elementTypeOf(dot.getA().getType());
  const Type to = tile::elementTypeOf(dot.getResult().getType());
  const bool isHalf = (from.isF16() || from.isBF16()) && to.isF32();
  const bool isTf32 =
      from.isF32() && to.isF32() && dot.getInputPrecision() == tile::InputPrecision::TF32;
  const bool isByte = from.isInteger(8) && to.isInteger(32);
  return result.size() == 2 && (isHalf || isTf32 || isByte) && result[0] >= 16 && result[1] >= 8 &&
         left[1] >= matrixShape(dot).k;
}

LinearLayout productLayout(Operation *op, const Threads &threads) {
  auto dot = cast<tile::DotOp>(op);
  if (isLaneProduct(op)) {
    return laneProductLayout(dot, threads);
  }
  if (!usesMatrixUnit(op)) {
    return layout::squareLayout(shapeOf(dot.getResult()), threads.lanes, threads.warps);
  }
  const auto shape = shapeOf(dot.getResult());
  return accumulatorLayout(shape[0], shape[1], warpGrid(dot, threads));
}

LinearLayout factorLayout(Operation *op, unsigned operand, const Threads &threads) {
  auto dot = cast<tile::DotOp>(op);
  const auto shape = shapeOf(op->getOperand(operand));
  const WarpGrid warps = warpGrid(dot, threads);
  return operand == 0 ? leftLayout(shape[0], shape[1], matrixShape(dot), warps)
                      : rightLayout(shape[0], shape[1], matrixShape(dot), warps);
}

} // namespace nereid::nvidia
