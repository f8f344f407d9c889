// SPDX-License-Identifier: Apache-2.0
// The conditions of GemmLoop: on the loop, on its accumulator, and per operand on addresses and
// mask.
#include "lib/targets/cpu/lower/product/recognise/GemmLoop.h"
#include "lib/targets/cpu/lower/Recognisers.h"
#include "lib/targets/cpu/lower/product/recognise/GemmDemand.h"

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
    if (!choosePackFactor(gemm)) {
      return declines(gemm, "there is no register block for these types");
    }
    findDemand(kernel, loop, gemm);
    lookedAt = findWhatIsLookedAt(kernel, gemm.sums);
    gemm.a = operand(gemm, gemm.dot.getA(), {outerDim, innerDim}, /*isB=*/false);
    gemm.b = operand(gemm, gemm.dot.getB(), {innerDim, outerDim}, /*isB=*/true);
    copyWhatIsCutAlone(gemm);
    if (!gemm.a.load && !gemm.b.load && gemm.m * gemm.n * gemm.k < smallProduct) {
      return declines(gemm, "it is small, and both operands have to be copied");
    }
    gemm.startsAtZero = isZero(loop.getInitArgs()[gemm.carried]);
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
  bool choosePackFactor(GemmLoop &gemm) {
    const Machine &machine = kernel.machine;
    Type element = elementTypeOf(tile::DotOp(gemm.dot).getA());
    Type sum = elementTypeOf(tile::DotOp(gemm.dot).getC());
    if (sum.isInteger(32)) {
      gemm.packFactor = 4;
      return element.isInteger(8) && machine.hasInt8Dots && gemm.k % gemm.packFactor == 0;
    }
    gemm.packFactor = element.isBF16() && machine.hasBf16Dots && gemm.k % 2 == 0 ? 2 : 1;
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

  /// Rows or columns that the mask leaves out are not looked at either. Others are not left out
  /// of the product: zero times what is not finite is not zero.
  bool isDemanded(const PrefixTerm &term, bool isB) {
    return !lookedAt.empty() && llvm::all_of(lookedAt, [&](const DemandedPart &part) {
      return hasTerm(isB ? part.columns : part.rows, term);
    });
  }

  /// Where the mask of one operand ends k and that of the other does not, the zeros are multiplied:
  /// the operand is copied, with them.
  void copyWhatIsCutAlone(GemmLoop &gemm) {
    if (!isa<FloatType>(elementTypeOf(gemm.dot.getC()))) {
      return;
    }
    auto isCutAlone = [](const GemmOperand &operand, const GemmOperand &other) {
      return llvm::any_of(operand.innerMasks,
                          [&](const PrefixTerm &term) { return !hasTerm(other.innerMasks, term); });
    };
    const bool isOfA = isCutAlone(gemm.a, gemm.b), isOfB = isCutAlone(gemm.b, gemm.a);
    for (auto [operand, isCut] : {std::pair{&gemm.a, isOfA}, {&gemm.b, isOfB}}) {
      if (operand->load && isCut) {
        decline(Recogniser::GemmOperand, operand->load,
                "its mask ends k where the other operand's does not");
        *operand = computed(operand->tile, operand->dims);
      }
    }
  }

  /// An operand that each iteration makes in scratch.
  static GemmOperand computed(Value tile, const Dims &dims) {
    GemmOperand result;
    result.tile = tile;
    result.dims = dims;
    return result;
  }

  GemmOperand operand(const GemmLoop &gemm, Value tile, Dims dims, bool isB) {
    const int64_t factor = gemm.packFactor;
    GemmOperand result = computed(tile, dims);
    Value source = tile;
    while (auto trans = source.getDefiningOp<tile::TransOp>()) {
      if (!source.hasOneUse()) {
        return result;
      }
      result.dims = mapDims(trans, trans.getSource(), result.dims);
      source = trans.getSource();
    }
    auto load = source.getDefiningOp<tile::LoadOp>();
    if (!load || (factor == 1 && !elementTypeOf(tile).isF32()) || !source.hasOneUse() ||
        load->getBlock() != loop.getBody() || !steps.isSteady(load.getPointer()) ||
        !isKnownWithoutScratch(load) || !hasUsableAxes(result, load, isB) ||
        !takeMask(gemm, result, load, isB)) {
      return computed(tile, dims);
    }
    Axis along = kernel.axes.axis(load.getPointer(), result.position(innerDim), AxisView::Address);
    // Groups are read as one number each, or put together from neighbouring columns.
    const bool isOdd = isB ? result.transposed && !result.lowerMasks.empty() : along.stride != 1;
    if (factor > 1 && isOdd) {
      return result;
    }
    // Rows that are not read are padding; columns are masked while they are packed.
    bool isMaskable = !isB || (factor == 1 && !result.transposed && !result.needsCheck);
    if (!result.rowMasks.empty() && !isMaskable) {
      return result;
    }
    result.load = load;
    return result;
  }

  /// No part of its address or mask is a tile that each iteration would have to materialise.
  bool isKnownWithoutScratch(tile::LoadOp load) {
    bool isKnown = true;
    auto visit = [&](Value leaf, const Dims &) {
      bool isInScratch = isTile(leaf) && kernel.plan.isStored(leaf);
      isKnown &= !isInScratch || !loop.getRegion().isAncestor(leaf.getParentRegion());
    };
    for (Value part : {load.getPointer(), load.getMask()}) {
      if (part) {
        kernel.plan.forEachLeaf(part, Dims(shapeOf(part).size(), zeroDim), visit);
      }
    }
    return isKnown;
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
      if (const tile::Induction *induction = kernel.axes.induction(value)) {
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

  bool takeMask(const GemmLoop &gemm, GemmOperand &operand, tile::LoadOp load, bool isB) {
    if (!load.getMask()) {
      return true;
    }
    if (load.getOther() && !isZero(load.getOther())) {
      return false;
    }
    return forEachTerm(kernel, load.getMask(), operand.dims, [&](Value term, const Dims &dims) {
      return takeTerm(gemm, operand, term, dims, isB);
    });
  }

  bool takeTerm(const GemmLoop &gemm, GemmOperand &operand, Value term, const Dims &dims,
                bool isB) {
    bool outer = llvm::is_contained(dims, outerDim), inner = llvm::is_contained(dims, innerDim);
    const bool isExact = !isa<FloatType>(elementTypeOf(tile::DotOp(gemm.dot).getC()));
    if (!outer && !inner && isExact) {
      operand.conditions.push_back(term);
      return steps.isInvariant(term);
    }
    std::optional<PrefixTerm> prefix;
    if (outer || inner) {
      prefix = asPrefix(kernel, term, dims, outer ? outerDim : innerDim);
    }
    if (prefix && outer && !prefix->isLower && !isExact && !isDemanded(*prefix, isB)) {
      prefix.reset();
    }
    if (!prefix && !inner && (!isB || kernel.machine.hasMaskedMoves)) {
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
    return outer ? steps.isInvariant(prefix->linear) && steps.isInvariant(prefix->limit)
                 : steps.isSteady(prefix->linear) && steps.isSteady(prefix->limit);
  }

  KernelState &kernel;
  scf::ForOp loop;
  LoopSteps steps;
  SmallVector<DemandedPart, 2> lookedAt; ///< per store; empty = everything may be
};
} // namespace

std::optional<GemmLoop> recogniseGemm(KernelState &kernel, scf::ForOp loop) {
  return GemmFinder(kernel, loop).run();
}

} // namespace nereid::cpu
