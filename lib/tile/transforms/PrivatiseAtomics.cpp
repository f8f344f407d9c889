// SPDX-License-Identifier: Apache-2.0
// `tile-privatise-atomics`: mark the atomic additions that threads may sum up by themselves until
// the launch ends. Why: additions to few places contend for their cache lines; private sums do not.
// Requires: all atomics of the kernel are additions without a use of their result, of one type that
// the target sums up, with no access to memory and no waiting behind any of them in program order.
// Then a late addition cannot be told from a program that was late, as there is no order between
// programs. Guarantees: additions of enough elements have the attribute `tile.private`; their
// masked elements add zero, so that the mask may be dropped where a zero never gets to memory.
// Example:
//   atomic_add(p, x, mask=m)        a tile of 64 elements, the kernel's last access
//   atomic_add(p, m ? x : 0, mask=m) {tile.private}
#include "lib/tile/analysis/BlockingLoops.h"
#include "lib/tile/analysis/MemoryAccesses.h"
#include "lib/tile/ir/Attributes.h"
#include "lib/tile/transforms/Passes.h"

using namespace mlir;

namespace nereid::tile {
namespace {

bool isAddition(Operation *op, const PrivatiseAtomicsOptions &options) {
  auto atomic = dyn_cast<AtomicRMWOp>(op);
  return atomic && atomic->use_empty() &&
         (atomic.getKind() == AtomicKind::Add || atomic.getKind() == AtomicKind::FAdd) &&
         (!options.canSum || options.canSum(elementTypeOf(atomic.getResult().getType())));
}

/// Whether something in the operation looks at memory or changes it, other than an addition.
bool accessesMemory(Operation *op, const PrivatiseAtomicsOptions &options) {
  WalkResult result = op->walk([&](Operation *inner) {
    bool isOther = isa<LoadOp, StoreOp, InlineAsmOp>(inner) ||
                   (isAtomic(inner) && !isAddition(inner, options));
    return isOther ? WalkResult::interrupt() : WalkResult::advance();
  });
  return result.wasInterrupted();
}

/// Everything that may run behind the operation in its program: what follows it and the operations
/// around it, and all of a loop around it.
bool isMemoryAccessedBehind(Operation *op, func::FuncOp kernel,
                            const PrivatiseAtomicsOptions &options) {
  for (; op != kernel; op = op->getParentOp()) {
    if (auto loop = dyn_cast<scf::ForOp>(op); loop && isCoarsenedLoop(loop)) {
      return false;
    }
    if (isa<LoopLikeOpInterface>(op) && accessesMemory(op, options)) {
      return true;
    }
    for (Operation *next = op->getNextNode(); next; next = next->getNextNode()) {
      if (accessesMemory(next, options)) {
        return true;
      }
    }
  }
  return false;
}

int64_t elementsOf(AtomicRMWOp atomic) {
  return ShapedType::getNumElements(shapeOf(atomic.getResult().getType()));
}

} // namespace

bool mayPrivatiseAtomics(func::FuncOp kernel, const PrivatiseAtomicsOptions &options) {
  Type element;
  bool isWorthIt = false;
  WalkResult result = kernel.walk([&](Operation *op) {
    auto load = dyn_cast<LoadOp>(op);
    auto loop = dyn_cast<scf::WhileOp>(op);
    if ((load && load.getIsVolatile()) || (loop && blocksOn(loop))) {
      return WalkResult::interrupt();
    }
    if (!isAtomic(op)) {
      return WalkResult::advance();
    }
    if (!isAddition(op, options) || isMemoryAccessedBehind(op, kernel, options)) {
      return WalkResult::interrupt();
    }
    auto addition = cast<AtomicRMWOp>(op);
    Type own = elementTypeOf(addition.getResult().getType());
    if (element && element != own) {
      return WalkResult::interrupt();
    }
    element = own;
    isWorthIt |= elementsOf(addition) >= options.leastElements;
    return WalkResult::advance();
  });
  return !result.wasInterrupted() && isWorthIt;
}

namespace {

/// Its masked elements add zero.
void addZeroWhereMasked(AtomicRMWOp op) {
  auto type = dyn_cast<RankedTensorType>(op.getValue().getType());
  if (!op.getMask() || !type) {
    return;
  }
  OpBuilder b(op);
  Value zero = b.create<arith::ConstantOp>(op.getLoc(), b.getZeroAttr(type));
  op.getValueMutable().assign(
      b.create<arith::SelectOp>(op.getLoc(), op.getMask(), op.getValue(), zero));
}

struct PrivatiseAtomicsPass : PassWrapper<PrivatiseAtomicsPass, OperationPass<>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(PrivatiseAtomicsPass)

  explicit PrivatiseAtomicsPass(PrivatiseAtomicsOptions options) : options(std::move(options)) {}

  StringRef getArgument() const final { return "tile-privatise-atomics"; }
  StringRef getDescription() const final {
    return "mark the atomic additions that threads may sum up by themselves";
  }

  void runOnOperation() final {
    getOperation()->walk([&](func::FuncOp kernel) {
      const bool isPrivate = mayPrivatiseAtomics(kernel, options);
      kernel.walk([&](AtomicRMWOp op) {
        tell(options.listener, op, isPrivate ? "" : "another access may see whether it is late");
        op->removeAttr(attribute::privateAtomic); // nobody else may say so
        if (isPrivate) {
          addZeroWhereMasked(op);
        }
        if (isPrivate && elementsOf(op) >= options.leastElements) {
          op->setAttr(attribute::privateAtomic, UnitAttr::get(op.getContext()));
        }
      });
    });
  }

  PrivatiseAtomicsOptions options;
};

} // namespace

std::unique_ptr<Pass> createPrivatiseAtomicsPass(PrivatiseAtomicsOptions options) {
  return std::make_unique<PrivatiseAtomicsPass>(std::move(options));
}

} // namespace nereid::tile
