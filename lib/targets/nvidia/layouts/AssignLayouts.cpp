// SPDX-License-Identifier: Apache-2.0
// nvidia-assign-layouts: assign each tile a layout over the kernel's threads.
//
// Why: everything after this pass works thread by thread.
// Requires: one function, without calls.
// Guarantees: every tile has a layout; operations that compute element by element have operands in
// the layout of their result, those that move elements to other shapes in the corresponding one
// (CheckLayouts.h).
// Where a value is needed in two layouts, what can be computed from nothing (ranges, splats, what
// is made of them) or repeats a narrower tile is computed twice, and everything else moves by
// `nvidia.convert_layout`.
// Example: of `tile.load` the addresses, made of a range and a splat, are computed by the threads
// that load.
#include "lib/targets/nvidia/ir/Nvidia.h"
#include "lib/targets/nvidia/layouts/Anchors.h"
#include "lib/targets/nvidia/layouts/FreeTiles.h"
#include "lib/targets/nvidia/layouts/LaneProducts.h"
#include "lib/targets/nvidia/layouts/LayoutChoices.h"
#include "lib/targets/nvidia/layouts/OperandLayouts.h"
#include "lib/targets/nvidia/layouts/Passes.h"
#include "lib/tile/analysis/MemoryAccesses.h"
#include "lib/tile/ir/Attributes.h"

#include "mlir/IR/Iterators.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace nereid::nvidia {

using layout::LinearLayout;

namespace {

class Assigner {
public:
  Assigner(func::FuncOp kernel, const tile::AxisInfos &axes, Threads threads)
      : kernel(kernel), threads(threads), choices(kernel, axes, threads, free) {}

  void run() {
    assignBlock(kernel.getBody().front());
    // What was computed anew in the layout of each user is left without users.
    kernel.walk<WalkOrder::PostOrder, ReverseIterator>([](Operation *op) {
      if (isOpTriviallyDead(op)) {
        op->erase();
      }
    });
  }

private:
  void assignBlock(Block &block) {
    for (Operation &op : llvm::make_early_inc_range(block)) {
      assign(&op);
    }
  }

  void assign(Operation *op) {
    llvm::TypeSwitch<Operation *>(op)
        .Case<tile::LoadOp, tile::StoreOp, tile::AtomicRMWOp, tile::AtomicCASOp, AsyncCopyOp>(
            [&](auto access) { assignAccess(access); })
        .Case([&](ReadCopyOp read) {
          OpOperand &use = *read->getUses().begin();
          setLayout(read.getResult(),
                    isLaneProduct(use.getOwner())
                        ? usualLayout(read.getResult(), threads) // no registers hold it
                        : factorLayout(use.getOwner(), use.getOperandNumber(), threads));
        })
        .Case([&](AwaitProductOp wait) {
          setLayout(wait.getResult(), choices.homeOf(wait.getSource()));
        })
        .Case([&](tile::DotOp dot) { assignProduct(dot); })
        .Case([&](tile::ReduceOp reduce) { assignReduction(reduce); })
        .Case([&](tile::ScanOp scan) { assignScan(scan); })
        .Case([&](ExchangeOp exchange) { assignExchange(exchange); })
        .Case([&](scf::ForOp loop) { assignFor(loop); })
        .Case([&](scf::WhileOp loop) { assignWhile(loop); })
        .Case([&](scf::IfOp branch) { assignIf(branch); })
        .Default([&](Operation *other) {
          if (worksInAnyLayout(other)) {
            assignFollower(other);
          } else {
            assignOther(other);
          }
        });
  }

  // ---- values in other layouts ----

  /// The value in this layout.
  Value inLayout(OpBuilder &builder, Value value, const LinearLayout &layout) {
    if (!isTile(value)) {
      return value;
    }
    if (free.contains(value)) {
      return computeIn(builder, value, layout);
    }
    if (choices.homeOf(value) == layout) {
      return value;
    }
    if (free.isWidened(value)) {
      return computeIn(builder, value, layout);
    }
    // A value from around a loop moves once, before it.
    OpBuilder place = builder;
    if (value.getParentBlock() != builder.getInsertionBlock()) {
      place.setInsertionPointAfterValue(value);
    }
    auto moved = place.create<ConvertLayoutOp>(value.getLoc(), value.getType(), value);
    setLayout(moved.getResult(), layout);
    return moved;
  }

