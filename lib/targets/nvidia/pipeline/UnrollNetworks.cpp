// SPDX-License-Identifier: Apache-2.0
// nvidia-unroll-networks: write out the steps of sorting networks, each with its own distance.
//
// Why: a gather at `position ^ distance` goes through shared memory, whatever the distance. Where
// it is known the elements are in the same thread, or in the same warp, or neither, and only the
// last need shared memory.
// Requires: no layouts yet; loops as the language's own sort writes them.
// Guarantees: such a gather at a known distance is a `nvidia.exchange`. Loops around gathers whose
// distance follows from the turn are written out, as far as the code stays small enough.
// Example: `tile.gather %x[%i] axis 0` with `%i = arith.xori %range, splat of 8` becomes
// `nvidia.exchange %x axis 0 distance 8`.
#include "lib/targets/nvidia/ir/Nvidia.h"
#include "lib/targets/nvidia/layouts/Anchors.h"
#include "lib/targets/nvidia/pipeline/Passes.h"
#include "lib/targets/nvidia/pipeline/WrittenLoops.h"
#include "lib/tile/ir/Attributes.h"
#include "lib/tile/ir/Constants.h"

using namespace mlir;

namespace nereid::nvidia {

namespace {

/// Elements of a thread times steps: each is some ten instructions.
constexpr int64_t mostWritten = 2560;
/// Of a network's loops.
constexpr int64_t mostTurns = 32;

/// Whether each element is its own position along the axis.
bool isPosition(Value value, unsigned axis) {
  if (auto broadcast = value.getDefiningOp<tile::BroadcastOp>()) {
    Value narrow = broadcast.getSource();
    return shapeOf(narrow)[axis] == shapeOf(value)[axis] && isPosition(narrow, axis);
  }
  if (auto expand = value.getDefiningOp<tile::ExpandDimsOp>()) {
    const auto added = static_cast<unsigned>(expand.getAxis());
    return added != axis && isPosition(expand.getSource(), added < axis ? axis - 1 : axis);
  }
  auto range = value.getDefiningOp<tile::MakeRangeOp>();
  return range && axis == 0 && range.getStart() == 0;
}

/// What a gather's index differs from the position by, if by the bits of one number.
Value distanceOf(tile::GatherOp gather) {
  auto flipped = gather.getIndex().getDefiningOp<arith::XOrIOp>();
  if (!flipped || gather.getType() != gather.getSource().getType()) {
    return {};
  }
  const auto axis = static_cast<unsigned>(gather.getAxis());
  for (auto [position, distance] : {std::pair(flipped.getLhs(), flipped.getRhs()),
                                    std::pair(flipped.getRhs(), flipped.getLhs())}) {
    if (isPosition(position, axis) &&
        (distance.getDefiningOp<tile::SplatOp>() || tile::constantOf(distance))) {
      return distance;
    }
  }
  return {};
}

class UnrollNetworksPass : public PassWrapper<UnrollNetworksPass, OperationPass<func::FuncOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(UnrollNetworksPass)

  StringRef getArgument() const override { return "nvidia-unroll-networks"; }
  StringRef getDescription() const override {
    return "write out the steps of sorting networks, each with its own distance";
  }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<NvidiaDialect>();
  }

  void runOnOperation() override {
    threads = threadsOf(getOperation());
    for (scf::ForOp loop : outermost()) {
      writeOutAll(loop);
    }
    getOperation().walk([](tile::GatherOp gather) {
      Value distance = distanceOf(gather);
      const auto known = distance ? tile::constantOf(distance) : std::nullopt;
      const int64_t length = shapeOf(gather)[static_cast<size_t>(gather.getAxis())];
      if (known && *known > 0 && *known < length &&
          llvm::isPowerOf2_64(static_cast<uint64_t>(*known))) {
        OpBuilder builder(gather);
        gather.replaceAllUsesWith(builder
                                      .create<ExchangeOp>(gather.getLoc(), gather.getType(),
                                                          gather.getSource(),
                                                          static_cast<uint64_t>(gather.getAxis()),
                                                          static_cast<uint64_t>(*known))
                                      .getResult());
        gather.erase();
      }
    });
  }

private:
  /// Loops of constant bounds around networks that are short enough.
  SmallVector<scf::ForOp> outermost() {
    SmallVector<scf::ForOp> loops;
    getOperation().walk<WalkOrder::PreOrder>([&](scf::ForOp loop) {
      const int64_t size = written(loop);
      if (size == 0) {
        return WalkResult::advance(); // a loop inside may be one
      }
      if (size <= mostWritten) {
        loops.push_back(loop);
      }
      return WalkResult::skip();
    });
    return loops;
  }

  /// Elements of a thread times steps, about; 0 where it is no network: other loops inside, other
  /// accesses, or a distance that does not follow from the turn.
  int64_t written(scf::ForOp loop) {
    const auto turns = turnsOf(loop);
    if (!turns || *turns > mostTurns) {
      return 0;
    }
    return *turns * writtenInTurn(loop, loop, *turns);
  }

  int64_t writtenInTurn(scf::ForOp loop, scf::ForOp around, int64_t turns) {
    int64_t size = 0;
    for (Operation &op : loop.getBody()->without_terminator()) {
      if (auto gather = dyn_cast<tile::GatherOp>(op)) {
        if (!distanceOf(gather)) {
          return 0;
        }
        const int64_t elements = cast<RankedTensorType>(gather.getType()).getNumElements();
        size += std::max<int64_t>(1, elements / (Threads::lanes * threads.warps));
      } else if (auto inner = dyn_cast<scf::ForOp>(op)) {
        // As many turns as the one around has had: half as many as it has at last.
        const bool isTriangle = inner.getUpperBound() == around.getInductionVar() &&
                                tile::constantOf(inner.getLowerBound()) &&
                                tile::constantOf(inner.getStep());
        const auto own = isTriangle ? std::optional((turns + 1) / 2) : turnsOf(inner);
        const int64_t ofTurn = own && *own <= mostTurns ? writtenInTurn(inner, inner, *own) : 0;
        if (ofTurn == 0) {
          return 0;
        }
        size += *own * ofTurn;
      } else if (op.getNumRegions() > 0 || !isMemoryEffectFree(&op)) {
        return 0;
      }
    }
    return size;
  }

  void writeOutAll(scf::ForOp loop) {
    Block *block = loop->getBlock();
    Operation *before = loop->getPrevNode(), *after = loop->getNextNode();
    writeOut(loop, *turnsOf(loop));
    SmallVector<scf::ForOp> inner;
    for (Operation *op = before ? before->getNextNode() : &block->front(); op && op != after;
         op = op->getNextNode()) {
      if (auto own = dyn_cast<scf::ForOp>(op)) {
        inner.push_back(own);
      }
    }
    for (scf::ForOp own : inner) {
      if (turnsOf(own)) {
        writeOutAll(own);
      }
    }
  }

  Threads threads;
};

} // namespace

std::unique_ptr<Pass> createUnrollNetworksPass() { return std::make_unique<UnrollNetworksPass>(); }

} // namespace nereid::nvidia
