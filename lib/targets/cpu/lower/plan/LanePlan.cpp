// SPDX-License-Identifier: Apache-2.0
// The walk over everything a nest evaluates per lane, once for each candidate dimension.
#include "lib/targets/cpu/lower/plan/LanePlan.h"

#include "lib/targets/cpu/lower/elements/LanePattern.h"

#include "lib/targets/cpu/lower/nest/Combiner.h"
#include "lib/tile/transforms/Passes.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace nereid::cpu {

namespace {
enum class Purpose : uint8_t { Value, Address, Mask };

/// The upper halves of 32-bit products, which need no lanes of 64 bits.
bool matchHighProduct(Operation *op, SmallVectorImpl<Value> &factors) {
  auto narrow = dyn_cast<arith::TruncIOp>(op);
  auto shift = narrow ? narrow.getIn().getDefiningOp<arith::ShRUIOp>() : nullptr;
  auto multiply = shift ? shift.getLhs().getDefiningOp<arith::MulIOp>() : nullptr;
  if (!multiply || !elementTypeOf(narrow.getResult()).isInteger(32) ||
      !elementTypeOf(narrow.getIn()).isInteger(64)) {
    return false;
  }
  for (Value factor : multiply->getOperands()) {
    auto wide = factor.getDefiningOp<arith::ExtUIOp>();
    if (wide && elementTypeOf(wide.getIn()).isInteger(32)) {
      factors.push_back(wide.getIn());
    }
  }
  return !factors.empty();
}

/// `where(x < 0, 0, x)` and the like, which processors do by one instruction.
bool isClamp(arith::SelectOp select) {
  Operation *test = select.getCondition().getDefiningOp();
  if (!isa_and_nonnull<arith::CmpFOp, arith::CmpIOp>(test)) {
    return false;
  }
  Value left = test->getOperand(0), right = test->getOperand(1);
  Value yes = select.getTrueValue(), no = select.getFalseValue();
  return matchPattern(right, m_Constant()) &&
         ((left == yes && right == no) || (left == no && right == yes));
}

class LaneScan {
public:
  LaneScan(const KernelState &kernel, LanePlan &plan) : kernel(kernel), plan(plan) {}

  void scan(ArrayRef<FusionRoot> roots) {
    sides = llvm::count_if(roots[0].shape(), [](int64_t size) { return size > 1; });
    turnsBlocks = writesTransposed(kernel, roots, plan.dim);
    plan.score += turnsBlocks ? 16 : 0; // whatever is read along the rows, see access()
    for (const FusionRoot &root : roots) {
      Dims dims = identityDims(root.shape().size());
      if (root.kind == FusionRoot::Kind::Materialise) {
        Purpose purpose = isPointerTile(root.value) ? Purpose::Address : Purpose::Value;
        if (purpose == Purpose::Address) {
          widest = 8;
        }
        push(root.value, dims, purpose);
        if (!canTranspose(roots)) {
          touch(root.shape(), dims, 2);
        }
        widest = std::max<int>(widest, KernelState::byteSize(kernel.buffer(root.target).element));
      } else if (root.kind == FusionRoot::Kind::Reduce) {
        auto reduce = cast<tile::ReduceOp>(root.op);
        for (Value source : reduce.getSources()) {
          push(source, dims, Purpose::Value);
        }
        needsScalars |= !Combiner(reduce).isElementwise();
        plan.cost += static_cast<int>(reduce.getCombine().front().getOperations().size()) - 1;
        // Lanes along the reduced axis end in a tree of shuffles.
        plan.score += plan.dim == static_cast<int8_t>(reduce.getAxis()) ? 0 : 1;
      } else {
        auto store = cast<tile::StoreOp>(root.op);
        narrowest =
            std::min<int>(narrowest, KernelState::byteSize(elementTypeOf(store.getValue())));
        push(store.getValue(), dims,
             isPointerTile(store.getValue()) ? Purpose::Address : Purpose::Value);
        access(store.getPointer(), dims, true, store.getMask() != nullptr);
        if (store.getMask()) {
          mask(store.getMask(), dims);
        }
      }
    }
    run();
  }

  int widest = 1, narrowest = 8; ///< bytes of what is computed, of what is stored
  bool needsScalars = false;     ///< an access no vector instruction can do
  bool narrowMaskedAccess = false;
  bool turnsBlocks = false; ///< buffers are read along their rows, whatever the lanes

private:
  int64_t sides = 0; ///< dimensions of the nest that have more than one element
  int lanePosition(const Dims &dims) const {
    for (size_t i = 0; i < dims.size(); ++i) {
      if (dims[i] == plan.dim) {
        return static_cast<int>(i);
      }
    }
    return -1;
  }