  Value computeIn(OpBuilder &where, Value value, const LinearLayout &layout) {
    OpBuilder builder = placeOfCopy(where, value.getDefiningOp());
    // Blocks are written in order, so that what stands in this one is before this place.
    auto &made = copies[{value, builder.getInsertionBlock()}];
    for (const auto &[former, copy] : made) {
      if (former == layout) {
        return copy;
      }
    }
    Operation *op = value.getDefiningOp();
    IRMapping mapping;
    for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
      if (isTile(operand)) {
        mapping.map(operand, inLayout(builder, operand,
                                      operandLayout(op, static_cast<unsigned>(i), layout)));
      }
    }
    Operation *copy = builder.clone(*op, mapping);
    for (Value result : copy->getResults()) {
      setLayout(result, layout);
    }
    Value result = copy->getResult(cast<OpResult>(value).getResultNumber());
    copies[{value, builder.getInsertionBlock()}].emplace_back(layout, result);
    return result;
  }

  /// Where a copy of the operation is computed for a user at this place: there, but in front of the
  /// loops that the operation itself is not in, if nothing later may move it out of them. A
  /// division by what may be zero is such, as a loop may have no turn.
  static OpBuilder placeOfCopy(const OpBuilder &user, Operation *op) {
    OpBuilder place = user;
    if (!isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp>(op)) {
      return place;
    }
    for (Operation *around = user.getInsertionBlock()->getParentOp();
         around && !around->isAncestor(op); around = around->getParentOp()) {
      if (isa<LoopLikeOpInterface>(around)) {
        place.setInsertionPoint(around);
      }
    }
    return place;
  }

  void need(OpOperand &operand, const LinearLayout &layout) {
    if (!isTile(operand.get())) {
      return;
    }
    OpBuilder builder(operand.getOwner());
    operand.set(inLayout(builder, operand.get(), layout));
  }

  // ---- values that loops carry ----

  /// Tiles that a loop carries. Where nothing speaks for a layout, it is that of another one of the
  /// shape: they may meet in the loop.
  void layOutCarried(ValueRange carried, ValueRange initials, ValueRange handed) {
    SmallVector<Value> undecided;
    for (auto [value, initial, next] : llvm::zip(carried, initials, handed)) {
      if (!isTile(value)) {
        continue;
      }
      if (auto layout = choices.ofCarried(value, initial, next)) {
        setLayout(value, *layout);
      } else {
        undecided.push_back(value);
      }
    }
    for (Value value : undecided) {
      const auto like = llvm::find_if(carried, [&](Value other) {
        return isTile(other) && layoutOf(other) && shapeOf(other) == shapeOf(value);
      });
      setLayout(value, like == carried.end() ? usualLayout(value, threads) : *layoutOf(*like));
    }
  }

  // ---- operations ----

  void assignFollower(Operation *op) {
    if (llvm::none_of(op->getResults(), isTile) || free.contains(op->getResult(0))) {
      return;
    }
    // The widest operand that is bound to a layout leads: the others have less to move.
    OpOperand *leader = nullptr;
    for (OpOperand &operand : op->getOpOperands()) {
      const bool mayLead = isTile(operand.get()) && !free.contains(operand.get());
      if (mayLead &&
          (!leader || choices.homeOf(leader->get()).count(layout::Holder::Register) <
                          choices.homeOf(operand.get()).count(layout::Holder::Register))) {
        leader = &operand;
      }
    }
    const LinearLayout result = resultLayout(op, choices.homeOf(leader->get()));
    for (OpOperand &operand : op->getOpOperands()) {
      if (isTile(operand.get())) {
        need(operand, operandLayout(op, operand.getOperandNumber(), result));
      }
    }
    for (Value value : op->getResults()) {
      setLayout(value, result);
    }
  }

