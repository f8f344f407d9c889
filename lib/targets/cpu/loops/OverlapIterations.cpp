// SPDX-License-Identifier: Apache-2.0
// cpu-overlap-iterations: compute the first half of the next iteration beside the second half of
// this one.
//
// Why: a processor looks ahead by some two hundred operations of which most wait. In a long chain
// of polynomials these are two or three iterations, so that its units idle; what was computed an
// iteration ago need not be waited for.
// Requires: cpu-split-products has run (its loops stay as they are); main loops of nests carry
// `cpu.whole_vectors`, load before they store, and store nothing that a later iteration loads.
// Guarantees: the same values in the same places; a load is repeated at the end of a loop.
// Example: `for i: { store f(g(load i)) }` becomes `for i = -1 …, carrying c: { c' = g(load i + 1);
// if i >= 0: { store f(c) } }`.
#include "lib/targets/cpu/Attributes.h"
#include "lib/targets/cpu/MachineSizes.h"
#include "lib/targets/cpu/loops/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace nereid::cpu {
namespace {

/// Cycles until the last result, below which the processor looks far enough ahead by itself.
constexpr int shortestChain = 40;
/// Operations looked at to find the middle; every place that is tried looks at all of them.
constexpr int64_t mostVisits = 100000;

/// Cycles, roughly: what matters is where half of them have passed.
int latencyOf(Operation *op) {
  if (isa<LLVM::LoadOp, LLVM::MaskedLoadOp, LLVM::masked_gather>(op)) {
    return 7;
  }
  if (isa<arith::DivFOp, math::SqrtOp>(op)) {
    return 14;
  }
  if (isa<arith::AddFOp, arith::SubFOp, arith::MulFOp, math::FmaOp, LLVM::CallIntrinsicOp,
          arith::ExtFOp, arith::TruncFOp, arith::SIToFPOp, arith::FPToSIOp, arith::MulIOp,
          arith::CmpFOp, arith::CmpIOp>(op)) {
    return 4;
  }
  return isa<arith::BitcastOp, vector::BitCastOp, LLVM::BitcastOp, arith::ConstantOp>(op) ? 0 : 2;
}

bool isLoad(Operation *op) {
  if (auto load = dyn_cast<LLVM::LoadOp>(op)) {
    return !load.getVolatile_() && isa<VectorType>(load.getType());
  }
  return isa<LLVM::MaskedLoadOp>(op);
}

/// Computes vectors from its operands alone.
bool isValue(Operation *op) {
  if (isa<LLVM::CallIntrinsicOp>(op)) { // those of math/ and the conversions touch no memory
    return op->getNumResults() == 1 && isa<VectorType>(op->getResult(0).getType()) &&
           llvm::none_of(op->getOperandTypes(), llvm::IsaPred<LLVM::LLVMPointerType>);
  }
  return op->getNumRegions() == 0 && op->getNumResults() == 1 && isPure(op);
}

class Stages {
public:
  Stages(scf::ForOp loop, const Machine &machine)
      : loop(loop), mostCarried(sizes::mostCarried(machine)) {}

  bool overlap() {
    if (!loop.getInitArgs().empty() || !classify() || !cut()) {
      return false;
    }
    rewrite();
    return true;
  }

private:
  /// Sorts operations by what they need; false for a loop that must stay as it is.
  bool classify() {
    bool stores = false;
    for (Operation &op : loop.getBody()->without_terminator()) {
      if (isLoad(&op)) {
        if (stores) {
          return false;
        }
        loaded[&op] = finish(&op);
      } else if (isValue(&op)) {
        if (needsLoads(&op)) {
          if (!isa<VectorType>(op.getResult(0).getType())) {
            return false;
          }
          loaded[&op] = finish(&op);
        }
      } else if (isEffect(&op)) {
        stores = true;
        continue;
      } else {
        return false;
      }
      auto known = loaded.find(&op);
      chain = std::max(chain, known == loaded.end() ? 0 : known->second);
    }
    return stores && chain >= shortestChain;
  }

