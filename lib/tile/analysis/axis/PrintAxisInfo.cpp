// SPDX-License-Identifier: Apache-2.0
// `tile-print-axis-info`: say what is known about the integers and addresses of a program.
// Why: the analysis is tested by what it says at each line, not through kernels that use it.
// Requires: tile IR. Guarantees: the program stays as it is; the remarks hold for every launch, or,
// in the variant that excludes wrapping, for those in which no sum leaves its type.
// Example: at `%1 = arith.addi …` the remark `contiguity = [64, 1], constancy = [1, 1],
// divisibility = [16, 1], first = [16, 0], stride = [1, ?], multiple = 1, range = [0, 975]`.
// Per dimension: groups of 64 that count up, from multiples of 16 on; the element at index 0 is a
// multiple of `first`, where 0 means that it is 0; the stride, `2 in 8` where it holds in groups of
// 8 only, `?` where it is not known, `-` where there is none. Of all elements: a divisor and a
// range.
#include "lib/tile/analysis/axis/AxisInfo.h"

#include "lib/tile/ir/Tile.h"

#include "mlir/Pass/Pass.h"

namespace nereid::tile {
namespace {

struct PrintAxisInfoPass : mlir::PassWrapper<PrintAxisInfoPass, mlir::OperationPass<>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(PrintAxisInfoPass)

  explicit PrintAxisInfoPass(Overflow overflow) : overflow(overflow) {}

  llvm::StringRef getArgument() const final {
    return overflow == Overflow::Wraps ? "tile-print-axis-info"
                                       : "tile-print-axis-info-without-wrapping";
  }
  llvm::StringRef getDescription() const final {
    return "say what is known about integers and addresses";
  }

  void runOnOperation() final {
    const AxisInfos infos(getOperation(), overflow);
    auto print = [&](mlir::Operation *op, mlir::Value value, const llvm::Twine &prefix) {
      const AxisInfo info = infos.of(value);
      if (info.width == 0) {
        return;
      }
      std::string text;
      llvm::raw_string_ostream out(text);
      info.print(out);
      op->emitRemark() << prefix << text;
    };
    getOperation()->walk<mlir::WalkOrder::PreOrder>([&](mlir::Operation *op) {
      const bool isNumber = op->hasTrait<mlir::OpTrait::ConstantLike>() &&
                            !mlir::isa<mlir::ShapedType>(op->getResult(0).getType());
      for (mlir::OpResult result : op->getResults()) {
        const unsigned number = result.getResultNumber();
        if (!isNumber) {
          const bool isOnly = op->getNumResults() == 1 && op->getNumRegions() == 0;
          print(op, result, isOnly ? "" : "result " + llvm::Twine(number) + ": ");
        }
      }
      if (!mlir::isa<mlir::scf::ForOp, mlir::scf::WhileOp>(op)) {
        return;
      }
      for (mlir::Region &region : op->getRegions()) {
        for (mlir::BlockArgument argument : region.getArguments()) {
          print(op, argument,
                llvm::Twine(region.getRegionNumber() == 0 ? "argument " : "passed on ") +
                    llvm::Twine(argument.getArgNumber()) + ": ");
        }
      }
    });
  }

  Overflow overflow;
};

} // namespace

std::unique_ptr<mlir::Pass> createPrintAxisInfoPass(Overflow overflow) {
  return std::make_unique<PrintAxisInfoPass>(overflow);
}

} // namespace nereid::tile
