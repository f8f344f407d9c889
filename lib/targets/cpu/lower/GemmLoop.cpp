// SPDX-License-Identifier: Apache-2.0
// The conditions of GemmLoop: on the loop, on its accumulator, and per operand on addresses and
// mask.
#include "lib/targets/cpu/lower/GemmLoop.h"
#include "lib/targets/cpu/lower/GemmEpilogue.h"
#include "lib/targets/cpu/lower/Recognisers.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace nereid::cpu {

unsigned GemmOperand::position(int8_t dim) const {
  return static_cast<unsigned>(llvm::find(dims, dim) - dims.begin());
}

Dims GemmOperand::at(int8_t dim) const {
  Dims result(dims);
  for (int8_t &d : result) {
    d = d == dim ? d : zeroDim;
  }
  return result;
}

/// Multiply-adds of one iteration below which copies of both operands cost more than they bring.
constexpr int64_t smallProduct = 16 << 10;

static bool isZero(Value value) {
  return value && (matchPattern(value, m_PosZeroFloat()) || matchPattern(value, m_Zero()));
}

/// Visits the terms of a conjunction at the coordinates that matter to them.
static bool forEachTerm(KernelState &kernel, Value mask, const Dims &dims,
                        llvm::function_ref<bool(Value, const Dims &)> visit) {
  SmallVector<std::pair<Value, Dims>> work{{mask, dims}};
  while (!work.empty()) {
    auto [term, at] = work.pop_back_val();
    Operation *op = term.getDefiningOp();
    bool shape = isa_and_nonnull<tile::ExpandDimsOp, tile::BroadcastOp, tile::TransOp>(op) ||
                 (isa_and_nonnull<tile::ReshapeOp>(op) && isTrivialReshape(op));
    if (op && !kernel.plan.isStored(term) && (shape || isa<arith::AndIOp>(op))) {
      for (Value part : op->getOperands()) {
        work.push_back({part, mapDims(op, part, at)});
      }
      continue;
    }
    if (!visit(term, isTile(term) ? kernel.axes.normalise(term, at) : Dims())) {
      return false;
    }
  }
  return true;
}

/// The term as a bound along the one dimension it depends on.
static std::optional<PrefixTerm> asPrefix(KernelState &kernel, Value term, const Dims &dims,
                                          int8_t dim) {
  auto compare = term.getDefiningOp<arith::CmpIOp>();
  if (!compare || isa<IndexType>(elementTypeOf(compare.getLhs()))) {
    return std::nullopt;
  }
  using Predicate = arith::CmpIPredicate;
  Predicate predicate = compare.getPredicate();
  bool less = predicate == Predicate::slt || predicate == Predicate::sle;
  bool greater = predicate == Predicate::sgt || predicate == Predicate::sge;
  if (!less && !greater) {
    return std::nullopt;
  }
  auto at = static_cast<unsigned>(llvm::find(dims, dim) - dims.begin());
  PrefixTerm prefix{compare.getLhs(), compare.getRhs(), dims, false, greater};
  if (kernel.axes.isUniform(prefix.offset, at)) {
    std::swap(prefix.offset, prefix.limit);
    prefix.isLower = less;
  }
  bool equalHolds = predicate == Predicate::sle || predicate == Predicate::sge;
  prefix.inclusive = equalHolds != prefix.isLower;
  Axis axis = kernel.axes.axis(prefix.offset, at, AxisView::Address);
  if (axis.kind != AxisKind::Linear || axis.stride != 1 ||
      !kernel.axes.isUniform(prefix.limit, at)) {
    return std::nullopt;
  }
  return prefix;
}

namespace {
class GemmFinder {
public:
  GemmFinder(KernelState &kernel, scf::ForOp loop)
      : kernel(kernel), loop(loop), steps(kernel, loop) {}

