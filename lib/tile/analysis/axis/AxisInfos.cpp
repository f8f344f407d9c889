// SPDX-License-Identifier: Apache-2.0
// The fixpoint: MLIR's sparse forward analysis carries the facts through loops and branches.
#include "lib/tile/analysis/axis/Assumptions.h"
#include "lib/tile/analysis/axis/AxisRules.h"

#include "lib/tile/ir/Tile.h"

#include "mlir/Analysis/DataFlow/ConstantPropagationAnalysis.h"
#include "mlir/Analysis/DataFlow/DeadCodeAnalysis.h"
#include "mlir/Analysis/DataFlow/SparseAnalysis.h"

namespace nereid::tile {

namespace dataflow = mlir::dataflow;
using mlir::ChangeResult;

/// What is known of one value; nothing before a path to it was seen.
class AxisLattice : public dataflow::AbstractSparseLattice {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(AxisLattice)
  using AbstractSparseLattice::AbstractSparseLattice;

  const std::optional<AxisInfo> &info() const { return known; }

  ChangeResult join(const AbstractSparseLattice &other) override {
    const auto &more = static_cast<const AxisLattice &>(other).known;
    return more ? join(*more) : ChangeResult::NoChange;
  }
  ChangeResult join(const AxisInfo &more) {
    if (!known) {
      known = more;
      return ChangeResult::Change;
    }
    AxisInfo both = *known;
    both.join(more);
    if (both == *known) {
      return ChangeResult::NoChange;
    }
    ++changes;
    if (isLoopValue() && changes > changesBeforeWidening) {
      both.widen(*known);
    }
    known = changes < changesAtMost ? both : AxisInfo(getPoint().getType());
    return ChangeResult::Change;
  }
  void print(llvm::raw_ostream &out) const override {
    if (known) {
      known->print(out);
    }
  }

private:
  /// Every cycle leads through an argument of a block.
  bool isLoopValue() const { return mlir::isa<mlir::BlockArgument>(getPoint()); }

  /// A range that steps grow would take as many rounds as the loop has iterations.
  static constexpr unsigned changesBeforeWidening = 3;
  /// Everything else can only get shorter, or twos fewer; this is for safety.
  static constexpr unsigned changesAtMost = 1000;
  std::optional<AxisInfo> known;
  unsigned changes = 0;
};

namespace {

/// Says of every value that it is no constant: which branches are taken is not looked into, as
/// canonical programs have no constant conditions.
class NoConstants
    : public dataflow::SparseForwardDataFlowAnalysis<dataflow::Lattice<dataflow::ConstantValue>> {
  using Lattice = dataflow::Lattice<dataflow::ConstantValue>;

public:
  using SparseForwardDataFlowAnalysis::SparseForwardDataFlowAnalysis;
  void visitOperation(mlir::Operation *, llvm::ArrayRef<const Lattice *>,
                      llvm::ArrayRef<Lattice *> results) override {
    setAllToEntryStates(results);
  }
  void setToEntryState(Lattice *lattice) override {
    propagateIfChanged(lattice, lattice->join(dataflow::ConstantValue::getUnknownConstant()));
  }
};

class AxisAnalysis : public dataflow::SparseForwardDataFlowAnalysis<AxisLattice> {
public:
  AxisAnalysis(mlir::DataFlowSolver &solver, Overflow overflow, const Assumptions &assumptions)
      : SparseForwardDataFlowAnalysis(solver), overflow(overflow), assumptions(assumptions) {}

  void visitOperation(mlir::Operation *op, llvm::ArrayRef<const AxisLattice *> operands,
                      llvm::ArrayRef<AxisLattice *> results) override {
    llvm::SmallVector<AxisInfo> infos;
    for (const AxisLattice *operand : operands) {
      if (!operand->info()) {
        return; // a later visit comes when there is something to say
      }
      infos.push_back(*operand->info());
    }
    for (auto [lattice, info] : llvm::zip(results, inferAxisInfo(op, infos, overflow))) {
      join(lattice, info);
    }
  }

  void visitNonControlFlowArguments(mlir::Operation *op, const mlir::RegionSuccessor &successor,
                                    llvm::ArrayRef<AxisLattice *> arguments,
                                    unsigned firstIndex) override {
    auto loop = mlir::dyn_cast<mlir::scf::ForOp>(op);
    if (!loop || arguments.empty() || arguments.front()->getPoint() != loop.getInductionVar()) {
      SparseForwardDataFlowAnalysis::visitNonControlFlowArguments(op, successor, arguments,
                                                                  firstIndex);
      return;
    }
    // The block is visited again when a bound changes.
    mlir::Block *body = loop.getBody();
    const AxisLattice *low = getLatticeElementFor(body, loop.getLowerBound());
    const AxisLattice *high = getLatticeElementFor(body, loop.getUpperBound());
    const AxisLattice *step = getLatticeElementFor(body, loop.getStep());
    if (low->info() && high->info() && step->info()) {
      join(arguments.front(), inductionInfo(loop.getInductionVar().getType(), *low->info(),
                                            *high->info(), *step->info()));
    }
  }

  void setToEntryState(AxisLattice *lattice) override {
    auto argument = mlir::dyn_cast<mlir::BlockArgument>(lattice->getPoint());
    join(lattice, argument ? argumentInfo(argument) : AxisInfo(lattice->getPoint().getType()));
  }

private:
  /// With what is assumed about the value.
  void join(AxisLattice *lattice, AxisInfo info) {
    assumptions.apply(lattice->getPoint(), info);
    propagateIfChanged(lattice, lattice->join(info));
  }

  Overflow overflow;
  const Assumptions &assumptions;
};

} // namespace

AxisInfos::AxisInfos(mlir::Operation *top, Overflow overflow)
    : solver(std::make_unique<mlir::DataFlowSolver>(
          // Functions by themselves: nothing is known of what a call gets and gives.
          mlir::DataFlowConfig().setInterprocedural(false))) {
  solver->load<dataflow::DeadCodeAnalysis>();
  solver->load<NoConstants>();
  const Assumptions assumptions(top);
  solver->load<AxisAnalysis>(overflow, assumptions);
  if (mlir::failed(solver->initializeAndRun(top))) {
    solver.reset();
  }
}

AxisInfos::~AxisInfos() = default;

AxisInfo AxisInfos::of(mlir::Value value) const {
  const AxisLattice *lattice = solver ? solver->lookupState<AxisLattice>(value) : nullptr;
  return lattice && lattice->info() ? *lattice->info() : AxisInfo(value.getType());
}

} // namespace nereid::tile