  void push(Value value, const Dims &dims, Purpose purpose) {
    if (!isTile(value)) {
      return;
    }
    Dims own = kernel.axes.normalise(value, dims);
    if (lanePosition(own) >= 0 &&
        seen.insert({Evaluator::keyOf(value, own, static_cast<unsigned>(purpose))}).second) {
      work.push_back({value, own, purpose});
    }
  }

  void mask(Value value, const Dims &dims) {
    Dims own = kernel.axes.normalise(value, dims);
    if (lanePosition(own) >= 0 && masksSeen.insert(Evaluator::keyOf(value, own)).second) {
      plan.masks.push_back({value, own});
    }
    push(value, dims, Purpose::Mask);
  }

  /// What is only loaded or transposed may have its lanes along another dimension than the
  /// buffer's: blocks are transposed in registers.
  bool canTranspose(ArrayRef<FusionRoot> roots) const {
    const FusionRoot &root = roots[0];
    bool isMoved = roots.size() == 1 &&
                   isa_and_nonnull<tile::LoadOp, tile::TransOp>(root.value.getDefiningOp());
    if (!isMoved || isPointerTile(root.value) || root.shape().size() < 2) {
      return false;
    }
    int64_t lanes =
        kernel.machine.vectorBytes / KernelState::byteSize(kernel.buffer(root.target).element);
    return plan.dim + 1 != static_cast<int>(root.shape().size()) && root.shape().back() >= lanes &&
           root.shape()[plan.dim] >= lanes;
  }

  /// A row-major buffer read or written along the lanes.
  void touch(ArrayRef<int64_t> shape, const Dims &dims, int weight) {
    int lane = lanePosition(dims);
    if (lane < 0 || turnsBlocks) {
      return;
    }
    bool contiguous = true;
    for (size_t i = lane + 1; i < shape.size(); ++i) {
      contiguous &= shape[i] == 1;
    }
    plan.score += contiguous ? weight : -weight;
  }

  void access(Value pointer, const Dims &dims, bool isStore, bool masked) {
    Dims own = kernel.axes.normalise(pointer, dims);
    int lane = lanePosition(dims);
    if (lane < 0) {
      return;
    }
    int64_t bytes = KernelState::byteSize(cast<tile::PtrType>(elementTypeOf(pointer)).getPointee());
    Axis axis = kernel.axes.axis(pointer, lane, AxisView::Assumed);
    if (axis.kind != AxisKind::Uniform || isStore) {
      widest = std::max<int>(widest, bytes);
    }
    // What fewer dimensions know of, as a scale for each row, is read less often than the rest; a
    // step that only the run time knows is hardly 1 where another dimension has steps, too.
    const int64_t varies = static_cast<int64_t>(own.size()) - llvm::count(own, zeroDim);
    const int share = varies < sides ? 4 : 1, unknown = varies > 1 ? -3 : 3;
    bool hasGather = kernel.machine.hasGather; // of narrow elements by words
    bool hasScatter = kernel.machine.hasScatter && bytes >= 4;
    if (axis.kind == AxisKind::Linear && axis.stride.value_or(1) == 1) {
      plan.score += ((axis.stride ? 6 : unknown) + (isStore ? 1 : 0)) / share;
      if (!axis.stride) {
        plan.runtimeStrides.push_back({pointer, own});
        narrowMaskedAccess |= isStore ? !hasScatter : !hasGather;
      }
      bool hasMasked =
          kernel.machine.hasMaskedMoves || (kernel.machine.vectorBytes == 32 && bytes >= 4);
      narrowMaskedAccess |= masked && !hasMasked;
      Axis plain = kernel.axes.axis(pointer, lane, AxisView::Address);
      if (plain.kind == AxisKind::General) {
        narrowMaskedAccess |= isStore ? !hasScatter : !hasGather;
      }
    } else if (!isStore && hasPattern(pointer, lane, bytes)) {
      plan.score += 5 / share; // more than neighbours that only the run time may find
    } else if (axis.kind != AxisKind::Uniform) {
      plan.score -= (isStore ? 6 : 4) / share;
      bool insertable = !isStore && !masked && axis.kind == AxisKind::Linear && bytes < 4;
      needsScalars |= isStore ? !hasScatter : !(hasGather || insertable);
    } else {
      needsScalars |= isStore; // many lanes to one address: in order
    }
    address(pointer, dims);
  }

  /// A shuffle of neighbours instead of a gather.
  bool hasPattern(Value pointer, int lane, int64_t bytes) const {
    auto width = static_cast<unsigned>(kernel.machine.vectorBytes / bytes);
    return kernel.machine.hasMaskedMoves &&
           lanePatternOf(kernel, pointer, static_cast<unsigned>(lane), width);
  }

  void address(Value pointer, const Dims &dims) {
    Dims own = kernel.axes.normalise(pointer, dims);
    int lane = lanePosition(own);
    if (lane < 0) {
      return;
    }
    AxisKind plain = kernel.axes.axis(pointer, lane, AxisView::Address).kind;
    if (plain == AxisKind::General) {
      push(pointer, own, Purpose::Address);
    }
  }

