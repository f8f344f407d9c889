// SPDX-License-Identifier: Apache-2.0
// The entry of convert-tile-to-loops: reads the arguments from their slots, lowers the body, and
// puts the result in the place of the source function.
#include "lib/targets/cpu/lower/Lower.h"
#include "lib/targets/cpu/loops/PackScalars.h"
#include "lib/targets/cpu/loops/PrefetchAhead.h"
#include "lib/targets/cpu/loops/PrefetchNext.h"
#include "lib/targets/cpu/lower/Recognisers.h"
#include "lib/targets/cpu/lower/nest/Streaming.h"
#include "lib/targets/cpu/lower/product/pack/GemmKeptPanels.h"
#include "lib/targets/cpu/prepare/RowPipeline.h"
#include "lib/targets/cpu/prepare/TilePasses.h"

#include "lib/targets/cpu/lower/block/BlockLowering.h"
#include "lib/tile/ir/Attributes.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace nereid::cpu {

void loadLoweringDialects(MLIRContext &context) {
  context.loadDialect<tile::TileDialect, arith::ArithDialect, math::MathDialect, scf::SCFDialect,
                      func::FuncDialect, vector::VectorDialect, LLVM::LLVMDialect>();
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

static func::FuncOp findKernel(ModuleOp module) {
  func::FuncOp found;
  module.walk([&](func::FuncOp function) {
    if (function->hasAttr(tile::attribute::kernel)) {
      found = function;
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return found;
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

/// What the evaluation cannot represent is refused before anything is emitted.
static bool checkTypes(KernelState &kernel, func::FuncOp source) {
  source.walk([&](Operation *op) {
    if (auto assembly = dyn_cast<tile::InlineAsmOp>(op); assembly && !kernel.failed) {
      StringRef first = assembly.getText().trim().split('\n').first.rtrim();
      kernel.fail(makeError("E0304", "inline assembly runs only on the chip it is written for, "
                                     "which the cpu target is not")
                      .note("the assembly starts with '" + first.str() + "'")
                      .withHelp("guard it by a constexpr and give the cpu the same computation in "
                                "the kernel language"),
                  op);
    }
  });
  Value unknown = kernel.failed ? Value() : unknownValue(source);
  if (unknown) {
    std::string text;
    llvm::raw_string_ostream(text) << unknown.getType();
    auto tensor = dyn_cast<RankedTensorType>(unknown.getType());
    bool isDeep = tensor && tensor.getRank() > maxRank;
    kernel.unsupported(unknown.getDefiningOp(),
                       isDeep ? "a tile has at most " + std::to_string(maxRank) +
                                    " dimensions, but got " + std::to_string(tensor.getRank()) +
                                    " in '" + text + "'"
                              : "it has no values of type '" + text + "'");
  }
  return !kernel.failed;
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

/// The loops of `source`, a new function in the place of `original`; null when that failed.
static func::FuncOp lowerFunction(KernelState &kernel, func::FuncOp source, func::FuncOp original) {
  Location loc = original.getLoc();
  if (failed(runTilePasses(source))) {
    return {};
  }
  kernel.analyse(source);

  Type pointer = LLVM::LLVMPointerType::get(original.getContext());
  OpBuilder top(original);
  auto type = top.getFunctionType({pointer, pointer, pointer, pointer}, {});
  auto target = top.create<func::FuncOp>(loc, (original.getName() + ".loops").str(), type);
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
    eraseWhatWasAdded(original->getParentOfType<ModuleOp>());
    return {};
  }
  fenceStreams(kernel, block.builder(), loc);
  block.builder().create<func::ReturnOp>(loc);
  mark->erase();
  packScalars(target);
  prefetchNextRow(target, kernel.machine);
  prefetchAhead(target);
  for (NamedAttribute attribute : original->getDiscardableAttrs()) {
    target->setAttr(attribute.getName(), attribute.getValue());
  }
  target->setAttr("nereid.scratch_bytes", top.getI64IntegerAttr(kernel.scratchPeak()));
  if (kernel.canWait) {
    target->setAttr("nereid.can_wait", top.getUnitAttr());
  }
  return target;
}

/// Nothing folds from here on, so that the forms which the patterns of LLVM know are safe.
static void useForeignExtrema(func::FuncOp kernel) {
  kernel.walk([](Operation *op) {
    OpBuilder builder(op);
    Operation *foreign = nullptr;
    if (auto max = dyn_cast<tile::MaxNumOp>(op)) {
      foreign = builder.create<arith::MaxNumFOp>(op->getLoc(), max.getLeft(), max.getRight());
    } else if (auto min = dyn_cast<tile::MinNumOp>(op)) {
      foreign = builder.create<arith::MinNumFOp>(op->getLoc(), min.getLeft(), min.getRight());
    }
    if (foreign) {
      op->replaceAllUsesWith(foreign);
      op->erase();
    }
  });
}

LogicalResult lowerTileToLoops(ModuleOp module, const Machine &machine, Diagnostics &diags) {
  func::FuncOp source = findKernel(module);
  if (!source || source.getBody().empty()) {
    diags.add(makeError("E0301", "the module holds no function with the attribute 'tile.kernel'"));
    return failure();
  }
  loadLoweringDialects(*module.getContext());
  KernelState kernel(machine, diags);
  if (!checkTypes(kernel, source)) {
    return failure();
  }
  useForeignExtrema(source);
  // Whether the nests of a pipeline are as planned turns out on the way; whatever is wrong with the
  // kernel is said about the kernel as it was written.
  func::FuncOp target;
  auto attempt = [&](func::FuncOp form, bool sharesPanels = false) {
    Diagnostics unsaid;
    KernelState state(machine, unsaid);
    state.sharesPanels = sharesPanels;
    target = lowerFunction(state, form, source);
  };
  OwningOpRef<func::FuncOp> looped = loopOverPrograms(source);
  for (bool isShared : {true, false}) {
    OwningOpRef<func::FuncOp> pipelined;
    if (!target && (!isShared || machine.vectorRegisters >= 32)) {
      pipelined = pipelineRows(looped ? *looped : source, machine, isShared);
    }
    if (pipelined) {
      attempt(*pipelined);
    }
  }
  if (!target && looped) {
    attempt(*looped);
  }
  if (!target && mayKeepPanels(source)) {
    attempt(source, /*sharesPanels=*/true); // may need more scratch than there is
  }
  if (!target) {
    target = lowerFunction(kernel, source, source);
  } else if (looped) {
    target->setAttr("nereid.takes_ranges", UnitAttr::get(module.getContext()));
  }
  if (!target) {
    return failure();
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
                    func::FuncDialect, vector::VectorDialect, LLVM::LLVMDialect>();
  }
  void runOnOperation() override {
    Diagnostics diags;
    if (succeeded(lowerTileToLoops(getOperation(), machine, diags))) {
      return;
    }
    for (const Diagnostic &diagnostic : diags.all()) {
      getOperation().emitError(diagnostic.message) << " [" << diagnostic.code << "]";
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
