// SPDX-License-Identifier: Apache-2.0
// nvidia-unroll-taps: write out loops of few turns that read a few elements in each.
//
// Why: a turn waits for what it reads, and windows, of which a turn reads one place, have few
// turns. Written out, all of their places are asked for before the first one has come. Requires: no
// layouts yet. Guarantees: no loop of known bounds is left whose turns only read and compute, one
// after the other, as long as a thread has few elements of all turns together. The order of sums is
// kept. Example: `scf.for %i = 0 to 9 step 1` around the load of a tap becomes nine loads.
#include "lib/targets/nvidia/ir/Nvidia.h"
#include "lib/targets/nvidia/layouts/Anchors.h"
#include "lib/targets/nvidia/pipeline/Passes.h"
#include "lib/targets/nvidia/pipeline/WrittenLoops.h"
#include "lib/tile/ir/Attributes.h"

using namespace mlir;

namespace nereid::nvidia {

namespace {

/// Elements of a thread in a turn, and in all turns: each is a register until it is added.
constexpr int64_t mostOfTurn = 8, mostOfThread = 128;

class UnrollTapsPass : public PassWrapper<UnrollTapsPass, OperationPass<func::FuncOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(UnrollTapsPass)

  StringRef getArgument() const override { return "nvidia-unroll-taps"; }
  StringRef getDescription() const override {
    return "write out loops of few turns that read a few elements in each";
  }

  void runOnOperation() override {
    threads = threadsOf(getOperation());
    SmallVector<scf::ForOp> loops;
    getOperation().walk([&](scf::ForOp loop) {
      const auto turns = turnsOf(loop);
      const int64_t elements = turns && *turns > 1 ? elementsOfTurn(loop) : 0;
      if (elements > 0 && elements <= mostOfTurn && *turns <= mostOfThread / elements) {
        loops.push_back(loop);
      }
    });
    for (scf::ForOp loop : loops) {
      writeOut(loop, *turnsOf(loop));
    }
  }

private:
  /// That a thread reads at most at a time; 0 where the loop does anything else but computing.
  int64_t elementsOfTurn(scf::ForOp loop) const {
    int64_t most = 0;
    for (Operation &op : loop.getBody()->without_terminator()) {
      if (op.getNumRegions() > 0 || isa<tile::DotOp>(op)) {
        return 0;
      }
      if (isa<tile::LoadOp>(op)) {
        auto tile = dyn_cast<RankedTensorType>(op.getResult(0).getType());
        const int64_t elements = tile ? tile.getNumElements() : 1;
        most = std::max({most, int64_t{1}, elements / (Threads::lanes * threads.warps)});
      } else if (!isMemoryEffectFree(&op)) {
        return 0;
      }
    }
    return most;
  }

  Threads threads;
};

} // namespace

std::unique_ptr<Pass> createUnrollTapsPass() { return std::make_unique<UnrollTapsPass>(); }

} // namespace nereid::nvidia