  std::optional<GemmLoop> run() {
    GemmLoop gemm;
    if (!findDot(gemm)) {
      return declines(gemm, "its body is not one dot of two matrices added to what is carried");
    }
    if (!carriesOnlySteadyValues(gemm)) {
      return declines(gemm, "it carries something else that does not grow by one step");
    }
    if (!hasPlainBody(gemm)) {
      return declines(gemm, "its body does more than compute the dot's operands");
    }
    ArrayRef<int64_t> a = shapeOf(gemm.dot.getA()), b = shapeOf(gemm.dot.getB());
    gemm.m = a[0];
    gemm.k = a[1];
    gemm.n = b[1];
    if (!chooseGroup(gemm)) {
      return declines(gemm, "there is no register block for these types");
    }
    gemm.a = operand(gemm.dot.getA(), {outerDim, innerDim}, /*isB=*/false, gemm.group);
    gemm.b = operand(gemm.dot.getB(), {innerDim, outerDim}, /*isB=*/true, gemm.group);
    if (!gemm.a.load && !gemm.b.load && gemm.m * gemm.n * gemm.k < smallProduct) {
      return declines(gemm, "it is small, and both operands have to be copied");
    }
    gemm.startsAtZero = isZero(loop.getInitArgs()[gemm.carried]);
    findDemand(gemm);
    return gemm;
  }

private:
  std::optional<GemmLoop> declines(GemmLoop &gemm, std::string_view why) {
    if (gemm.dot) {
      decline(Recogniser::Gemm, gemm.dot, why);
    }
    return std::nullopt;
  }

  bool findDot(GemmLoop &gemm) {
    for (Operation &op : *loop.getBody()) {
      if (auto dot = dyn_cast<tile::DotOp>(op)) {
        if (gemm.dot) {
          return false;
        }
        gemm.dot = dot;
      }
    }
    if (!gemm.dot || shapeOf(gemm.dot.getA()).size() != 2 || !gemm.dot->hasOneUse()) {
      return false;
    }
    Value result = gemm.dot.getResult(), carried = gemm.dot.getC();
    Operation *add = *result.user_begin();
    if (isa<arith::AddFOp, arith::AddIOp>(add) && isZero(carried)) {
      gemm.sum = add;
      carried = add->getOperand(add->getOperand(0) == result ? 1 : 0);
      result = add->getResult(0);
    }
    auto arg = dyn_cast<BlockArgument>(carried);
    if (!arg || arg.getOwner() != loop.getBody() || arg.getArgNumber() == 0 || !arg.hasOneUse() ||
        !result.hasOneUse()) {
      return false;
    }
    gemm.carried = arg.getArgNumber() - 1;
    return loop.getYieldedValues()[gemm.carried] == result;
  }

  /// False when there is no register block for these types.
  bool chooseGroup(GemmLoop &gemm) {
    const LoweringOptions &options = kernel.options;
    Type element = elementTypeOf(tile::DotOp(gemm.dot).getA());
    Type sum = elementTypeOf(tile::DotOp(gemm.dot).getC());
    if (sum.isInteger(32)) {
      gemm.group = 4;
      return element.isInteger(8) && options.hasInt8Dots && gemm.k % gemm.group == 0;
    }
    gemm.group = element.isBF16() && options.hasBf16Dots && gemm.k % 2 == 0 ? 2 : 1;
    return sum.isF32() && (element.isF32() || element.isF16() || element.isBF16());
  }

  /// Besides the accumulator.
  bool carriesOnlySteadyValues(const GemmLoop &gemm) {
    for (auto [i, arg] : llvm::enumerate(loop.getRegionIterArgs())) {
      if (i != gemm.carried && (!steps.isSteady(arg) || !loop.getResult(i).use_empty())) {
        return false;
      }
    }
    return true;
  }

  /// Nothing happens in the body but the computation of the dot's operands.
  bool hasPlainBody(const GemmLoop &gemm) {
    for (Operation &op : loop.getBody()->without_terminator()) {
      auto load = dyn_cast<tile::LoadOp>(op);
      bool known = &op == tile::DotOp(gemm.dot).getOperation() || &op == gemm.sum ||
                   isElementwise(&op) ||
                   isa<arith::ConstantOp, tile::SplatOp, tile::BroadcastOp, tile::ExpandDimsOp,
                       tile::TransOp, tile::ReshapeOp, tile::MakeRangeOp>(op) ||
                   (load && isTile(load.getResult()) && !load.getIsVolatile());
      if (!known) {
        return false;
      }
    }
    return true;
  }

