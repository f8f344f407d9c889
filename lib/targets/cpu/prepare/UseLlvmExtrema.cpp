// SPDX-License-Identifier: Apache-2.0
// cpu-use-llvm-extrema: replace extrema of tile IR by those that LLVM's patterns know.
//
// Why: arith.maxnumf folds `max(x, NaN)` in a way that loses a signalling NaN's meaning, so that
// earlier phases use operations of tile IR; the patterns of LLVM know arith's.
// Requires: nothing folds from here on. Guarantees: no tile.maxnum or tile.minnum is left.
// Example: `tile.maxnum %a, %b : f32` becomes `arith.maxnumf %a, %b : f32`.
#include "lib/targets/cpu/prepare/Passes.h"

#include "lib/tile/ir/Tile.h"

using namespace mlir;

namespace nereid::cpu {
namespace {

template <class From, class To> void replaceAll(ModuleOp module) {
  module->walk([](From op) {
    OpBuilder builder(op);
    op.replaceAllUsesWith(builder.create<To>(op.getLoc(), op.getLeft(), op.getRight()).getResult());
    op.erase();
  });
}

class UseLlvmExtremaPass : public PassWrapper<UseLlvmExtremaPass, OperationPass<ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(UseLlvmExtremaPass)

  StringRef getArgument() const override { return "cpu-use-llvm-extrema"; }
  StringRef getDescription() const override {
    return "replace extrema of tile IR by those that LLVM's patterns know";
  }

  void runOnOperation() override {
    replaceAll<tile::MaxNumOp, arith::MaxNumFOp>(getOperation());
    replaceAll<tile::MinNumOp, arith::MinNumFOp>(getOperation());
  }
};

} // namespace

std::unique_ptr<Pass> createUseLlvmExtremaPass() { return std::make_unique<UseLlvmExtremaPass>(); }

} // namespace nereid::cpu
