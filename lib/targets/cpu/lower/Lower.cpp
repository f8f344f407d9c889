// SPDX-License-Identifier: Apache-2.0
// The entry of convert-tile-to-loops: reads the arguments from their slots, lowers the body, and
// puts the result in the place of the source function.
#include "lib/targets/cpu/lower/Lower.h"
#include "lib/pipeline/kernel/KernelFunction.h"
#include "lib/targets/cpu/lower/Recognisers.h"
#include "lib/targets/cpu/lower/nest/NonTemporal.h"
#include "lib/targets/cpu/lower/product/pack/GemmPanelCache.h"
#include "lib/targets/cpu/prepare/Passes.h"

#include "lib/targets/cpu/lower/block/BlockLowering.h"
#include "lib/tile/transforms/Passes.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace nereid::cpu {

void loadLoweringDialects(MLIRContext &context) {
  context.loadDialect<tile::TileDialect, arith::ArithDialect, math::MathDialect, scf::SCFDialect,
                      func::FuncDialect, vector::VectorDialect, LLVM::LLVMDialect, CpuDialect>();
}

/// A parameter's value from its 8-byte slot (see runtime/Kernel.h).
static Value loadArgument(OpBuilder &builder, Location loc, Value slots, unsigned index,
                          Type source) {
  Type type = KernelState::scalarType(source);
  Value address = builder.create<LLVM::GEPOp>(loc, slots.getType(), builder.getI64Type(), slots,
                                              ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(index)});
  auto load = [&](Type as) -> Value { return builder.create<LLVM::LoadOp>(loc, as, address, 8); };
  if (isa<LLVM::LLVMPointerType>(type) || type.isF64() || type.isInteger(64)) {
    return load(type);
  }
  if (isa<FloatType>(type)) {
    return convertElements(builder, loc, load(builder.getF32Type()), type);
  }
  if (type.isInteger(1)) {
    return convertElements(builder, loc, load(builder.getI64Type()), type);
  }
  return load(type); // the low bytes of a little-endian slot
}

static void eraseWhatWasAdded(ModuleOp module) {
  SmallVector<Operation *> leftovers;
  for (Operation &op : *module.getBody()) {
    if (isa<LLVM::GlobalOp, LLVM::LLVMFuncOp>(op)) {
      leftovers.push_back(&op);
    }
  }
  for (Operation *op : leftovers) {
    op->erase();
  }
}

/// The loops of `source`, a new function beside it; null when that failed.
static func::FuncOp lowerFunction(KernelState &kernel, func::FuncOp source) {
  Location loc = source.getLoc();
  kernel.analyse(source);
  Type pointer = LLVM::LLVMPointerType::get(source.getContext());
  OpBuilder top(source);
  auto type = top.getFunctionType({pointer, pointer, pointer, pointer}, {});
  auto target = top.create<func::FuncOp>(loc, (source.getName() + ".loops").str(), type);
  Block *entryBlock = target.addEntryBlock();
  kernel.target = target;
  kernel.slotsArgument = entryBlock->getArgument(0);
  kernel.idArgument = entryBlock->getArgument(1);
  kernel.countArgument = entryBlock->getArgument(2);
  kernel.scratchArgument = entryBlock->getArgument(3);
  OpBuilder body = OpBuilder::atBlockEnd(entryBlock);
  // Constants and buffer addresses go in front of this mark, everything else behind it.
  Operation *mark = body.create<arith::ConstantOp>(loc, body.getI64IntegerAttr(0));
  OpBuilder prologue(mark);
  kernel.entry = &prologue;
  for (auto [i, argument] : llvm::enumerate(source.getArguments())) {
    kernel.scalars[argument] =
        loadArgument(prologue, loc, kernel.slotsArgument, i, argument.getType());
  }
  BlockLowering block(kernel, body, nullptr);
  block.lower(source.getBody().front());
  if (!kernel.failed) {
    block.flush();
  }
  kernel.placeShared();
  if (kernel.failed || !kernel.checkScratchLimit()) {
    target.erase();
    eraseWhatWasAdded(source->getParentOfType<ModuleOp>());
    return {};
  }
  fenceNonTemporalStores(kernel, block.builder(), loc);
  block.builder().create<func::ReturnOp>(loc);
  mark->erase();
  for (NamedAttribute attribute : source->getDiscardableAttrs()) {
    target->setAttr(attribute.getName(), attribute.getValue());
  }
  target->setAttr(pipeline::scratchBytesAttribute, top.getI64IntegerAttr(kernel.scratchPeak()));
  if (kernel.isBlocking) {
    target->setAttr("nereid.blocking", top.getUnitAttr());
  }
  return target;
}

/// One call runs several programs (tile-coarsen-programs).
static bool takesRanges(func::FuncOp kernel) {
  return kernel
      .walk([](tile::ProgramIdOp id) {
        return tile::isEndOfRange(id) ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

LogicalResult lowerTileToLoops(ModuleOp module, const Machine &machine, Diagnostics &diags) {
  loadLoweringDialects(*module.getContext());
  if (failed(checkTileKernel(module, diags))) {
    return failure();
  }
  func::FuncOp source = findKernel(module), target;
  if (mayCachePanels(source)) {
    // Whether packed panels fit beside the tiles is known when all tiles have their place.
    Diagnostics unsaid;
    KernelState kernel(machine, unsaid);
    kernel.sharesPanels = true;
    target = lowerFunction(kernel, source);
    if (!target && !kernel.exceedsLimit) {
      for (const Diagnostic &diagnostic : unsaid.all()) {
        diags.add(diagnostic);
      }
      return failure();
    }
    if (!target) {
      decline(Recogniser::PackedPanelCache, source,
              "beside its tiles they exceed the scratch memory");
    }
  }
  if (!target) {
    KernelState kernel(machine, diags);
    target = lowerFunction(kernel, source);
  }
  if (!target) {
    return failure();
  }
  if (takesRanges(source)) {
    target->setAttr("nereid.takes_ranges", UnitAttr::get(module.getContext()));
  }
  std::string name = source.getName().str();
  source.erase();
  target.setName(name);
  return success();
}

namespace {
struct ConvertTileToLoopsPass : PassWrapper<ConvertTileToLoopsPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ConvertTileToLoopsPass)

  explicit ConvertTileToLoopsPass(const Machine &machine) : machine(machine) {}
  StringRef getArgument() const override { return "convert-tile-to-loops"; }
  StringRef getDescription() const override {
    return "turn one kernel of tile operations into loops over vectors and memory accesses";
  }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<tile::TileDialect, arith::ArithDialect, math::MathDialect, scf::SCFDialect,
                    func::FuncDialect, vector::VectorDialect, LLVM::LLVMDialect, CpuDialect>();
  }
  Location locationOf(const Diagnostic &diagnostic) {
    Builder builder(&getContext());
    return diagnostic.range.line == 0
               ? getOperation().getLoc()
               : FileLineColLoc::get(builder.getStringAttr(diagnostic.file), diagnostic.range.line,
                                     diagnostic.range.column);
  }
  void runOnOperation() override {
    Diagnostics diags;
    if (succeeded(lowerTileToLoops(getOperation(), machine, diags))) {
      return;
    }
    for (const Diagnostic &diagnostic : diags.all()) {
      emitError(locationOf(diagnostic)) << diagnostic.message << " [" << diagnostic.code << "]";
    }
    signalPassFailure();
  }
  Machine machine;
};
} // namespace

std::unique_ptr<Pass> createConvertTileToLoopsPass(const Machine &machine) {
  return std::make_unique<ConvertTileToLoopsPass>(machine);
}

} // namespace nereid::cpu