  /// Stores and prefetches, also where a condition decides how.
  bool isEffect(Operation *op) const {
    if (isa<LLVM::StoreOp, LLVM::MaskedStoreOp, LLVM::Prefetch>(op)) {
      return true;
    }
    auto choice = dyn_cast<scf::IfOp>(op);
    if (!choice || choice.getNumResults() != 0) {
      return false;
    }
    bool isAll = true;
    choice.walk([&](Operation *inner) {
      isAll &= inner == op || isa<scf::YieldOp>(inner) || isValue(inner) ||
               isa<LLVM::StoreOp, LLVM::MaskedStoreOp, LLVM::Prefetch>(inner);
    });
    return isAll;
  }

  bool needsLoads(Operation *op) const {
    return llvm::any_of(op->getOperands(),
                        [&](Value operand) { return loaded.count(operand.getDefiningOp()); });
  }

  int finish(Operation *op) const {
    int start = 0;
    for (Value operand : op->getOperands()) {
      auto known = loaded.find(operand.getDefiningOp());
      start = std::max(start, known == loaded.end() ? 0 : known->second);
    }
    return start + latencyOf(op);
  }

  /// Finds the halves near the middle that the fewest values connect.
  bool cut() {
    size_t fewest = mostCarried + 1;
    const int first = chain * 2 / 5, last = chain * 3 / 5;
    const auto step =
        static_cast<int>((last - first) * static_cast<int64_t>(loaded.size()) / mostVisits) + 1;
    for (int time = first; time <= last; time += step) {
      llvm::DenseSet<Operation *> candidate = doneBy(time);
      llvm::SetVector<Value> across = livesAcross(candidate);
      for (size_t before = across.size() + 1; across.size() < before;) {
        before = across.size();
        sink(candidate, across);
        across = livesAcross(candidate);
      }
      if (across.size() < fewest && readsNothingLate(candidate)) {
        fewest = across.size();
        early = candidate;
        carried = across;
      }
    }
    const bool isVectors = llvm::all_of(carried, [](Value value) {
      return !cast<VectorType>(value.getType()).getElementType().isInteger(1);
    });
    return fewest <= mostCarried && !carried.empty() && isVectors;
  }

  llvm::DenseSet<Operation *> doneBy(int time) const {
    llvm::DenseSet<Operation *> done;
    for (auto [op, finished] : loaded) {
      if (finished <= time || isLoad(op)) {
        done.insert(op);
      }
    }
    return done;
  }

  /// Moves to the second half what it can compute from values that it gets anyway, or from one more
  /// value where that saves two.
  void sink(llvm::DenseSet<Operation *> &candidate, const llvm::SetVector<Value> &across) const {
    llvm::MapVector<Value, SmallVector<Operation *>> movable; // by the value that they lack
    for (Value value : across) {
      Operation *op = value.getDefiningOp();
      const bool isLast =
          llvm::none_of(op->getUsers(), [&](Operation *user) { return candidate.count(user); });
      llvm::SmallSetVector<Value, 4> lacking;
      for (Value operand : op->getOperands()) {
        if (loaded.count(operand.getDefiningOp()) && !across.contains(operand)) {
          lacking.insert(operand);
        }
      }
      if (!isLoad(op) && isLast && lacking.size() < 2) {
        movable[lacking.empty() ? Value() : lacking.front()].push_back(op);
      }
    }
    for (auto &[lacking, ops] : movable) {
      if (!lacking || ops.size() > 1) {
        llvm::for_each(ops, [&](Operation *op) { candidate.erase(op); });
      }
    }
  }

  /// False for a load that waits for another one.
  bool readsNothingLate(const llvm::DenseSet<Operation *> &candidate) const {
    return llvm::all_of(candidate, [&](Operation *op) {
      return llvm::all_of(op->getOperands(), [&](Value operand) {
        Operation *from = operand.getDefiningOp();
        return !loaded.count(from) || candidate.count(from);
      });
    });
  }

