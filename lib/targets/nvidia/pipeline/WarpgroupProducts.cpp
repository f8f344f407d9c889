// SPDX-License-Identifier: Apache-2.0
#include "lib/targets/nvidia/pipeline/WarpgroupProducts.h"

#include "lib/targets/nvidia/ir/Nvidia.h"
#include "lib/targets/nvidia/layouts/MatrixLayouts.h"

using namespace mlir;

namespace nereid::nvidia {

const StagedLoad *stagedLoadOf(Value operand, ArrayRef<StagedLoad> loads) {
  Value root = rootOf(operand);
  const auto *found = llvm::find_if(loads, [&](const StagedLoad &one) {
    tile::LoadOp load = one.load;
    return load.getResult() == root;
  });
  return found == loads.end() ? nullptr : found;
}

const HeldFactor *heldFactorOf(Value operand, ArrayRef<HeldFactor> held) {
  Value root = rootOf(operand);
  const auto *found = llvm::find_if(held, [&](const HeldFactor &one) { return one.tile == root; });
  return found == held.end() ? nullptr : found;
}

std::optional<int64_t> fastestInSlot(Value operand, ArrayRef<StagedLoad> loads,
                                     ArrayRef<HeldFactor> held) {
  if (const StagedLoad *load = stagedLoadOf(operand, loads)) {
    return load->fastest;
  }
  const HeldFactor *factor = heldFactorOf(operand, held);
  return factor ? std::optional(factor->fastest) : std::nullopt;
}

bool canWarpgroupsMultiply(tile::DotOp dot, ArrayRef<StagedLoad> loads, ArrayRef<HeldFactor> held,
                           const Threads &threads) {
  const auto fastest = fastestInSlot(dot.getB(), loads, held);
  const unsigned bits = tile::elementTypeOf(dot.getA().getType()).getIntOrFloatBitWidth();
  if (!fastest || !usesMatrixUnit(dot) || bits > 16) {
    return false;
  }
  const auto shape = shapeOf(dot.getResult());
  const auto grid = warpgroupGridFor(shape[0], shape[1], threads.warps);
  if (!grid) {
    return false;
  }
  if (bits == 8) {
    return true; // slots run along k, or are turned
  }
  // Where memory runs along the columns, 64 of them are a panel, which groups do not share.
  const bool isTransposed = rootOf(dot.getB()) != dot.getB();
  const bool runsAlongColumns = (*fastest == 1) != isTransposed;
  constexpr int64_t panel = 64;
  return !runsAlongColumns || grid->columns == 1 || shape[1] / grid->columns >= panel;
}

namespace {

/// The products that use the load, with the dimension of the load that each of them sums over.
SmallVector<std::pair<tile::DotOp, int64_t>> productsOf(Value tile, int64_t leftSum = 1) {
  SmallVector<std::pair<tile::DotOp, int64_t>> found;
  for (OpOperand &use : tile.getUses()) {
    if (isa<tile::TransOp>(use.getOwner())) {
      found.append(productsOf(use.getOwner()->getResult(0), 1 - leftSum));
    } else {
      found.emplace_back(cast<tile::DotOp>(use.getOwner()),
                         use.getOperandNumber() == 0 ? leftSum : 1 - leftSum);
    }
  }
  return found;
}

/// Whether the result is what the next turn adds to, and nothing else.
bool isOnlyCarried(tile::DotOp dot, scf::ForOp loop) {
  auto carried = dyn_cast<BlockArgument>(dot.getC());
  if (!carried || carried.getOwner() != loop.getBody() || !carried.hasOneUse() ||
      !dot->hasOneUse()) {
    return false;
  }
  OpOperand &use = *dot->getUses().begin();
  return use.getOwner() == loop.getBody()->getTerminator() &&
         use.getOperandNumber() + 1 == carried.getArgNumber();
}

} // namespace

void keepBytesOfWarpgroups(SmallVector<StagedLoad> &loads, const Threads &threads) {
  size_t before = 0;
  do { // a product whose other operand is left out is no warpgroup's
    before = loads.size();
    SmallVector<StagedLoad> kept;
    for (StagedLoad &one : loads) {
      tile::LoadOp load = one.load;
      const bool areBytes = tile::elementTypeOf(load.getType()).isInteger(8);
      SmallVector<std::pair<tile::DotOp, int64_t>> products;
      if (areBytes) {
        products = productsOf(load.getResult());
      }
      const bool areOfWarpgroups = llvm::all_of(products, [&](const auto &product) {
        return canWarpgroupsMultiply(product.first, loads, {}, threads) &&
               product.second == products.front().second;
      });
      if (areOfWarpgroups) {
        const bool isTurned = areBytes && products.front().second != one.fastest;
        one.turned = isTurned ? std::optional<int64_t>(0) : std::nullopt;
        kept.push_back(one);
      }
    }
    loads = std::move(kept);
  } while (loads.size() < before);
}

int64_t markWarpgroupProducts(scf::ForOp loop, ArrayRef<StagedLoad> loads,
                              ArrayRef<HeldFactor> held, const Threads &threads) {
  int64_t deferred = 0;
  for (auto dot : loop.getBody()->getOps<tile::DotOp>()) {
    if (!canWarpgroupsMultiply(dot, loads, held, threads)) {
      continue;
    }
    dot->setAttr(warpgroupAttribute, UnitAttr::get(dot.getContext()));
    // A left operand in registers has to stay there until the product has ended.
    if (isOnlyCarried(dot, loop) && fastestInSlot(dot.getA(), loads, held)) {
      dot->setAttr(deferredAttribute, UnitAttr::get(dot.getContext()));
      ++deferred;
    }
  }
  return deferred;
}

} // namespace nereid::nvidia
