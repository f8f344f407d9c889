// SPDX-License-Identifier: Apache-2.0
// join-rare-branches: put branches to what few lanes need behind one branch to all of them.
//
// Why: a thread that computes several elements one after another has a branch for each. Every one
// of them costs instructions for threads that part and meet, and holds the elements apart, so that
// none is computed while another one waits. Where no element is rare, which is nearly always, one
// branch tells it for all. Requires: expand-math has run; branches are marked as rare. Guarantees:
// no mark is left. The results are the same: only what has no effect is moved. Example: `%r =
// scf.if %c {..} else { yield %x }`, `%s = scf.if %d {..} else { yield %y }` becomes
// `%any = arith.ori %c, %d`, `%t:2 = scf.if %any { both of them, yield %r, %s } else { yield %x, %y
// }`.
#include "lib/lowering/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace nereid::lowering {
namespace {

/// An instruction that no operation stands for has none either, where it computes floats of floats.
/// What is loaded of memory that nobody writes is the same everywhere.
bool hasNoEffect(Operation *op) {
  auto areFloats = [](TypeRange types) {
    return !types.empty() && llvm::all_of(types, [](Type type) { return isa<FloatType>(type); });
  };
  if (op->hasTrait<OpTrait::HasRecursiveMemoryEffects>()) {
    return llvm::all_of(op->getRegions(), [](Region &region) {
      return llvm::all_of(region.getOps(), [](Operation &inner) { return hasNoEffect(&inner); });
    });
  }
  if (auto load = dyn_cast<LLVM::LoadOp>(op)) {
    return load.getInvariant() && !load.getVolatile_();
  }
  if (auto assembly = dyn_cast<LLVM::InlineAsmOp>(op)) {
    return !assembly.getHasSideEffects() && areFloats(op->getOperandTypes());
  }
  return isMemoryEffectFree(op) ||
         (isa<LLVM::CallIntrinsicOp>(op) && areFloats(op->getOperandTypes()) &&
          areFloats(op->getResultTypes()));
}

/// More than these would hold too many registers at once.
constexpr size_t mostBranches = 8;

/// Branches of a block that become one, where the last one stands.
class Group {
public:
  /// Takes the next operation of the block, unless it can stand neither before nor behind the
  /// group.
  bool take(Operation *op) {
    const bool needsGroup = dependsOnGroup(op);
    if (isJoinable(op) && !needsGroup && branches.size() < mostBranches) {
      branches.push_back(cast<scf::IfOp>(op));
      joined = behind.size();
      remember(op);
      return true;
    }
    if (isJoinable(op) || (needsGroup && !hasNoEffect(op))) {
      return false;
    }
    if (needsGroup) {
      behind.push_back(op);
      remember(op);
    }
    return true;
  }

  void join() {
    if (branches.size() > 1) {
      joinAll();
    }
  }

private:
  static bool isJoinable(Operation *op) {
    auto branch = dyn_cast<scf::IfOp>(op);
    return branch && branch->hasAttr(rareAttribute) && branch.elseBlock() &&
           llvm::hasSingleElement(*branch.elseBlock()) && hasNoEffect(branch);
  }

  bool dependsOnGroup(Operation *op) const {
    bool depends = false;
    op->walk([&](Operation *inner) {
      depends = depends || llvm::any_of(inner->getOperands(),
                                        [&](Value value) { return results.contains(value); });
    });
    return depends;
  }

  void remember(Operation *op) { results.insert(op->result_begin(), op->result_end()); }

  void joinAll() {
    scf::IfOp last = branches.back();
    // What needs a result, and stood before the last branch.
    Operation *end = last;
    for (Operation *op : llvm::ArrayRef(behind).take_front(joined)) {
      op->moveAfter(end);
      end = op;
    }
    OpBuilder b(last);
    const Location loc = last.getLoc();
    Value any = branches.front().getCondition();
    SmallVector<Type> types;
    SmallVector<Value> inner, usual;
    for (scf::IfOp branch : branches) {
      if (branch != branches.front()) {
        b.setInsertionPoint(branch); // so that few conditions are held at once
        any = b.create<arith::OrIOp>(loc, any, branch.getCondition());
      }
      llvm::append_range(types, branch.getResultTypes());
      llvm::append_range(inner, branch.getResults());
      llvm::append_range(usual, branch.elseYield().getOperands());
    }
    b.setInsertionPoint(last);
    auto whole = b.create<scf::IfOp>(loc, types, any, /*withElseRegion=*/true);
    for (auto [before, now] : llvm::zip_equal(inner, whole.getResults())) {
      before.replaceAllUsesWith(now);
    }
    b.setInsertionPointToStart(whole.elseBlock());
    b.create<scf::YieldOp>(loc, usual);
    b.setInsertionPointToStart(whole.thenBlock());
    auto yield = b.create<scf::YieldOp>(loc, inner);
    for (scf::IfOp branch : branches) {
      branch->moveBefore(yield);
    }
  }

  SmallVector<scf::IfOp> branches;
  SmallVector<Operation *> behind; ///< what needs a result of the group, in order
  size_t joined = 0;               ///< how many of them stand before the last branch
  llvm::DenseSet<Value> results;   ///< of the branches and of what needs one
};

void joinIn(Block &block) {
  SmallVector<Operation *> operations;
  for (Operation &op : block.without_terminator()) {
    operations.push_back(&op);
  }
  Group group;
  for (Operation *op : operations) {
    if (!group.take(op)) {
      group.join();
      group = Group();
      group.take(op);
    }
  }
  group.join();
}

class JoinRareBranchesPass : public PassWrapper<JoinRareBranchesPass, OperationPass<>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(JoinRareBranchesPass)

  StringRef getArgument() const override { return "join-rare-branches"; }
  StringRef getDescription() const override {
    return "put branches to what few lanes need behind one branch to all of them";
  }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<arith::ArithDialect, scf::SCFDialect>();
  }

  void runOnOperation() override {
    SmallVector<Operation *> marked;
    llvm::SetVector<Block *> blocks;
    getOperation()->walk([&](scf::IfOp branch) {
      if (branch->hasAttr(rareAttribute)) {
        marked.push_back(branch);
        blocks.insert(branch->getBlock());
      }
    });
    for (Block *block : blocks) {
      joinIn(*block);
    }
    for (Operation *branch : marked) {
      branch->removeAttr(rareAttribute);
    }
  }
};

} // namespace

std::unique_ptr<Pass> createJoinRareBranchesPass() {
  return std::make_unique<JoinRareBranchesPass>();
}

} // namespace nereid::lowering