  llvm::SetVector<Value> livesAcross(const llvm::DenseSet<Operation *> &candidate) const {
    llvm::SetVector<Value> across;
    for (Operation &op : loop.getBody()->without_terminator()) {
      if (!candidate.count(&op)) {
        op.walk([&](Operation *inner) {
          for (Value operand : inner->getOperands()) {
            if (candidate.count(operand.getDefiningOp())) {
              across.insert(operand);
            }
          }
        });
      }
    }
    return across;
  }

  void rewrite() {
    OpBuilder builder(loop);
    Location loc = loop.getLoc();
    const Value low = loop.getLowerBound(), high = loop.getUpperBound(), step = loop.getStep();
    auto less = [&](Value a, Value b) {
      return builder.create<arith::CmpIOp>(loc, arith::CmpIPredicate::slt, a, b).getResult();
    };
    Value before = builder.create<arith::SubIOp>(loc, low, step);
    Value start = builder.create<arith::SelectOp>(loc, less(low, high), before, high);
    SmallVector<Value> initial;
    for (Value value : carried) {
      initial.push_back(
          builder.create<arith::ConstantOp>(loc, builder.getZeroAttr(value.getType())));
    }
    auto overlapped = builder.create<scf::ForOp>(loc, start, high, step, initial);
    overlapped->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
    builder.setInsertionPointToStart(overlapped.getBody());
    const Value now = overlapped.getInductionVar();
    Value next = builder.create<arith::AddIOp>(loc, now, step);
    next = builder.create<arith::SelectOp>(loc, less(next, high), next, now);
    IRMapping first, late;
    first.map(loop.getInductionVar(), next);
    late.map(loop.getInductionVar(), now);
    for (Operation &op : loop.getBody()->without_terminator()) {
      if (early.count(&op) || (isValue(&op) && !loaded.count(&op))) {
        builder.clone(op, first);
      }
    }
    Value isInside = builder.create<arith::CmpIOp>(loc, arith::CmpIPredicate::sge, now, low);
    auto second = builder.create<scf::IfOp>(loc, isInside, /*withElseRegion=*/false);
    SmallVector<Value> yielded;
    for (auto [value, argument] : llvm::zip(carried, overlapped.getRegionIterArgs())) {
      yielded.push_back(first.lookup(value));
      late.map(value, argument);
    }
    builder.create<scf::YieldOp>(loc, yielded);
    builder.setInsertionPointToStart(second.thenBlock());
    for (Operation &op : loop.getBody()->without_terminator()) {
      if (!early.count(&op)) {
        builder.clone(op, late);
      }
    }
    loop.erase();
  }

  mutable scf::ForOp loop;                 // a handle whose members are not const
  llvm::DenseMap<Operation *, int> loaded; ///< what depends on loads, and when it is done
  int chain = 0;
  llvm::DenseSet<Operation *> early; ///< the first half of what depends on loads
  llvm::SetVector<Value> carried;
  const size_t mostCarried;
};

class OverlapIterationsPass : public PassWrapper<OverlapIterationsPass, OperationPass<ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(OverlapIterationsPass)

  explicit OverlapIterationsPass(const CpuMachine &machine) : machine(machine) {}

  StringRef getArgument() const override { return "cpu-overlap-iterations"; }
  StringRef getDescription() const override {
    return "compute the first half of the next iteration beside the second half of this one";
  }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<arith::ArithDialect, scf::SCFDialect>();
  }

  void runOnOperation() override {
    if (!machine.hasAvx512) { // fewer registers than what is carried, or not measured
      return;
    }
    SmallVector<scf::ForOp> loops;
    getOperation()->walk([&](scf::ForOp loop) {
      if (loop->hasAttr(attribute::wholeVectors)) {
        loops.push_back(loop);
      }
    });
    for (scf::ForOp loop : loops) {
      Stages(loop, machine).overlap();
    }
  }

private:
  CpuMachine machine;
};

} // namespace

std::unique_ptr<Pass> createOverlapIterationsPass(const CpuMachine &machine) {
  return std::make_unique<OverlapIterationsPass>(machine);
}

} // namespace nereid::cpu
