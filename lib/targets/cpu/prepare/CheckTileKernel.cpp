// SPDX-License-Identifier: Apache-2.0
// What the lowering cannot represent is refused before anything is changed.
#include "lib/pipeline/kernel/KernelFunction.h"
#include "lib/targets/cpu/Places.h"
#include "lib/targets/cpu/prepare/Passes.h"
#include "lib/tile/ir/Tile.h"

using namespace mlir;

namespace nereid::cpu {

func::FuncOp findKernel(ModuleOp module) {
  const std::vector<Operation *> kernels = pipeline::kernelFunctions(module);
  return kernels.empty() ? func::FuncOp() : dyn_cast<func::FuncOp>(kernels.front());
}

/// Tiles have at most so many dimensions: a tile of 2^20 elements, the largest that the language
/// makes, has no more that are longer than one.
static constexpr int64_t maxRank = 20;

static bool isKnownElement(Type element) {
  return isa<tile::PtrType, IndexType>(element) || element.isF16() || element.isBF16() ||
         element.isF32() || element.isF64() || tile::isFloat8(element) || element.isInteger(1) ||
         element.isInteger(8) || element.isInteger(16) || element.isInteger(32) ||
         element.isInteger(64);
}

/// A result that the evaluation cannot represent, of an operation that has a place in the source if
/// any has one: constants that several lines share have none.
static Value unknownValue(func::FuncOp source) {
  Value unknown;
  source.walk([&](Operation *op) {
    for (Value result : op->getResults()) {
      auto tensor = dyn_cast<RankedTensorType>(result.getType());
      bool isKnown = isKnownElement(tensor ? tensor.getElementType() : result.getType()) &&
                     (!tensor || tensor.getRank() <= maxRank);
      bool isPlaced = !unknown || placeOf(unknown.getLoc()).line == 0;
      if (!isKnown && isPlaced) {
        unknown = result;
      }
    }
  });
  return unknown;
}

LogicalResult checkTileKernel(ModuleOp module, Diagnostics &diags) {
  func::FuncOp kernel = findKernel(module);
  if (!kernel || kernel.getBody().empty()) {
    diags.add(makeError("E0301", "the module holds no function with the attribute 'tile.kernel'"));
    return failure();
  }
  WalkResult assembly = kernel.walk([&](tile::InlineAsmOp op) {
    StringRef first = op.getText().trim().split('\n').first.rtrim();
    Diagnostic error = makeError("E0304", "inline assembly runs only on the chip it is written "
                                          "for, which the cpu target is not")
                           .note("the assembly starts with '" + first.str() + "'")
                           .withHelp("guard it by a constexpr and give the cpu the same "
                                     "computation in the kernel language");
    setPlace(error, op.getLoc());
    diags.add(std::move(error));
    return WalkResult::interrupt();
  });
  if (assembly.wasInterrupted()) {
    return failure();
  }
  Value unknown = unknownValue(kernel);
  if (!unknown) {
    return success();
  }
  std::string text;
  llvm::raw_string_ostream(text) << unknown.getType();
  auto tensor = dyn_cast<RankedTensorType>(unknown.getType());
  bool isDeep = tensor && tensor.getRank() > maxRank;
  diags.add(unsupportedError(unknown.getDefiningOp(),
                             isDeep ? "a tile has at most " + std::to_string(maxRank) +
                                          " dimensions, but got " +
                                          std::to_string(tensor.getRank()) + " in '" + text + "'"
                                    : "it has no values of type '" + text + "'"));
  return failure();
}

} // namespace nereid::cpu
