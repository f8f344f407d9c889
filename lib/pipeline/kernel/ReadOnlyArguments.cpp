// SPDX-License-Identifier: Apache-2.0
#include "lib/pipeline/kernel/ReadOnlyArguments.h"

#include "lib/tile/analysis/MemoryAccesses.h"
#include "lib/tile/ir/Tile.h"

#include "mlir/IR/Builders.h"

namespace nereid::pipeline {

void noteReadOnlyArguments(mlir::Operation *kernel) {
  auto function = mlir::dyn_cast<mlir::func::FuncOp>(kernel);
  if (!function || function.getBody().empty()) {
    return;
  }
  tile::MemoryAccesses memory;
  memory.find(function);
  llvm::SmallVector<int64_t> readOnly;
  for (mlir::BlockArgument argument : function.getArguments()) {
    if (mlir::isa<tile::PtrType>(argument.getType()) && !memory.isWritten(argument)) {
      readOnly.push_back(argument.getArgNumber());
    }
  }
  kernel->setAttr("nereid.read_only",
                  mlir::Builder(kernel->getContext()).getDenseI64ArrayAttr(readOnly));
}

} // namespace nereid::pipeline
