// SPDX-License-Identifier: Apache-2.0
// cpu-interleave-vectors: compute the vectors of one iteration side by side, step by step.
//
// Why: each vector's exponential is a chain; computed one after the other, most of what a processor
// looks ahead at waits for its own chain. Step by step, each result is there when it is asked for.
// Requires: expand-math has run; main loops of nests carry `cpu.whole_vectors`. Loops
// without carried values are left to cpu-overlap-iterations.
// Guarantees: the same operations; loops that store stay as they are.
// Example: `a = f(x); b = g(a); c = f(y); d = g(c)` becomes `a = f(x); c = f(y); b = g(a);
// d = g(c)`.
#include "lib/targets/cpu/Attributes.h"
#include "lib/targets/cpu/MachineSizes.h"
#include "lib/targets/cpu/loops/Passes.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "llvm/ADT/SetVector.h"

#include <algorithm>

using namespace mlir;

namespace nereid::cpu {
namespace {

/// Operations one behind the other, below which the processor sees the next vector in time.
constexpr int shortestChain = 8;
/// Loads for each carried vector, above which memory binds: cross entropy of float32 from memory is
/// slower by 3 % in this order, from the caches faster by 9 %.
constexpr double mostLoads = 0.5;

class Steps {
public:
  Steps(scf::ForOp loop, const Machine &machine)
      : loop(loop), mostAlive(sizes::mostAlive(machine)) {}

  void interleave() {
    if (!classify() || longest < shortestChain || isBoundByMemory()) {
      return;
    }
    SmallVector<Operation *> order;
    for (Operation &op : loop.getBody()->without_terminator()) {
      order.push_back(&op);
    }
    std::stable_sort(order.begin(), order.end(), [this](Operation *a, Operation *b) {
      return steps.lookup(a) < steps.lookup(b);
    });
    if (alive(order) > mostAlive) {
      return;
    }
    for (Operation *op : order) {
      op->moveBefore(loop.getBody()->getTerminator());
    }
  }

private:
  /// The step of each operation, 0 for what waits for no load; false where something is stored:
  /// stores wait for their turn, and softmax in this order is slower by 3 %.
  bool classify() {
    for (Operation &op : loop.getBody()->without_terminator()) {
      int step = 0;
      for (Value operand : op.getOperands()) {
        Operation *from = operand.getDefiningOp();
        if (isa_and_nonnull<LLVM::LoadOp>(from) || steps.lookup(from) > 0) {
          step = std::max(step, steps.lookup(from) + 1);
        }
      }
      bool isFirst = isa<LLVM::LoadOp, LLVM::Prefetch>(op);
      if ((isFirst && step != 0) || (!isFirst && !isValue(&op))) {
        return false;
      }
      loads += isa<LLVM::LoadOp>(op);
      steps[&op] = step;
      longest = std::max(longest, step);
    }
    return true;
  }

  bool isBoundByMemory() const {
    return static_cast<double>(loads) > mostLoads * static_cast<double>(loop.getInitArgs().size());
  }

  /// Computes from its operands alone. The functions called are those of math/ and of conversions.
  static bool isValue(Operation *op) {
    bool isCall = isa<LLVM::CallIntrinsicOp>(op) && op->getNumResults() == 1 &&
                  llvm::none_of(op->getOperandTypes(), llvm::IsaPred<LLVM::LLVMPointerType>);
    return isCall || (op->getNumRegions() == 0 && isPure(op));
  }

  /// The most vectors that live at once in this order, with what the loop only reads.
  size_t alive(ArrayRef<Operation *> order) const {
    llvm::DenseMap<Value, Operation *> lastUse;
    llvm::DenseSet<const void *> always; // constants by what they are
    for (Operation *op : order) {
      for (Value operand : op->getOperands()) {
        Operation *from = operand.getDefiningOp();
        Attribute constant;
        if (!isa<VectorType>(operand.getType())) {
          continue;
        }
        if (matchPattern(operand, m_Constant(&constant))) {
          always.insert(constant.getAsOpaquePointer());
        } else if (from && from->getBlock() == loop.getBody()) {
          lastUse[operand] = op;
        } else {
          always.insert(operand.getAsOpaquePointer());
        }
      }
    }
    size_t now = always.size(), most = now;
    for (Operation *op : order) {
      llvm::SmallSetVector<Value, 4> ending;
      for (Value operand : op->getOperands()) {
        auto use = lastUse.find(operand);
        if (use != lastUse.end() && use->second == op) {
          ending.insert(operand);
        }
      }
      now -= ending.size();
      now += llvm::count_if(op->getResults(), [&](Value result) { return lastUse.count(result); });
      most = std::max(most, now);
    }
    return most;
  }

  mutable scf::ForOp loop; // a handle whose members are not const
  llvm::DenseMap<Operation *, int> steps;
  size_t loads = 0;
  int longest = 0;
  const size_t mostAlive;
};

class InterleaveVectorsPass : public PassWrapper<InterleaveVectorsPass, OperationPass<ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(InterleaveVectorsPass)

  explicit InterleaveVectorsPass(const CpuMachine &machine) : machine(machine) {}

  StringRef getArgument() const override { return "cpu-interleave-vectors"; }
  StringRef getDescription() const override {
    return "compute the vectors of one iteration side by side, step by step";
  }

  void runOnOperation() override {
    if (!machine.hasAvx512) { // fewer registers, or not measured
      return;
    }
    getOperation()->walk([&](scf::ForOp loop) {
      if (loop->hasAttr(attribute::wholeVectors) && !loop.getInitArgs().empty()) {
        Steps(loop, machine).interleave();
      }
    });
  }

private:
  CpuMachine machine;
};

} // namespace

std::unique_ptr<Pass> createInterleaveVectorsPass(const CpuMachine &machine) {
  return std::make_unique<InterleaveVectorsPass>(machine);
}

} // namespace nereid::cpu