  void countWidth(Value value) {
    Type element = elementTypeOf(value);
    if (element.isInteger(1)) {
      return;
    }
    int64_t bytes = KernelState::byteSize(element);
    Operation *op = value.getDefiningOp();
    if (isa<FloatType>(element) && bytes < 4 && op && isElementwise(op)) {
      bytes = 4; // computed in float32
    }
    widest = std::max<int>(widest, bytes);
  }

  void run() {
    while (!work.empty()) {
      auto [value, dims, purpose] = work.pop_back_val();
      int lane = lanePosition(dims);
      if (kernel.plan.isStored(value) && kernel.buffers.count(value)) {
        if (purpose == Purpose::Value) {
          countWidth(value);
        }
        plan.cost += 1;
        touch(shapeOf(value), dims, 2);
        if (purpose == Purpose::Address) {
          premises(value, dims);
        }
        continue;
      }
      if (purpose == Purpose::Value) {
        countWidth(value);
      }
      if (const tile::Induction *induction = kernel.axes.induction(value)) {
        push(induction->initial, dims, purpose);
        continue;
      }
      Operation *op = value.getDefiningOp();
      if (!op || kernel.axes.axis(value, lane, AxisView::Exact).kind == AxisKind::Linear) {
        continue;
      }
      if (purpose == Purpose::Address && isAssumed(value, dims)) {
        plan.remainders.push_back({value, dims});
      }
      if (SmallVector<Value, 2> factors; matchHighProduct(op, factors)) {
        plan.cost += 3;
        plan.highProducts += 1;
        for (Value factor : factors) {
          push(factor, dims, purpose);
        }
        continue;
      }
      if (auto load = dyn_cast<tile::LoadOp>(op)) {
        plan.cost += 2;
        plan.rowlessLoads += llvm::count(dims, zeroDim) + 1 == static_cast<int64_t>(dims.size());
        needsScalars |= load.getIsVolatile();
        access(load.getPointer(), dims, false, load.getMask() != nullptr);
        if (load.getMask()) {
          mask(load.getMask(), dims);
        }
        if (load.getOther()) {
          push(load.getOther(), dims, purpose);
        }
        continue;
      }
      if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
        plan.cost += static_cast<int>(shapeOf(value).size()) * 2;
        continue;
      }
      if (auto select = dyn_cast<arith::SelectOp>(op); select && isTile(select.getCondition())) {
        plan.cost += 1;
        if (!isClamp(select)) {
          mask(select.getCondition(), dims);
        }
        push(select.getTrueValue(), dims, purpose);
        push(select.getFalseValue(), dims, purpose);
        continue;
      }
      plan.divisions += isa<arith::DivFOp, math::SqrtOp, math::RsqrtOp>(op) ? 1 : 0;
      bool moves = isa<tile::ExpandDimsOp, tile::BroadcastOp, tile::TransOp, tile::ReshapeOp>(op);
      if (!moves && purpose != Purpose::Mask) {
        StringRef dialect = op->getName().getDialectNamespace();
        plan.cost +=
            dialect == "math" && !isa<math::AbsFOp, math::FmaOp, math::SqrtOp>(op) ? 16 : 1;
      }
      plan.cost += isa<tile::GatherOp>(op) ? 4 : 0;
      for (Value operand : op->getOperands()) {
        if (isTile(operand)) {
          push(operand, mapDims(op, operand, dims), purpose);
        }
      }
    }
  }

  /// A remainder or quotient of which AxisView::Assumed says more than is known. What is divided
  /// may be a remainder itself, which is an assumption of its own.
  bool isAssumed(Value value, const Dims &dims) const {
    Operation *op = value.getDefiningOp();
    if (!isa_and_nonnull<arith::RemSIOp, arith::RemUIOp, arith::DivSIOp, arith::DivUIOp>(op)) {
      return false;
    }
    auto lane = static_cast<unsigned>(lanePosition(dims));
    return kernel.axes.axis(op->getOperand(0), lane, AxisView::Assumed).kind == AxisKind::Linear &&
           kernel.axes.axis(value, lane, AxisView::Assumed).kind != AxisKind::General;
  }

  /// The same element again whenever it is evaluated: no load stands between it and what is
  /// materialised.
  bool isRepeatable(Value value) const {
    SmallVector<Value> open{value};
    llvm::SmallPtrSet<Operation *, 16> visited;
    while (!open.empty()) {
      Value next = open.pop_back_val();
      Operation *op = next.getDefiningOp();
      if (!isTile(next) || kernel.buffers.count(next)) {
        continue;
      }
      if (const tile::Induction *induction = kernel.axes.induction(next)) {
        open.push_back(induction->initial);
      } else if (isa_and_nonnull<tile::LoadOp>(op)) {
        return false;
      } else if (op && visited.insert(op).second) {
        open.append(op->operand_begin(), op->operand_end());
      }
    }
    return true;
  }

