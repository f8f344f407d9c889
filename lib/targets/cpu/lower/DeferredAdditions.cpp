// SPDX-License-Identifier: Apache-2.0
// The tile's additions go to the thread's sums when the runtime gives any, else to memory: two
// loops over the elements behind one choice. A line of 64 bytes that is not in the sums takes the
// place of another one by a call, which is rare where summing up is worth it. Masked elements add
// zero to the sums, and a zero never gets to memory.
#include "lib/targets/cpu/lower/DeferredAdditions.h"

#include "lib/targets/cpu/lower/BlockLowering.h"
#include "lib/targets/cpu/lower/PrefetchNext.h"
#include "lib/targets/cpu/lower/ProgramLoop.h"
#include "lib/targets/cpu/lower/WaitingLoops.h"

#include "runtime/DeferredAdditions.h"

#include <cstddef>
#include <numeric>

using namespace mlir;

namespace nereid::cpu {

using runtime::AdditionKind;
using Sums = runtime::DeferredAdditions;

/// The call for a tile costs about as much as two additions without contention.
static constexpr int64_t leastElements = 64;

static std::optional<AdditionKind> additionOf(Operation *op) {
  auto atomic = dyn_cast<tile::AtomicRMWOp>(op);
  bool isAddition =
      atomic && atomic->use_empty() &&
      (atomic.getKind() == tile::AtomicKind::Add || atomic.getKind() == tile::AtomicKind::FAdd);
  if (!isAddition) {
    return std::nullopt;
  }
  Type element = elementTypeOf(atomic.getResult());
  return element.isF32()         ? std::optional(AdditionKind::F32)
         : element.isF64()       ? std::optional(AdditionKind::F64)
         : element.isInteger(32) ? std::optional(AdditionKind::I32)
         : element.isInteger(64) ? std::optional(AdditionKind::I64)
                                 : std::nullopt;
}

/// Whether something in the operation looks at memory or changes it, other than an addition.
static bool accessesMemory(Operation *op) {
  WalkResult result = op->walk([](Operation *inner) {
    bool isOther = isa<tile::LoadOp, tile::StoreOp, tile::InlineAsmOp>(inner) ||
                   (isAtomic(inner) && !additionOf(inner));
    return isOther ? WalkResult::interrupt() : WalkResult::advance();
  });
  return result.wasInterrupted();
}

/// Everything that may run behind the operation in its program: what follows it and the operations
/// around it, and all of a loop around it.
static bool isMemoryAccessedBehind(Operation *op, func::FuncOp kernel) {
  for (; op != kernel; op = op->getParentOp()) {
    if (auto loop = dyn_cast<scf::ForOp>(op); loop && isProgramLoop(loop)) {
      return false;
    }
    if (isa<LoopLikeOpInterface>(op) && accessesMemory(op)) {
      return true;
    }
    for (Operation *next = op->getNextNode(); next; next = next->getNextNode()) {
      if (accessesMemory(next)) {
        return true;
      }
    }
  }
  return false;
}

static int64_t elementsOf(tile::AtomicRMWOp atomic) {
  return ShapedType::getNumElements(shapeOf(atomic.getResult()));
}

bool mayDeferAdditions(func::FuncOp kernel) {
  std::optional<AdditionKind> kind;
  bool isWorthIt = false;
  WalkResult result = kernel.walk([&](Operation *op) {
    auto load = dyn_cast<tile::LoadOp>(op);
    auto loop = dyn_cast<scf::WhileOp>(op);
    if ((load && load.getIsVolatile()) || (loop && waitsOn(loop))) {
      return WalkResult::interrupt();
    }
    if (!isAtomic(op)) {
      return WalkResult::advance();
    }
    std::optional<AdditionKind> own = additionOf(op);
    if (!own || (kind && *kind != *own) || isMemoryAccessedBehind(op, kernel)) {
      return WalkResult::interrupt();
    }
    kind = own;
    isWorthIt |= elementsOf(cast<tile::AtomicRMWOp>(op)) >= leastElements;
    return WalkResult::advance();
  });
  return !result.wasInterrupted() && isWorthIt;
}

static LLVM::LLVMFuncOp declare(ModuleOp module, Location loc, StringRef name, Type result,
                                ArrayRef<Type> arguments) {
  if (auto known = module.lookupSymbol<LLVM::LLVMFuncOp>(name)) {
    return known;
  }
  OpBuilder top = OpBuilder::atBlockBegin(module.getBody());
  return top.create<LLVM::LLVMFuncOp>(loc, name, LLVM::LLVMFunctionType::get(result, arguments));
}

namespace {
/// Adds one element to the thread's sums.
class SumsOfThread {
public:
  SumsOfThread(KernelState &kernel, Location loc, Value sums)
      : kernel(kernel), loc(loc), sums(sums) {}