  template <class Access> void assignAccess(Access access) {
    Value pointer = access->getOperand(0);
    if (!isTile(pointer)) {
      return;
    }
    const LinearLayout layout = choices.ofAccess(access, pointer);
    for (OpOperand &operand : access->getOpOperands()) {
      need(operand, layout);
    }
    for (Value result : access->getResults()) {
      setLayout(result, layout);
    }
  }

  void assignProduct(tile::DotOp dot) {
    const LinearLayout result = productLayout(dot, threads);
    const bool isMatrix = usesMatrixUnit(dot);
    for (unsigned i : {0U, 1U}) {
      OpOperand &operand = dot->getOpOperand(i);
      need(operand, isMatrix                       ? factorLayout(dot, i, threads)
                    : free.contains(operand.get()) ? usualLayout(operand.get(), threads)
                                                   : choices.homeOf(operand.get()));
    }
    need(dot->getOpOperand(2), result);
    setLayout(dot.getResult(), result);
    sinkSums(dot);
  }

  /// Sums that memory holds are read behind the moves of the factors, which need registers, too.
  static void sinkSums(tile::DotOp dot) {
    auto load = dot.getC().getDefiningOp<tile::LoadOp>();
    if (!load || load.getIsVolatile() || !load->hasOneUse() ||
        load->getBlock() != dot->getBlock()) {
      return;
    }
    for (Operation *op = load->getNextNode(); op != dot; op = op->getNextNode()) {
      if (tile::hasSideEffects(op) && !isa<ReadCopyOp>(op)) {
        return;
      }
    }
    load->moveBefore(dot);
  }

  void assignReduction(tile::ReduceOp reduce) {
    Value first = reduce.getSources().front();
    LinearLayout layout =
        free.contains(first) ? usualLayout(first, threads) : choices.homeOf(first);
    if (!layout.isPermutation()) {
      layout = usualLayout(first, threads);
    }
    for (OpOperand &operand : reduce->getOpOperands()) {
      need(operand, layout);
    }
    for (Value result : reduce.getResults()) {
      if (isTile(result)) {
        setLayout(result, layout.withoutAxis(static_cast<unsigned>(reduce.getAxis())));
      }
    }
  }

  void assignScan(tile::ScanOp scan) {
    Value first = scan.getSources().front();
    const auto axis = static_cast<unsigned>(scan.getAxis());
    LinearLayout layout = choices.homeOf(first);
    if (free.contains(first) || !layout::isWalkable(layout, axis)) {
      layout = layout::scanLayout(shapeOf(first), axis, threads.lanes, threads.warps);
    }
    for (OpOperand &operand : scan->getOpOperands()) {
      need(operand, layout);
    }
    for (Value result : scan.getResults()) {
      setLayout(result, layout);
    }
  }

  /// Short distances are the most frequent ones: neighbours lie in a thread, what is farther in its
  /// warp.
  void assignExchange(ExchangeOp exchange) {
    const LinearLayout layout =
        layout::scanLayout(shapeOf(exchange.getSource()), static_cast<unsigned>(exchange.getAxis()),
                           threads.lanes, threads.warps);
    need(exchange->getOpOperand(0), layout);
    setLayout(exchange.getResult(), layout);
  }

  /// Gathers, histograms, assembly, what talks to the user: operands as they are.
  void assignOther(Operation *op) {
    std::optional<LinearLayout> common;
    const bool isElementwise = isa<tile::InlineAsmOp>(op);
    // A histogram's mask belongs to the elements of its source.
    const bool haveOneLayout = isElementwise || isa<tile::HistogramOp>(op);
    for (OpOperand &operand : op->getOpOperands()) {
      if (!isTile(operand.get())) {
        continue;
      }
      LinearLayout layout = free.contains(operand.get()) ? usualLayout(operand.get(), threads)
                                                         : choices.homeOf(operand.get());
      if (haveOneLayout && common) {
        layout = *common;
      }
      common = common ? common : layout;
      need(operand, layout);
    }
    for (Value result : op->getResults()) {
      if (!isTile(result)) {
        continue;
      }
      if (auto gather = dyn_cast<tile::GatherOp>(op)) {
        setLayout(result, choices.homeOf(gather.getIndex()));
      } else {
        setLayout(result, isElementwise ? *common : usualLayout(result, threads));
      }
    }
  }