  GemmOperand operand(Value tile, Dims dims, bool isB, int64_t group) {
    GemmOperand result;
    result.tile = tile;
    result.dims = dims;
    Value source = tile;
    while (auto trans = source.getDefiningOp<tile::TransOp>()) {
      if (!source.hasOneUse()) {
        return result;
      }
      result.dims = mapDims(trans, trans.getSource(), result.dims);
      source = trans.getSource();
    }
    auto load = source.getDefiningOp<tile::LoadOp>();
    if (!load || (group == 1 && !elementTypeOf(tile).isF32()) || !source.hasOneUse() ||
        load->getBlock() != loop.getBody() || !steps.isSteady(load.getPointer()) ||
        !hasUsableAxes(result, load, isB) || !takeMask(result, load, isB)) {
      return result;
    }
    Axis along = kernel.axes.axis(load.getPointer(), result.position(innerDim), AxisView::Address);
    // Groups are read as one number each, or put together from neighbouring columns.
    const bool isOdd = isB ? result.transposed && !result.lowerMasks.empty() : along.stride != 1;
    if (group > 1 && isOdd) {
      return result;
    }
    // Rows that are not read are left out; columns are masked while they are packed.
    bool isMaskable = !isB || (group == 1 && !result.transposed && !result.needsCheck);
    if (!result.rowMasks.empty() && !isMaskable) {
      return result;
    }
    result.load = load;
    return result;
  }

  bool hasUsableAxes(GemmOperand &operand, tile::LoadOp load, bool isB) {
    Value pointer = load.getPointer();
    unsigned inner = operand.position(innerDim), outer = operand.position(outerDim);
    if (kernel.axes.axis(pointer, inner, AxisView::Address).kind != AxisKind::Linear) {
      return false;
    }
    auto isUnit = [&](unsigned dim) {
      Axis axis = kernel.axes.axis(pointer, dim, AxisView::Address);
      return axis.kind == AxisKind::Linear && axis.stride == 1;
    };
    operand.transposed = isUnit(isB ? inner : outer) && !isUnit(isB ? outer : inner);
    if (!isB || operand.transposed) {
      return true; // each row of a, or column of b, has an address of its own
    }
    Axis axis = kernel.axes.axis(pointer, outer, AxisView::Address);
    if (axis.kind == AxisKind::Linear) {
      operand.needsCheck = !axis.stride;
      return axis.stride.value_or(1) == 1;
    }
    axis = kernel.axes.axis(pointer, outer, AxisView::Assumed);
    operand.needsCheck = true;
    return axis.kind == AxisKind::Linear && axis.stride == 1 && wrapsOnce(pointer);
  }

  /// One remainder and no quotient stand between the tile and its address: first and last element
  /// are n-1 apart only when all between them are neighbours.
  bool wrapsOnce(Value pointer) {
    llvm::SmallPtrSet<Operation *, 32> seen;
    SmallVector<Value> work{pointer};
    unsigned remainders = 0;
    while (!work.empty()) {
      Value value = work.pop_back_val();
      if (const Induction *induction = kernel.axes.induction(value)) {
        work.push_back(induction->initial);
        continue;
      }
      Operation *op = value.getDefiningOp();
      if (!isTile(value) || !op || !seen.insert(op).second) {
        continue;
      }
      if (isa<arith::DivSIOp, arith::DivUIOp>(op)) {
        return false;
      }
      remainders += isa<arith::RemSIOp, arith::RemUIOp>(op) ? 1 : 0;
      work.append(op->operand_begin(), op->operand_end());
    }
    return remainders == 1;
  }

  bool takeMask(GemmOperand &operand, tile::LoadOp load, bool isB) {
    if (!load.getMask()) {
      return true;
    }
    if (load.getOther() && !isZero(load.getOther())) {
      return false;
    }
    return forEachTerm(kernel, load.getMask(), operand.dims, [&](Value term, const Dims &dims) {
      return takeTerm(operand, term, dims, isB);
    });
  }

