// SPDX-License-Identifier: Apache-2.0
// Walks the kernel and writes a function that each thread of a program runs: control flow stays,
// each tile that it hands on becomes the scalars of its registers.
#include "lib/pipeline/kernel/KernelFunction.h"
#include "lib/targets/nvidia/combine/ApproximateQuotients.h"
#include "lib/targets/nvidia/combine/Combine.h"
#include "lib/targets/nvidia/driver/Grids.h"
#include "lib/targets/nvidia/occupancy/RegisterLimit.h"
#include "lib/targets/nvidia/products/Products.h"
#include "lib/targets/nvidia/products/TurnedCopy.h"
#include "lib/targets/nvidia/threads/Errors.h"
#include "lib/targets/nvidia/threads/Lowering.h"
#include "lib/targets/nvidia/threads/MemoryOrder.h"
#include "lib/tile/ir/Attributes.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace nereid::nvidia {

using layout::Holder;

namespace {

class KernelLowering {
public:
  KernelLowering(func::FuncOp kernel, ThreadCode &code, const NvidiaMachine &machine)
      : code(code), machine(machine), axes(kernel, tile::Overflow::Excluded),
        barriers(accessesBehindBarriers(kernel, axes)) {
    code.lowerBlock = [this](Block &block) {
      const LogicalResult done = lowerBlock(block);
      hasFailed = hasFailed || failed(done);
      return done;
    };
  }

  const tile::AxisInfos &axisInfos() const { return axes; }

  LogicalResult lowerBlock(Block &block) {
    for (Operation &op : block.without_terminator()) {
      if (failed(lower(&op)) || hasFailed) {
        return failure();
      }
    }
    return success();
  }

private:
  LogicalResult lower(Operation *op) {
    code.loc = op->getLoc();
    // Held loads read at some time until they are waited for, and what is stored behind one in the
    // source may be what it reads.
    if (isa<tile::BarrierOp>(op) || mayWriteMemory(op)) {
      code.awaitHeld();
    }
    if (barriers.contains(op)) {
      code.barrier();
    }
    const LogicalResult done = lowerOne(op);
    if (!keepsTrackOfShared(op)) {
      code.setUsedShared(ThreadCode::anyShared);
    }
    return done;
  }

  /// Whether ThreadCode::usedShared holds behind the operation: it stages nothing, or says where.
  static bool keepsTrackOfShared(Operation *op) {
    return OpTrait::hasElementwiseMappableTraits(op) ||
           isa<arith::ConstantOp, tile::ProgramIdOp, tile::NumProgramsOp, tile::MakeRangeOp,
               tile::SplatOp, tile::ExpandDimsOp, tile::BroadcastOp, tile::AddPtrOp, tile::LoadOp,
               tile::StoreOp, tile::ReduceOp, tile::ScanOp, tile::BarrierOp, ReadAgainOp,
               scf::ForOp, scf::WhileOp, scf::IfOp>(op);
  }

