// SPDX-License-Identifier: Apache-2.0
// `tile-print-memory-accesses`: say which argument each access reaches, and what it has to do with
// those before it.
// Why: the analysis is tested by what it says at each line, not through kernels that use it.
// Requires: tile IR. Guarantees: the program stays as it is.
// Example: at a function `argument 0 is read`, and at the third of its accesses
// `access 2: writes argument 0, same addresses as access 0, conflicts with access 1`.
#include "lib/tile/analysis/MemoryAccesses.h"

#include "lib/tile/analysis/axis/AxisInfo.h"
#include "lib/tile/ir/Tile.h"

#include "mlir/Pass/Pass.h"

namespace nereid::tile {
namespace {

struct PrintMemoryAccessesPass
    : mlir::PassWrapper<PrintMemoryAccessesPass, mlir::OperationPass<mlir::ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(PrintMemoryAccessesPass)

  llvm::StringRef getArgument() const final { return "tile-print-memory-accesses"; }
  llvm::StringRef getDescription() const final { return "say which argument's bytes are accessed"; }

  void runOnOperation() final {
    getOperation()->walk([](mlir::func::FuncOp function) { print(function); });
  }

  static void print(mlir::func::FuncOp function) {
    MemoryAccesses memory;
    memory.find(function);
    const AxisInfos infos(function);
    auto mayRepeat = [&](mlir::Value pointer) {
      return llvm::any_of(infos.of(pointer).axes, [](const AxisRun &run) {
        return run.size > 1 && (!run.isWhole() || run.stride.value_or(1) == 0);
      });
    };
    for (mlir::BlockArgument argument : function.getArguments()) {
      const bool isRead = memory.isRead(argument), isWritten = memory.isWritten(argument);
      if (isRead || isWritten) {
        function->emitRemark() << "argument " << argument.getArgNumber() << " is "
                               << (!isWritten ? "read"
                                   : isRead   ? "read and written"
                                              : "written");
      }
    }
    llvm::SmallVector<mlir::Value> earlier;
    function->walk<mlir::WalkOrder::PreOrder>([&](mlir::Operation *op) {
      mlir::Value pointer = accessedThrough(op);
      if (!pointer) {
        return;
      }
      mlir::InFlightDiagnostic remark = op->emitRemark();
      remark << "access " << earlier.size() << ": "
             << (mlir::isa<LoadOp>(op)    ? "reads "
                 : mlir::isa<StoreOp>(op) ? "writes "
                                          : "reads and writes ");
      auto argument = mlir::dyn_cast_or_null<mlir::BlockArgument>(memory.argumentOf(pointer));
      if (argument) {
        remark << "argument " << argument.getArgNumber();
      } else {
        remark << "any memory";
      }
      for (auto [number, other] : llvm::enumerate(earlier)) {
        const bool isSame = isSameValue(pointer, other);
        if (isSame) {
          remark << ", same addresses as access " << number;
        }
        if (memory.mayConflict(pointer, other, mayRepeat)) {
          remark << (isSame ? ", which repeat" : ", conflicts with access ");
          if (!isSame) {
            remark << number;
          }
        }
      }
      earlier.push_back(pointer);
    });
  }
};

} // namespace

std::unique_ptr<mlir::Pass> createPrintMemoryAccessesPass() {
  return std::make_unique<PrintMemoryAccessesPass>();
}

} // namespace nereid::tile