  /// What AxisView::Assumed takes for granted about a tile does not end where the tile is
  /// materialised: its remainders and quotients are checked in every nest whose addresses contain
  /// it.
  void premises(Value tile, const Dims &dims) {
    SmallVector<std::pair<Value, Dims>> open{{tile, dims}};
    while (!open.empty()) {
      auto [value, at] = open.pop_back_val();
      int lane = lanePosition(at);
      auto kind = [&, &value = value](AxisView view) {
        return kernel.axes.axis(value, static_cast<unsigned>(lane), view).kind;
      };
      if (!isTile(value) || lane < 0 || kind(AxisView::Address) != AxisKind::General ||
          kind(AxisView::Assumed) == AxisKind::General ||
          !premisesSeen.insert(Evaluator::keyOf(value, at)).second) {
        continue;
      }
      if (const tile::Induction *induction = kernel.axes.induction(value)) {
        open.push_back({induction->initial, at});
        continue;
      }
      Operation *op = value.getDefiningOp();
      if (isAssumed(value, at)) {
        plan.remainders.push_back({value, at});
        plan.hasUnknownPremise |=
            !llvm::all_of(op->getOperands(), [&](Value operand) { return isRepeatable(operand); });
      }
      for (Value operand : op->getOperands()) {
        open.push_back({operand, mapDims(op, operand, at)});
      }
    }
  }

  struct Node {
    Value value;
    Dims dims;
    Purpose purpose;
  };
  const KernelState &kernel;
  LanePlan &plan;
  SmallVector<Node> work;
  llvm::DenseSet<ElementKey> seen, masksSeen, premisesSeen;
};
} // namespace

static LanePlan planFor(const KernelState &kernel, ArrayRef<FusionRoot> roots, int8_t dim) {
  LanePlan plan;
  plan.dim = dim;
  int64_t size = roots[0].shape()[dim];
  LaneScan scan(kernel, plan);
  scan.scan(roots);
  unsigned width = std::max(1, kernel.machine.vectorBytes / std::max(1, scan.widest));
  const FusionRoot *reduce =
      llvm::find_if(roots, [](const FusionRoot &r) { return r.kind == FusionRoot::Kind::Reduce; });
  const bool hasReduce = reduce != roots.end();
  width = std::min<unsigned>(width, static_cast<unsigned>(llvm::bit_floor<uint64_t>(size)));
  plan.score += size >= width * 2 ? 2 : (size >= 4 ? 1 : 0);
  plan.score -= static_cast<int64_t>(width) * scan.widest < kernel.machine.vectorBytes ? 3 : 0;
  if (scan.needsScalars) {
    width = 1;
    plan.score -= 4;
  }
  plan.scalarEnds = scan.narrowMaskedAccess;
  plan.width = width;
  unsigned registers = kernel.machine.vectorRegisters;
  unsigned unroll = plan.cost <= 10 ? 4 : plan.cost <= 45 ? 2 : 1;
  if (hasReduce && plan.cost <= 30) {
    unroll = 4;
  }
  if (plan.divisions > 0 && !hasReduce) {
    // The divider is busy longer than a step of the loop takes; two copies join narrow stores.
    unroll = std::min(unroll, scan.narrowest < scan.widest ? 2u : 1u);
  }
  if (plan.highProducts >= 6 && registers >= 32) {
    // One chain of products waits for its own results, see cpu-split-products; with much besides
    // them the code of four would be long.
    unroll = plan.cost <= 6 * plan.highProducts ? 4 : 2;
  }
  if (registers < 32 && plan.cost > 8) {
    unroll = std::min(unroll, 2u);
  }
  if (hasReduce && tile::combinesInOneOrder(reduce->op)) {
    unroll = 2; // the cost of four programs is another one than that of one; four are chains enough
  }
  while (unroll > 1 && (width == 1 || static_cast<int64_t>(unroll) * width > size)) {
    unroll /= 2;
  }
  plan.unroll = unroll;
  return plan;
}

LanePlan planLanes(const KernelState &kernel, ArrayRef<FusionRoot> roots) {
  ArrayRef<int64_t> shape = roots[0].shape();
  LanePlan best;
  for (int dim = static_cast<int>(shape.size()) - 1; dim >= 0; --dim) {
    if (shape[dim] == 1) {
      continue;
    }
    LanePlan plan = planFor(kernel, roots, static_cast<int8_t>(dim));
    if (best.dim == zeroDim || plan.score > best.score) {
      best = std::move(plan);
    }
  }
  return best;
}

} // namespace nereid::cpu