  void assignFor(scf::ForOp loop) {
    layOutCarried(loop.getRegionIterArgs(), loop.getInitArgs(), loop.getYieldedValues());
    for (auto [argument, initial] :
         llvm::zip(loop.getRegionIterArgs(), loop.getInitArgsMutable())) {
      need(initial, choices.homeOf(argument));
    }
    assignBlock(*loop.getBody());
    needAll(loop.getBody()->getTerminator(), loop.getResults(), 0);
  }

  void assignWhile(scf::WhileOp loop) {
    layOutCarried(loop.getBeforeArguments(), loop.getInits(), loop.getYieldOp().getOperands());
    for (auto [argument, initial] : llvm::zip(loop.getBeforeArguments(), loop.getInitsMutable())) {
      need(initial, choices.homeOf(argument));
    }
    assignBlock(*loop.getBeforeBody());
    auto condition = loop.getConditionOp();
    for (auto [handed, result] : llvm::zip(condition.getArgsMutable(), loop.getResults())) {
      if (isTile(result)) {
        setLayout(result, free.contains(handed.get()) ? usualLayout(result, threads)
                                                      : choices.homeOf(handed.get()));
        need(handed, choices.homeOf(result));
      }
    }
    assignBlock(*loop.getAfterBody());
    needAll(loop.getYieldOp(), loop.getBeforeArguments(), 0);
  }

  void assignIf(scf::IfOp branch) {
    for (Region *region : branch.getRegions()) {
      if (!region->empty()) {
        assignBlock(region->front());
      }
    }
    if (branch.getNumResults() == 0) {
      return;
    }
    for (auto [result, handed, other] :
         llvm::zip(branch.getResults(), branch.thenYield().getOperands(),
                   branch.elseYield().getOperands())) {
      if (isTile(result)) {
        setLayout(result, !free.contains(handed)  ? choices.homeOf(handed)
                          : !free.contains(other) ? choices.homeOf(other)
                                                  : usualLayout(result, threads));
      }
    }
    needAll(branch.thenYield(), branch.getResults(), 0);
    needAll(branch.elseYield(), branch.getResults(), 0);
  }

  void needAll(Operation *terminator, ValueRange targets, unsigned first) {
    for (auto [i, target] : llvm::enumerate(targets)) {
      if (isTile(target)) {
        need(terminator->getOpOperand(first + static_cast<unsigned>(i)), choices.homeOf(target));
      }
    }
  }

  func::FuncOp kernel;
  Threads threads;
  FreeTiles free;
  LayoutChoices choices;
  /// What has been computed anew, by value and block, with its layout.
  llvm::DenseMap<std::pair<Value, Block *>, SmallVector<std::pair<LinearLayout, Value>, 1>> copies;
};

class AssignLayoutsPass : public PassWrapper<AssignLayoutsPass, OperationPass<func::FuncOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(AssignLayoutsPass)

  StringRef getArgument() const override { return "nvidia-assign-layouts"; }
  StringRef getDescription() const override {
    return "assign each tile a layout over the kernel's threads";
  }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<NvidiaDialect>();
  }

  void runOnOperation() override {
    func::FuncOp kernel = getOperation();
    if (!kernel->hasAttr(tile::attribute::kernel)) {
      return;
    }
    const tile::AxisInfos axes(kernel, tile::Overflow::Excluded);
    Assigner(kernel, axes, threadsOf(kernel)).run();
  }
};

} // namespace

std::unique_ptr<Pass> createAssignLayoutsPass() { return std::make_unique<AssignLayoutsPass>(); }

} // namespace nereid::nvidia
