// SPDX-License-Identifier: Apache-2.0
// nvidia-assign-layouts: assign each tile a layout over the kernel's threads.
//
// Why: everything after this pass works thread by thread.
// Requires: one function, without calls.
// Guarantees: every tile has a layout; operations that compute element by element have operands in
// the layout of their result, those that move elements to other shapes in the corresponding one.
// Where a value is needed in two layouts, what can be computed from nothing (ranges, splats, what
// is made of them) or repeats a narrower tile is computed twice, and everything else moves by
// `nvidia.convert_layout`.
// Example: of `tile.load` the addresses, made of a range and a splat, are computed by the threads
// that load.
#include "lib/layout/RowLayout.h"
#include "lib/targets/nvidia/ir/Nvidia.h"
#include "lib/targets/nvidia/layouts/Anchors.h"
#include "lib/targets/nvidia/layouts/FreeTiles.h"
#include "lib/targets/nvidia/layouts/LaneProducts.h"
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
      : kernel(kernel), axes(axes), threads(threads) {}

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
        .Case([&](AwaitProductOp wait) { setLayout(wait.getResult(), homeOf(wait.getSource())); })
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

  // ---- layouts of values ----

  /// The layout the value has, or the one that it gets when nobody asks for another.
  LinearLayout homeOf(Value value) {
    if (auto layout = layoutOf(value)) {
      return *layout;
    }
    return usualLayout(value, threads);
  }

  /// The value in this layout.
  Value inLayout(OpBuilder &builder, Value value, const LinearLayout &layout) {
    if (!isTile(value)) {
      return value;
    }
    if (free.contains(value)) {
      return computeIn(builder, value, layout);
    }
    if (homeOf(value) == layout) {
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

  // ---- the layout that a carried value is wanted in ----

  /// What the users of a value that some loop or branch hands on would like best.
  std::optional<LinearLayout> wish(Value value, unsigned depth = 0) {
    constexpr unsigned deepest = 8;
    if (depth == deepest) {
      return std::nullopt;
    }
    for (OpOperand &use : value.getUses()) {
      if (auto layout = wishOf(use, depth)) {
        return layout;
      }
    }
    return std::nullopt;
  }

  std::optional<LinearLayout> wishOf(OpOperand &use, unsigned depth) {
    Operation *user = use.getOwner();
    if (auto dot = dyn_cast<tile::DotOp>(user)) {
      return use.getOperandNumber() == 2 ? std::optional(productLayout(dot, threads))
                                         : std::nullopt;
    }
    if (isa<tile::LoadOp, tile::StoreOp, tile::AtomicRMWOp, tile::AtomicCASOp, AsyncCopyOp>(user)) {
      Value pointer = user->getOperand(0);
      return accessLayout(pointer, axes, threads);
    }
    if (worksInAnyLayout(user) && user->getNumResults() == 1 && isTile(user->getResult(0))) {
      if (auto layout = wish(user->getResult(0), depth + 1)) {
        return operandLayout(user, use.getOperandNumber(), *layout);
      }
    }
    return std::nullopt;
  }

  /// The layout in which a value is made, as far as accesses and products that it is computed from
  /// say so.
  std::optional<LinearLayout> origin(Value value, unsigned depth = 0) {
    constexpr unsigned deepest = 8;
    if (!isTile(value) || depth == deepest) {
      return std::nullopt;
    }
    if (auto layout = layoutOf(value)) {
      return layout;
    }
    Operation *op = value.getDefiningOp();
    if (!op) {
      return std::nullopt;
    }
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      return origin(loop.getYieldedValues()[cast<OpResult>(value).getResultNumber()], depth + 1);
    }
    if (auto wait = dyn_cast<AwaitProductOp>(op)) {
      return origin(wait.getSource(), depth + 1);
    }
    if (auto reduce = dyn_cast<tile::ReduceOp>(op)) {
      auto source = origin(reduce.getSources().front(), depth + 1);
      return source && source->isPermutation()
                 ? std::optional(source->withoutAxis(static_cast<unsigned>(reduce.getAxis())))
                 : std::nullopt;
    }
    if (isa<tile::DotOp>(op)) {
      return productLayout(op, threads);
    }
    if (isa<tile::LoadOp>(op)) {
      Value pointer = op->getOperand(0);
      return accessLayout(pointer, axes, threads);
    }
    if (worksInAnyLayout(op) && !isa<tile::BroadcastOp>(op)) {
      for (Value operand : op->getOperands()) {
        if (auto layout = origin(operand, depth + 1)) {
          return resultLayout(op, *layout);
        }
      }
    }
    return std::nullopt;
  }

  /// What speaks for a layout, if anything does. `handed`: what the next turn gets.
  std::optional<LinearLayout> carriedLayout(Value carried, Value initial, Value handed) {
    if (auto wanted = wish(carried)) {
      return wanted;
    }
    return free.contains(initial) ? origin(handed) : homeOf(initial);
  }

  /// Tiles that a loop carries. Where nothing speaks for a layout, it is that of another one of the
  /// shape: they may meet in the loop.
  void layOutCarried(ValueRange carried, ValueRange initials, ValueRange handed) {
    SmallVector<Value> undecided;
    for (auto [value, initial, next] : llvm::zip(carried, initials, handed)) {
      if (!isTile(value)) {
        continue;
      }
      if (auto layout = carriedLayout(value, initial, next)) {
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
      if (mayLead && (!leader || homeOf(leader->get()).count(layout::Holder::Register) <
                                     homeOf(operand.get()).count(layout::Holder::Register))) {
        leader = &operand;
      }
    }
    const LinearLayout result = resultLayout(op, homeOf(leader->get()));
    for (OpOperand &operand : op->getOpOperands()) {
      if (isTile(operand.get())) {
        need(operand, operandLayout(op, operand.getOperandNumber(), result));
      }
    }
    for (Value value : op->getResults()) {
      setLayout(value, result);
    }
  }

  /// What a value that repeats along others meets: it is read as often as it is needed, if a thread
  /// reads few of it, instead of being moved by shared memory.
  std::optional<LinearLayout> layoutBesideUse(Value value, unsigned depth = 0) {
    constexpr unsigned deepest = 4;
    for (OpOperand &use : value.getUses()) {
      Operation *user = use.getOwner();
      if (depth == deepest || !worksInAnyLayout(user) || user->getNumResults() != 1) {
        return std::nullopt;
      }
      std::optional<LinearLayout> result;
      for (Value other : user->getOperands()) {
        if (other != value && isTile(other) && !free.contains(other) &&
            shapeOf(other) == shapeOf(user->getResult(0))) {
          result = origin(other);
        }
      }
      result = result ? result : layoutBesideUse(user->getResult(0), depth + 1);
      if (result) {
        return operandLayout(user, use.getOperandNumber(), *result);
      }
    }
    return std::nullopt;
  }

  /// Whether the load's rows, one for each warp at least, are reduced and nothing else: each warp
  /// then reduces its own, and computes what its rows have in common for these alone.
  bool isReducedRow(Operation *access) {
    auto load = dyn_cast<tile::LoadOp>(access);
    const LinearLayout::Shape shape = load ? shapeOf(load.getResult()) : LinearLayout::Shape();
    if (shape.size() < 2 || shape.back() < threads.lanes ||
        cast<RankedTensorType>(load.getType()).getNumElements() / shape.back() < threads.warps) {
      return false;
    }
    Value value = load.getResult();
    constexpr unsigned deepest = 8;
    for (unsigned depth = 0; depth < deepest && value.hasOneUse(); ++depth) {
      Operation *user = *value.getUsers().begin();
      if (auto reduce = dyn_cast<tile::ReduceOp>(user)) {
        return static_cast<size_t>(reduce.getAxis()) + 1 == shape.size();
      }
      if (!worksInAnyLayout(user) || user->getNumResults() != 1 ||
          shapeOf(user->getResult(0)) != shape) {
        return false;
      }
      value = user->getResult(0);
    }
    return false;
  }

  /// Of a load that has an element for a thread at most.
  std::optional<LinearLayout> layoutOfRepeated(Operation *access) {
    auto load = dyn_cast<tile::LoadOp>(access);
    if (!load || load.getIsVolatile() ||
        cast<RankedTensorType>(load.getType()).getNumElements() > threads.lanes * threads.warps ||
        !llvm::all_of(load->getOperands(), [&](Value each) { return free.contains(each); })) {
      return std::nullopt;
    }
    // One instruction would read so many from shared memory. Sums of products leave no registers.
    const int64_t most = hasProducts ? 1 : 4;
    auto layout = layoutBesideUse(load.getResult());
    return layout && layout->count(layout::Holder::Register) <= most ? layout : std::nullopt;
  }

  /// Of the tiles that were loaded and meet this one, element by element, the layout in which a
  /// thread has the fewest neighbours at once.
  std::optional<LinearLayout> shortestMet(Value value, unsigned depth = 0) {
    constexpr unsigned deepest = 8;
    std::optional<LinearLayout> shortest;
    const auto consider = [&](const std::optional<LinearLayout> &met) {
      if (met && (!shortest || neighboursOf(*met) < neighboursOf(*shortest))) {
        shortest = met;
      }
    };
    for (Operation *user : value.getUsers()) {
      if (depth == deepest || !worksInAnyLayout(user) || user->getNumResults() != 1 ||
          !isTile(user->getResult(0)) || shapeOf(user->getResult(0)) != shapeOf(value)) {
        continue;
      }
      for (Value other : user->getOperands()) {
        if (other != value && isTile(other) && !free.contains(other) &&
            shapeOf(other) == shapeOf(value)) {
          consider(origin(other));
        }
      }
      consider(shortestMet(user->getResult(0), depth + 1));
    }
    return shortest;
  }

  /// Of narrow elements a thread could load more neighbours than of the wide ones that they meet,
  /// and one of both would move through shared memory: it takes as many as of those. What lies
  /// scattered has no neighbours, and follows others itself.
  std::optional<LinearLayout> layoutOfNarrow(Operation *access, Value pointer) {
    auto load = dyn_cast<tile::LoadOp>(access);
    const auto met = load ? shortestMet(load.getResult()) : std::nullopt;
    const int64_t count = met ? neighboursOf(*met) : 1;
    return count > 1 && count < neighboursOf(accessLayout(pointer, axes, threads)) &&
                   fillsSectors(*met, pointer, axes.of(pointer))
               ? met
               : std::nullopt;
  }

  /// The layout of what is stored, or that of the product which adds to what is loaded.
  std::optional<LinearLayout> layoutBeyond(Operation *access) {
    if (auto store = dyn_cast<tile::StoreOp>(access)) {
      return free.contains(store.getValue()) ? std::nullopt
                                             : std::optional(homeOf(store.getValue()));
    }
    if (!isa<tile::LoadOp>(access) || !access->hasOneUse()) {
      return std::nullopt;
    }
    OpOperand &use = *access->getUses().begin();
    const bool isSum = isa<tile::DotOp>(use.getOwner()) && use.getOperandNumber() == 2;
    return isSum && usesMatrixUnit(use.getOwner())
               ? std::optional(productLayout(use.getOwner(), threads))
               : std::nullopt;
  }

  LinearLayout layoutOfAccess(Operation *access, Value pointer) {
    auto store = dyn_cast<tile::StoreOp>(access);
    const auto beyond = layoutBeyond(access);
    if (beyond && fillsSectors(*beyond, pointer, axes.of(pointer)) &&
        llvm::all_of(access->getOperands(), [&](Value operand) {
          return free.contains(operand) || (store && operand == store.getValue());
        })) {
      return *beyond;
    }
    if (auto repeated = layoutOfRepeated(access)) {
      return *repeated;
    }
    if (auto narrow = layoutOfNarrow(access, pointer)) {
      return *narrow;
    }
    // Places that a scan has counted follow each other from lane to lane.
    if (!isScattered(axes.of(pointer)) || (store && comesFromScan(pointer))) {
      return accessLayout(pointer, axes, threads);
    }
    if (free.contains(pointer) && isReducedRow(access)) {
      return layout::rowLayout(shapeOf(pointer), threads.lanes, threads.warps);
    }
    // The one in which the least has to move: that of the addresses, else of what is beside it.
    return free.contains(pointer) ? layoutBeside(access, axes, threads) : homeOf(pointer);
  }

  template <class Access> void assignAccess(Access access) {
    Value pointer = access->getOperand(0);
    if (!isTile(pointer)) {
      return;
    }
    const LinearLayout layout = layoutOfAccess(access, pointer);
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
                                                   : homeOf(operand.get()));
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
    LinearLayout layout = free.contains(first) ? usualLayout(first, threads) : homeOf(first);
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
    LinearLayout layout = homeOf(first);
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
                                                         : homeOf(operand.get());
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
        setLayout(result, homeOf(gather.getIndex()));
      } else {
        setLayout(result, isElementwise ? *common : usualLayout(result, threads));
      }
    }
  }

  void assignFor(scf::ForOp loop) {
    layOutCarried(loop.getRegionIterArgs(), loop.getInitArgs(), loop.getYieldedValues());
    for (auto [argument, initial] :
         llvm::zip(loop.getRegionIterArgs(), loop.getInitArgsMutable())) {
      need(initial, homeOf(argument));
    }
    assignBlock(*loop.getBody());
    needAll(loop.getBody()->getTerminator(), loop.getResults(), 0);
  }

  void assignWhile(scf::WhileOp loop) {
    layOutCarried(loop.getBeforeArguments(), loop.getInits(), loop.getYieldOp().getOperands());
    for (auto [argument, initial] : llvm::zip(loop.getBeforeArguments(), loop.getInitsMutable())) {
      need(initial, homeOf(argument));
    }
    assignBlock(*loop.getBeforeBody());
    auto condition = loop.getConditionOp();
    for (auto [handed, result] : llvm::zip(condition.getArgsMutable(), loop.getResults())) {
      if (isTile(result)) {
        setLayout(result, free.contains(handed.get()) ? usualLayout(result, threads)
                                                      : homeOf(handed.get()));
        need(handed, homeOf(result));
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
        setLayout(result, !free.contains(handed)  ? homeOf(handed)
                          : !free.contains(other) ? homeOf(other)
                                                  : usualLayout(result, threads));
      }
    }
    needAll(branch.thenYield(), branch.getResults(), 0);
    needAll(branch.elseYield(), branch.getResults(), 0);
  }

  void needAll(Operation *terminator, ValueRange targets, unsigned first) {
    for (auto [i, target] : llvm::enumerate(targets)) {
      if (isTile(target)) {
        need(terminator->getOpOperand(first + static_cast<unsigned>(i)), homeOf(target));
      }
    }
  }

  func::FuncOp kernel;
  const tile::AxisInfos &axes;
  Threads threads;
  const bool hasProducts =
      kernel.walk([](tile::DotOp) { return WalkResult::interrupt(); }).wasInterrupted();
  FreeTiles free;
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