  bool takeTerm(GemmOperand &operand, Value term, const Dims &dims, bool isB) {
    bool outer = llvm::is_contained(dims, outerDim), inner = llvm::is_contained(dims, innerDim);
    if (!outer && !inner) {
      operand.conditions.push_back(term);
      return steps.isInvariant(term);
    }
    std::optional<PrefixTerm> prefix = asPrefix(kernel, term, dims, outer ? outerDim : innerDim);
    if (!prefix && !inner && (!isB || kernel.options.hasMaskedMoves)) {
      operand.rowMasks.push_back(term);
      operand.rowMaskDims.push_back(dims);
      return steps.isInvariant(term);
    }
    if (!prefix || (outer && inner)) {
      return false;
    }
    (prefix->isLower ? operand.lowerMasks
     : outer         ? operand.outerMasks
                     : operand.innerMasks)
        .push_back(*prefix);
    return outer ? steps.isInvariant(prefix->offset) && steps.isInvariant(prefix->limit)
                 : steps.isSteady(prefix->offset) && steps.isSteady(prefix->limit);
  }

  // ---- what is looked at ----
  /// Every path from the value to memory ends in one of these stores.
  bool collectStores(Value value, SmallVectorImpl<tile::StoreOp> &stores, int depth = 32) {
    return depth > 0 && llvm::all_of(value.getUsers(), [&](Operation *user) {
             if (auto store = dyn_cast<tile::StoreOp>(user)) {
               if (!llvm::is_contained(stores, store)) {
                 stores.push_back(store);
               }
               return store.getValue() == value;
             }
             return isElementwise(user) && llvm::all_of(user->getResults(), [&](Value result) {
                      return shapeOf(result) == shapeOf(value) &&
                             collectStores(result, stores, depth - 1);
                    });
           });
  }

  /// Only scalars that are computed before the loop stand behind the tile.
  bool isKnownBefore(Value tile) {
    bool known = true;
    kernel.plan.forEachLeaf(
        tile, Dims(shapeOf(tile).size(), zeroDim), [&](Value leaf, const Dims &) {
          Operation *around = leaf.getParentBlock()->findAncestorOpInBlock(*loop.getOperation());
          Operation *op = leaf.getDefiningOp();
          known &= !isTile(leaf) && around && (!op || op->isBeforeInBlock(around));
        });
    return known;
  }

  /// Neighbours in memory are those of a column: a vector of a row would be scattered, while the
  /// tile as a whole can be transposed.
  bool isTransposed(tile::StoreOp store) {
    auto isUnit = [&](unsigned dim) {
      Axis axis = kernel.axes.axis(store.getPointer(), dim, AxisView::Address);
      return axis.kind == AxisKind::Linear && axis.stride == 1;
    };
    return shapeOf(store.getPointer()).size() == 2 && isUnit(0) && !isUnit(1);
  }

  void findDemand(GemmLoop &gemm) {
    SmallVector<tile::StoreOp> stores;
    Value sums = gemm.sums = loop.getResult(gemm.carried);
    if (!collectStores(sums, stores) || stores.empty()) {
      return;
    }
    if (stores.size() == 1 && !isTransposed(stores[0]) &&
        canStoreInLoop(kernel, loop, sums, stores[0])) {
      gemm.store = stores[0];
    }
    for (tile::StoreOp store : stores) {
      DemandedPart part;
      int taken = 0, terms = 0;
      if (!store.getMask()) {
        gemm.demanded.clear();
        return;
      }
      forEachTerm(kernel, store.getMask(), {0, 1}, [&](Value term, const Dims &dims) {
        for (int8_t dim : {0, 1}) {
          bool alone = llvm::is_contained(dims, dim) && !llvm::is_contained(dims, 1 - dim);
          std::optional<PrefixTerm> prefix =
              alone ? asPrefix(kernel, term, dims, dim) : std::nullopt;
          if (prefix && !prefix->isLower && isKnownBefore(prefix->offset) &&
              isKnownBefore(prefix->limit)) {
            (dim == 0 ? part.rows : part.columns).push_back(*prefix);
            ++taken;
          }
        }
        ++terms;
        return true;
      });
      gemm.masksDemand = taken == terms;
      gemm.demanded.push_back(std::move(part));
    }
  }

  KernelState &kernel;
  scf::ForOp loop;
  LoopSteps steps;
};
} // namespace

std::optional<GemmLoop> recogniseGemm(KernelState &kernel, scf::ForOp loop) {
  return GemmFinder(kernel, loop).run();
}

} // namespace nereid::cpu