  LogicalResult lowerOne(Operation *op) {
    return llvm::TypeSwitch<Operation *, LogicalResult>(op)
        .Case([&](arith::ConstantOp one) { return done(lowerConstant, one); })
        .Case([&](tile::ProgramIdOp one) { return done(lowerProgramId, one); })
        .Case([&](tile::NumProgramsOp one) { return done(lowerNumPrograms, one); })
        .Case([&](tile::MakeRangeOp one) { return done(lowerRange, one); })
        .Case([&](tile::SplatOp one) { return done(lowerSplat, one); })
        .Case([&](tile::UnsplatOp one) { return done(lowerUnsplat, one); })
        .Case<tile::ExpandDimsOp, tile::BroadcastOp, tile::ReshapeOp, tile::TransOp>(
            [&](auto one) { return done(lowerMove, one); })
        .Case([&](tile::JoinOp one) { return done(lowerJoin, one); })
        .Case([&](tile::SplitOp one) { return done(lowerSplit, one); })
        .Case([&](tile::AddPtrOp one) { return done(lowerAddPtr, one); })
        .Case<tile::PtrToIntOp, tile::IntToPtrOp, tile::PtrCastOp>(
            [&](auto one) { return done(lowerPointerCast, one); })
        .Case([&](tile::LoadOp one) {
          one->hasAttr(heldAttribute) ? lowerHeldLoad(code, one) : lowerLoad(code, one, axes);
          return success();
        })
        .Case([&](tile::StoreOp one) {
          lowerStore(code, one, axes);
          return success();
        })
        .Case(
            [&](tile::AtomicRMWOp one) { return lowerAtomic(code, one, axes, machine.capability); })
        .Case([&](tile::AtomicCASOp one) { return done(lowerCompareAndSwap, one); })
        .Case([&](tile::ReduceOp one) { return done(lowerReduce, one); })
        .Case([&](tile::ScanOp one) { return done(lowerScan, one); })
        .Case([&](tile::DotOp one) { return done(lowerDot, one); })
        .Case([&](tile::GatherOp one) { return done(lowerGather, one); })
        .Case([&](ExchangeOp one) { return done(lowerExchange, one); })
        .Case([&](tile::HistogramOp one) { return done(lowerHistogram, one); })
        .Case([&](ConvertLayoutOp one) { return done(lowerConvertLayout, one); })
        .Case([&](AsyncCopyOp one) {
          lowerAsyncCopy(code, one, axes);
          return success();
        })
        .Case([&](ReadAgainOp one) { return done(lowerReadAgain, one); })
        .Case([&](CommitCopiesOp one) { return done(lowerCommitCopies, one); })
        .Case([&](BeginCopiesOp one) { return done(lowerBeginCopies, one); })
        .Case([&](WaitCopiesOp one) { return done(lowerWaitCopies, one); })
        .Case([&](EndCopiesOp one) { return done(lowerEndCopies, one); })
        .Case([&](WaitProductsOp one) { return done(lowerWaitProducts, one); })
        .Case([&](AwaitProductOp one) { return done(lowerAwaitProduct, one); })
        .Case([&](StoreCopyOp one) { return done(lowerStoreCopy, one); })
        .Case([&](TurnCopyOp one) { return done(lowerTurnCopy, one); })
        .Case([&](ReadCopyOp one) { return done(lowerReadCopy, one); })
        .Case([&](OpaqueOp one) { return done(lowerOpaque, one); })
        .Case([&](tile::InlineAsmOp one) { return lowerAssembly(code, one); })
        .Case([&](tile::PrintOp one) { return done(lowerPrint, one); })
        .Case([&](tile::AssertOp one) { return done(lowerAssert, one); })
        .Case([&](tile::BarrierOp) {
          code.barrier();
          return success();
        })
        .Case<tile::MaxNumOp, tile::MinNumOp>([&](auto one) { return lowerExtremum(one); })
        .Case([&](scf::ForOp loop) { return lowerFor(loop); })
        .Case([&](scf::WhileOp loop) { return lowerWhile(loop); })
        .Case([&](scf::IfOp branch) { return lowerIf(branch); })
        .Default([&](Operation *other) -> LogicalResult {
          if (OpTrait::hasElementwiseMappableTraits(other) && other->getNumRegions() == 0) {
            lowerElementwise(code, other, axes);
            return success();
          }
          return unsupported(other, "it has no code for it",
                             "`nereid check` and the interpreter still run the kernel");
        });
  }

  template <class Function, class Op> LogicalResult done(Function function, Op op) {
    function(code, op);
    return success();
  }

  template <class Op> LogicalResult lowerExtremum(Op op) {
    lowerExtremumOf(code, op);
    return success();
  }

  // ---- control flow ----

  static void addTypes(Value value, SmallVectorImpl<Type> &types) {
    const size_t count =
        isTile(value) ? static_cast<size_t>(layoutOf(value)->count(Holder::Register)) : 1;
    types.append(count, threadType(tile::elementTypeOf(value.getType())));
  }

  /// What the thread holds of several values, one after the other.
  SmallVector<Value> heldOf(ValueRange list) {
    SmallVector<Value> result;
    for (Value value : list) {
      const auto &held = code.held(value);
      result.append(held.begin(), held.end());
    }
    return result;
  }

  void holdAll(ValueRange list, ValueRange scalars) {
    size_t next = 0;
    for (Value value : list) {
      SmallVector<Type> types;
      addTypes(value, types);
      const ValueRange own = scalars.slice(next, types.size());
      code.hold(value, ThreadCode::Held(own.begin(), own.end()));
      next += types.size();
    }
  }

  /// Writes the block's operations and then `end` with what its terminator hands on.
  LogicalResult lowerInto(Block &from, Block *into, llvm::function_ref<void()> end) {
    OpBuilder::InsertionGuard guard(code.builder);
    code.builder.setInsertionPointToEnd(into);
    if (failed(lowerBlock(from))) {
      return failure();
    }
    code.loc = from.getTerminator()->getLoc();
    end();
    return success();
  }