  void add(OpBuilder &b, Value address, Value value) {
    Type word = b.getI64Type();
    Value line = b.create<arith::ShRUIOp>(loc, address, kernel.i64(llvm::Log2_64(Sums::lineBytes)));
    Value slot = b.create<arith::AndIOp>(loc, line, kernel.i64(Sums::lines - 1));
    Value tagAt = move(b, sums, word, slot);
    Value tag = b.create<LLVM::LoadOp>(loc, word, tagAt, 8);
    Value isOther = b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::ne, tag, line);
    auto change = b.create<scf::IfOp>(loc, isOther, false);
    OpBuilder then = change.getThenBodyBuilder();
    auto function =
        declare(kernel.target->getParentOfType<ModuleOp>(), loc, "nereid_rt_change_line",
                LLVM::LLVMVoidType::get(b.getContext()), {sums.getType(), word});
    then.create<LLVM::CallOp>(loc, function, ValueRange{sums, line});
    Value within =
        b.create<arith::AndIOp>(loc, address, kernel.i64(Sums::lines * Sums::lineBytes - 1));
    Value all = b.create<LLVM::GEPOp>(loc, sums.getType(), b.getI8Type(), sums,
                                      ArrayRef<LLVM::GEPArg>{offsetof(Sums, sums)});
    Value at = move(b, all, b.getI8Type(), within);
    auto align = static_cast<unsigned>(KernelState::byteSize(value.getType()));
    Value old = b.create<LLVM::LoadOp>(loc, value.getType(), at, align);
    Value sum = isa<FloatType>(value.getType())
                    ? b.create<arith::AddFOp>(loc, old, value).getResult()
                    : b.create<arith::AddIOp>(loc, old, value).getResult();
    b.create<LLVM::StoreOp>(loc, sum, at, align);
  }

private:
  Value move(OpBuilder &b, Value from, Type element, Value index) {
    return b.create<LLVM::GEPOp>(loc, from.getType(), element, from, ValueRange{index});
  }

  KernelState &kernel;
  Location loc;
  Value sums;
};
} // namespace

void prepareDeferredAdditions(func::FuncOp kernel) {
  kernel.walk([](tile::AtomicRMWOp op) {
    auto type = dyn_cast<RankedTensorType>(op.getValue().getType());
    if (!op.getMask() || !type) {
      return;
    }
    OpBuilder b(op);
    Value zero = b.create<arith::ConstantOp>(op.getLoc(), b.getZeroAttr(type));
    op.getValueMutable().assign(
        b.create<arith::SelectOp>(op.getLoc(), op.getMask(), op.getValue(), zero));
  });
}

bool BlockLowering::lowerDeferredAddition(Operation &op) {
  auto atomic = dyn_cast<tile::AtomicRMWOp>(op);
  std::optional<AdditionKind> kind = additionOf(&op);
  const int64_t elements = atomic ? elementsOf(atomic) : 0;
  if (!kernel.defersAdditions || !kind || elements < leastElements) {
    return false;
  }
  Location loc = op.getLoc();
  const int64_t mark = kernel.scratchMark();
  const int addresses = bufferOf(atomic.getPointer(), builder().getI64Type());
  const int values = bufferOf(atomic.getValue(), elementTypeOf(atomic.getValue()));
  OpBuilder &b = builder();
  Type pointer = kernel.scratchArgument.getType();
  auto function = declare(kernel.target->getParentOfType<ModuleOp>(), loc,
                          "nereid_rt_defer_additions", pointer, {b.getI32Type(), b.getI64Type()});
  Value number = kernel.constantInt(b.getI32Type(), static_cast<int32_t>(*kind));
  Value sums =
      b.create<LLVM::CallOp>(loc, function, ValueRange{number, kernel.i64(elements)}).getResult();
  Value none = b.create<LLVM::ZeroOp>(loc, pointer);
  Value isDeferred = b.create<LLVM::ICmpOp>(loc, LLVM::ICmpPredicate::ne, sums, none);
  auto choice = b.create<scf::IfOp>(loc, isDeferred, true);
  scope.builder = choice.getThenBodyBuilder();
  const int64_t block = std::gcd<int64_t>(8, elements);
  forBlocks(loc, elements, block, [&](OpBuilder &inside, Value first, unsigned) {
    inside.getBlock()->getParentOp()->setAttr(hostsPrefetches, inside.getUnitAttr());
    for (int64_t i = 0; i < block; ++i) {
      Value index = inside.create<arith::AddIOp>(loc, first, kernel.i64(i));
      SumsOfThread(kernel, loc, sums)
          .add(inside, loadLanes(inside, loc, addresses, index, 1),
               loadLanes(inside, loc, values, index, 1));
    }
  });
  scope.builder = choice.getElseBodyBuilder();
  Dims dims = identityDims(shapeOf(atomic.getResult()).size());
  forEachElement(loc, shapeOf(atomic.getResult()), [&](Evaluator &evaluator, Value) {
    emitAtomic(evaluator.scopes.back()->builder, op,
               [&](Value value) { return evaluator.evaluate(value, dims, 0); });
  });
  scope.builder.setInsertionPointAfter(choice);
  kernel.releaseTo(mark);
  return true;
}

} // namespace nereid::cpu
