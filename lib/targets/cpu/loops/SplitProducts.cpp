// SPDX-License-Identifier: Apache-2.0
// cpu-split-products: compute chains of 32-bit products in their even and odd lanes.
//
// Why: x86 multiplies 32-bit lanes to 64 bits only in every second one. Two products of such
// vectors hold both halves of all lanes, so that a chain that stays in this form needs no shuffle
// and no third multiplication for the lower halves; the upper 32 bits of each lane mean nothing.
// Chains of an unrolled body are written side by side, as one alone waits for its own results.
// Requires: expand-math has run (no new products come later).
// Guarantees: results are the same bits.
// Example: `%h = trunci(shrui(muli(extui %x, extui %y), 32)) : vector<16xi32>` becomes two products
// on vector<8xi64>, of `%x` and of `%x >> 32`.
#include "lib/targets/cpu/loops/SplitProducts.h"

#include "lib/targets/cpu/loops/ChainRewriter.h"
#include "lib/targets/cpu/loops/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace nereid::cpu {
namespace {

bool isSameShape(const ProductChain &a, const ProductChain &b) {
  return a.size() == b.size() && llvm::all_of(llvm::zip(a, b), [](auto pair) {
           auto [x, y] = pair;
           return x->getName() == y->getName() && x->getResultTypes() == y->getResultTypes();
         });
}

/// Moves what chains are computed from before `place`, so that they can be written side by side.
class Hoister {
public:
  Hoister(Operation *place, ArrayRef<ProductChain> chains) : place(place) {
    for (const ProductChain &chain : chains) {
      members.insert(chain.begin(), chain.end());
    }
  }

  /// False when something cannot move; nothing has moved then.
  bool hoist(ArrayRef<ProductChain> chains) {
    for (const ProductChain &chain : chains) {
      for (Operation *op : chain) {
        HighProduct product;
        const bool isHigh = matchHighProduct(op, product);
        SmallVector<Value> sources =
            isHigh ? SmallVector<Value>{product.a} : SmallVector<Value>(op->getOperands());
        if (isHigh && product.b) {
          sources.push_back(product.b);
        }
        if (!llvm::all_of(sources, [&](Value source) {
              Operation *from = source.getDefiningOp();
              return !from || members.count(from) || plan(from);
            })) {
          return false;
        }
      }
    }
    for (Operation *op : order) {
      op->moveBefore(place);
    }
    return true;
  }

private:
  bool plan(Operation *op) {
    if (op->getBlock() != place->getBlock() || op->isBeforeInBlock(place) || planned.count(op)) {
      return true;
    }
    if (members.count(op) || op->getNumRegions() != 0 || !isPure(op)) {
      return false;
    }
    for (Value operand : op->getOperands()) {
      if (Operation *from = operand.getDefiningOp(); from && !plan(from)) {
        return false;
      }
    }
    planned.insert(op);
    order.push_back(op);
    return true;
  }

  Operation *place;
  DenseSet<Operation *> members, planned;
  SmallVector<Operation *> order;
};

/// Operations that serve nothing but the chains once their results come from elsewhere, last first.
SmallVector<Operation *> onlyForChains(ArrayRef<ProductChain> chains, DenseSet<Operation *> &dead) {
  SmallVector<Operation *> candidates;
  DenseSet<Operation *> listed;
  auto list = [&](Operation *op) {
    if (op && listed.insert(op).second) {
      candidates.push_back(op);
    }
  };
  for (const ProductChain &chain : chains) {
    for (Operation *op : chain) {
      dead.insert(op);
      list(op);
      HighProduct product;
      if (matchHighProduct(op, product)) {
        Operation *shift = op->getOperand(0).getDefiningOp();
        Operation *multiply = shift->getOperand(0).getDefiningOp();
        list(shift);
        list(multiply);
        for (Value factor : multiply->getOperands()) {
          list(isa<arith::ExtUIOp>(factor.getDefiningOp()) ? factor.getDefiningOp() : nullptr);
        }
      }
    }
  }
  llvm::sort(candidates, [](Operation *a, Operation *b) {
    return a->getBlock() == b->getBlock() ? b->isBeforeInBlock(a) : a > b;
  });
  for (Operation *op : candidates) {
    if (llvm::all_of(op->getUsers(), [&](Operation *user) { return dead.count(user); })) {
      dead.insert(op);
    }
  }
  llvm::erase_if(candidates, [&](Operation *op) { return !dead.count(op); });
  return candidates;
}

/// Writes them before `place`.
void rewriteChains(ArrayRef<ProductChain> chains, Operation *place, const CpuMachine &machine) {
  SmallVector<ChainRewriter> rewriters(
      chains.size(), ChainRewriter(place, machine.hasAvx512 && machine.vectorBytes == 64));
  DenseSet<Operation *> dead;
  const SmallVector<Operation *> lastFirst = onlyForChains(chains, dead);
  // One operation of each in turn.
  for (size_t i = 0; i < chains.front().size(); ++i) {
    for (size_t chain = 0; chain < chains.size(); ++chain) {
      rewriters[chain].rewrite(chains[chain][i]);
    }
  }
  auto isOutside = [&](OpOperand &use) { return !dead.count(use.getOwner()); };
  for (size_t chain = 0; chain < chains.size(); ++chain) {
    for (Operation *op : chains[chain]) {
      Value result = op->getResult(0);
      if (llvm::any_of(result.getUses(), isOutside)) {
        result.replaceUsesWithIf(rewriters[chain].join(result), isOutside);
      }
    }
  }
  for (Operation *op : lastFirst) {
    op->erase();
  }
}

class SplitProductsPass : public PassWrapper<SplitProductsPass, OperationPass<ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(SplitProductsPass)

  explicit SplitProductsPass(const CpuMachine &machine) : machine(machine) {}

  StringRef getArgument() const override { return "cpu-split-products"; }
  StringRef getDescription() const override {
    return "compute chains of 32-bit products in their even and odd lanes";
  }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<arith::ArithDialect, LLVM::LLVMDialect, vector::VectorDialect>();
  }

  void runOnOperation() override {
    if (machine.instructionSet != Architecture::X86) { // others have products of neighbours
      return;
    }
    getOperation()->walk([&](Block *block) {
      SmallVector<ProductChain> chains =
          findProductChains(*block, static_cast<unsigned>(machine.vectorBytes));
      for (size_t first = 0; first < chains.size();) {
        size_t end = first + 1;
        // Four of them keep 32 values; spilling some costs less than waiting for results.
        while (machine.vectorRegisters >= 32 && end < chains.size() &&
               isSameShape(chains[first], chains[end])) {
          ++end;
        }
        ArrayRef<ProductChain> alike = ArrayRef(chains).slice(first, end - first);
        if (!Hoister(alike.front().front(), alike).hoist(alike)) {
          alike = alike.take_front();
          if (!Hoister(alike.front().front(), alike).hoist(alike)) {
            ++first;
            continue;
          }
        }
        first += alike.size();
        rewriteChains(alike, alike.front().front(), machine);
      }
    });
  }

private:
  CpuMachine machine;
};

} // namespace

std::unique_ptr<Pass> createSplitProductsPass(const CpuMachine &machine) {
  return std::make_unique<SplitProductsPass>(machine);
}

} // namespace nereid::cpu