  LogicalResult lowerFor(scf::ForOp loop) {
    auto made = code.builder.create<scf::ForOp>(
        code.loc, code.scalar(loop.getLowerBound()), code.scalar(loop.getUpperBound()),
        code.scalar(loop.getStep()), heldOf(loop.getInitArgs()));
    if (Block *body = made.getBody(); body->mightHaveTerminator()) {
      body->getTerminator()->erase();
    }
    code.hold(loop.getInductionVar(), made.getInductionVar());
    holdAll(loop.getRegionIterArgs(), made.getRegionIterArgs());
    code.setUsedShared(ThreadCode::anyShared);
    Operation *yield = loop.getBody()->getTerminator();
    if (failed(lowerInto(*loop.getBody(), made.getBody(), [&] {
          code.builder.create<scf::YieldOp>(code.loc, heldOf(yield->getOperands()));
        }))) {
      return failure();
    }
    holdAll(loop.getResults(), made.getResults());
    code.setUsedShared(ThreadCode::anyShared);
    return success();
  }

  LogicalResult lowerWhile(scf::WhileOp loop) {
    SmallVector<Type> before, after;
    for (Value value : loop.getBeforeArguments()) {
      addTypes(value, before);
    }
    for (Value value : loop.getResults()) {
      addTypes(value, after);
    }
    auto made = code.builder.create<scf::WhileOp>(code.loc, after, heldOf(loop.getInits()));
    OpBuilder::InsertionGuard guard(code.builder);
    Block *first = code.builder.createBlock(&made.getBefore(), {}, before,
                                            SmallVector<Location>(before.size(), code.loc));
    Block *second = code.builder.createBlock(&made.getAfter(), {}, after,
                                             SmallVector<Location>(after.size(), code.loc));
    holdAll(loop.getBeforeArguments(), first->getArguments());
    code.setUsedShared(ThreadCode::anyShared);
    auto condition = loop.getConditionOp();
    if (failed(lowerInto(*loop.getBeforeBody(), first, [&] {
          code.builder.create<scf::ConditionOp>(code.loc, code.scalar(condition.getCondition()),
                                                heldOf(condition.getArgs()));
        }))) {
      return failure();
    }
    holdAll(loop.getAfterArguments(), second->getArguments());
    if (failed(lowerInto(*loop.getAfterBody(), second, [&] {
          code.builder.create<scf::YieldOp>(code.loc, heldOf(loop.getYieldOp().getOperands()));
        }))) {
      return failure();
    }
    holdAll(loop.getResults(), made.getResults());
    code.setUsedShared(ThreadCode::anyShared);
    return success();
  }

  LogicalResult lowerIf(scf::IfOp branch) {
    SmallVector<Type> types;
    for (Value value : branch.getResults()) {
      addTypes(value, types);
    }
    const bool hasElse = !branch.getElseRegion().empty();
    auto made = code.builder.create<scf::IfOp>(code.loc, types, code.scalar(branch.getCondition()),
                                               /*addThenBlock=*/true, /*addElseBlock=*/hasElse);
    const ThreadCode::Range before = code.usedShared();
    ThreadCode::Range after = hasElse ? ThreadCode::Range() : before;
    for (unsigned i : {0U, 1U}) {
      Region &from = branch->getRegion(i);
      if (from.empty()) {
        continue;
      }
      code.setUsedShared(before);
      Operation *yield = from.front().getTerminator();
      if (failed(lowerInto(from.front(), &made->getRegion(i).front(), [&] {
            code.builder.create<scf::YieldOp>(code.loc, heldOf(yield->getOperands()));
          }))) {
        return failure();
      }
      after = ThreadCode::join(after, code.usedShared());
    }
    code.setUsedShared(after);
    holdAll(branch.getResults(), made.getResults());
    return success();
  }

  ThreadCode &code;
  const NvidiaMachine &machine;
  tile::AxisInfos axes;
  llvm::DenseSet<Operation *> barriers;
  bool hasFailed = false; ///< in a region that an operation had lowered
};

constexpr const char *sharedSymbol = "nereid_shared";

/// How an argument arrives, see runtime/Kernel.h: small floats as float32.
Type argumentType(Type type) {
  const bool isSmallFloat = isa<FloatType>(type) && type.getIntOrFloatBitWidth() < 32;
  if (isSmallFloat) {
    return Float32Type::get(type.getContext());
  }
  if (type.isInteger() && type.getIntOrFloatBitWidth() < 32) {
    return IntegerType::get(type.getContext(), 32);
  }
  return threadType(type);
}

Value argumentValue(ThreadCode &code, Value argument, Type type) {
  Type wanted = threadType(type);
  if (argument.getType() == wanted) {
    return argument;
  }
  return isa<FloatType>(wanted)
             ? code.builder.create<arith::TruncFOp>(code.loc, wanted, argument).getResult()
             : code.builder.create<arith::TruncIOp>(code.loc, wanted, argument).getResult();
}

/// What no program of the kernel could be launched with, whatever its code.
LogicalResult checkKernel(func::FuncOp kernel, const NvidiaMachine &machine) {
  const auto isOfPtx = [](char c) { return llvm::isAlnum(c) || c == '_'; };
  if (!llvm::all_of(kernel.getName(), isOfPtx)) {
    return unsupported(kernel, "PTX has no name '" + kernel.getName() + "'",
                       "use ASCII letters, digits and '_'");
  }
  constexpr int64_t mostThreads = 1024; // of every architecture that there is code for
  const Threads threads = threadsOf(kernel);
  if (threads.ofBlock() > mostThreads) {
    InFlightDiagnostic error = emitError(kernel.getLoc())
                               << (threads.blocks == 1 ? "a program" : "a block of a program")
                               << " of " << threads.ofBlock() / Threads::lanes << " warps has "
                               << threads.ofBlock() << " threads, but " << machine.name
                               << " has at most " << mostThreads << " [E0508]";
    error.attachNote() << "help: num_warps=" << mostThreads / Threads::lanes << " is the most";
    return error;
  }
  return success();
}

/// tl.extra.cuda.gdc_wait and its like. Before sm_90 no grid begins while the one before it runs:
/// there is nothing to wait for, and nobody to tell.
void dropGridControl(func::FuncOp kernel, const NvidiaMachine &machine) {
  if (machine.capability >= firstWithEarlyGrids) {
    return;
  }
  kernel.walk([](tile::InlineAsmOp op) {
    const auto [instruction, rest] = op.getText().split(';');
    if (instruction.starts_with("griddepcontrol.")) {
      op.setText(rest.ltrim());
    }
  });
}

} // namespace

LogicalResult lowerTilesToThreads(ModuleOp module, const NvidiaMachine &machine) {
  auto kernel = cast<func::FuncOp>(pipeline::kernelFunctions(module).front());
  if (failed(checkKernel(kernel, machine))) {
    return failure();
  }
  dropGridControl(kernel, machine);
  OpBuilder builder(module.getContext());
  builder.setInsertionPoint(kernel);
  const Location loc = kernel.getLoc();
  auto bytes = LLVM::LLVMArrayType::get(builder.getI8Type(), 0);
  builder.create<LLVM::GlobalOp>(loc, bytes, /*isConstant=*/false, LLVM::Linkage::External,
                                 sharedSymbol, Attribute(), /*alignment=*/128,
                                 unsigned(Space::Shared));
  SmallVector<Type> types;
  for (Type type : kernel.getArgumentTypes()) {
    types.push_back(argumentType(type));
  }
  auto made =
      builder.create<func::FuncOp>(loc, kernel.getName(), builder.getFunctionType(types, {}));
  for (NamedAttribute attribute : kernel->getDiscardableAttrs()) {
    made->setAttr(attribute.getName(), attribute.getValue());
  }
  Block *entry = made.addEntryBlock();
  builder.setInsertionPointToEnd(entry);
  made->removeAttr(copyBytesAttribute);
  made->removeAttr(heldAttribute);
  auto copyBytes = kernel->getAttrOfType<IntegerAttr>(copyBytesAttribute);
  auto held = kernel->getAttrOfType<IntegerAttr>(heldAttribute);
  ThreadCode code(builder, loc, threadsOf(kernel), sharedSymbol, copyBytes ? copyBytes.getInt() : 0,
                  held ? held.getInt() : 0);
  for (auto [from, to] : llvm::zip(kernel.getArguments(), entry->getArguments())) {
    code.hold(from, argumentValue(code, to, from.getType()));
  }
  markApproximateQuotients(kernel);
  KernelLowering lowering(kernel, code, machine);
  if (failed(lowering.lowerBlock(kernel.getBody().front()))) {
    return failure();
  }
  if (code.reservedShared() > machine.sharedBytes) {
    InFlightDiagnostic error = emitError(code.largestPlace())
                               << "a program needs " << code.reservedShared()
                               << " bytes of shared memory here, but " << machine.name << " has "
                               << machine.sharedBytes << " [E0501]";
    if (copyBytes) {
      error.attachNote() << copyBytes.getInt() << " bytes of operands that loops copy ahead, "
                         << code.reservedShared() - copyBytes.getInt()
                         << " bytes that threads exchange here";
    }
    error.attachNote() << "help: use smaller blocks";
    return error;
  }
  code.loc = loc;
  code.endProgram();
  code.builder.create<func::ReturnOp>(loc);
  made->setAttr(pipeline::scratchBytesAttribute, builder.getI64IntegerAttr(code.reservedShared()));
  if (auto most = mostRegisters(kernel, machine, lowering.axisInfos(), code.reservedShared())) {
    made->setAttr(mostRegistersAttribute, builder.getI64IntegerAttr(*most));
  }
  kernel.erase();
  return success();
}

} // namespace nereid::nvidia
