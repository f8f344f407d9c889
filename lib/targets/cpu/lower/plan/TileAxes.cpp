// SPDX-License-Identifier: Apache-2.0
// The rules of TileAxes, one per operation.
#include "lib/targets/cpu/lower/plan/TileAxes.h"

#include "lib/targets/cpu/lower/plan/NarrowIntegers.h"
#include "lib/tile/ir/Constants.h"

#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace nereid::cpu {

llvm::ArrayRef<int64_t> shapeOf(Value value) {
  if (auto type = dyn_cast<RankedTensorType>(value.getType())) {
    return type.getShape();
  }
  return {};
}

Type elementTypeOf(Value value) {
  if (auto type = dyn_cast<RankedTensorType>(value.getType())) {
    return type.getElementType();
  }
  return value.getType();
}

bool isTile(Value value) { return isa<RankedTensorType>(value.getType()); }

bool isPointerTile(Value value) {
  return isTile(value) && isa<tile::PtrType>(elementTypeOf(value));
}

bool isCrossLane(Operation *op) {
  return isa<tile::ScanOp, tile::JoinOp, tile::SplitOp, tile::HistogramOp>(op);
}

int64_t histogramTables(tile::HistogramOp op) {
  const int64_t count = ShapedType::getNumElements(shapeOf(op.getSource()));
  return shapeOf(op.getResult())[0] * 4 <= count ? 4 : 1;
}

int64_t histogramEntries(tile::HistogramOp op) {
  return histogramTables(op) * (shapeOf(op.getResult())[0] + 1);
}

const TileAxes::Axes *TileAxes::find(Value tile, AxisView view) const {
  auto it = table.find(tile);
  return it == table.end() ? nullptr : &it->second.byView[static_cast<int>(view)];
}

Axis TileAxes::axis(Value tile, unsigned dim, AxisView view) const {
  if (shapeOf(tile)[dim] == 1) {
    return {AxisKind::Uniform, std::nullopt};
  }
  const Axes *axes = find(tile, view);
  return axes && dim < axes->size() ? (*axes)[dim] : Axis();
}

bool TileAxes::isUniformEverywhere(Value tile) const {
  for (unsigned i = 0; i < shapeOf(tile).size(); ++i) {
    if (!isUniform(tile, i)) {
      return false;
    }
  }
  return true;
}

std::optional<tile::MaskBound> TileAxes::bound(Value term, unsigned dim) const {
  return tile::boundOf(term, [&](Value tile) -> std::optional<int64_t> {
    if (isUniform(tile, dim)) {
      return 0;
    }
    const Axis found = axis(tile, dim, AxisView::Address);
    return found.kind == AxisKind::Linear && !mayWrap(tile) ? found.stride : std::nullopt;
  });
}

bool TileAxes::mayRepeat(Value pointer) const {
  SmallVector<std::pair<int64_t, int64_t>> known; // stride and size
  for (auto [dim, size] : llvm::enumerate(shapeOf(pointer))) {
    if (size == 1) {
      continue;
    }
    const Axis found = axis(pointer, dim, AxisView::Address);
    if (found.kind != AxisKind::Linear || !found.stride) {
      return true; // a stride known at run time only may be 0, or less than the rows are wide
    }
    known.push_back({std::abs(*found.stride), size});
  }
  llvm::sort(known);
  int64_t reach = 0; // of the dimensions with smaller strides
  for (auto [stride, size] : known) {
    if (stride <= reach) {
      return true;
    }
    reach += stride * (size - 1);
  }
  return false;
}

static bool mustBeStored(Value tile) {
  return llvm::any_of(tile.getUsers(), [&](Operation *user) { return readsElsewhere(user, tile); });
}

const tile::Induction *TileAxes::induction(Value carried) const {
  auto it = inductions.find(carried);
  return it == inductions.end() ? nullptr : &it->second;
}

Dims TileAxes::normalise(Value tile, const Dims &dims) const {
  Dims result(dims);
  for (unsigned i = 0; i < result.size(); ++i) {
    if (result[i] != zeroDim && isUniform(tile, i)) {
      result[i] = zeroDim;
    }
  }
  return result;
}

void TileAxes::analyse(Operation *function) {
  tile::Inductions found;
  found.find(function);
  for (auto [carried, induction] : found.all()) {
    if (isTile(carried) && !mustBeStored(carried)) {
      inductions[carried] = induction;
    }
  }
  for (Region &region : function->getRegions()) {
    for (Block &block : region) {
      analyseBlock(block);
    }
  }
}

void TileAxes::analyseBlock(Block &block) {
  for (Operation &op : block) {
    if (isa<tile::ReduceOp, tile::ScanOp>(op)) {
      continue; // its region works on scalars
    }
    if (op.getNumRegions() != 0) {
      analyseLoop(&op);
      continue;
    }
    if (op.getNumResults() != 0 && isTile(op.getResult(0))) {
      analyseOp(&op);
    }
  }
}

void TileAxes::analyseLoop(Operation *op) {
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    // What grows by one amount everywhere keeps the strides of its first value.
    for (auto [arg, initial] : llvm::zip(loop.getRegionIterArgs(), loop.getInitArgs())) {
      auto it = table.find(initial);
      if (induction(arg) && it != table.end()) {
        Views copy = it->second;
        table[arg] = copy;
      }
    }
  }
  for (Region &region : op->getRegions()) {
    for (Block &block : region) {
      analyseBlock(block);
    }
  }
}

/// The constant a uniform integer tile holds, looking through shape operations.
static std::optional<int64_t> uniformConstant(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isa<tile::BroadcastOp, tile::ExpandDimsOp, tile::ReshapeOp, tile::TransOp>(op)) {
      break;
    }
    value = op->getOperand(0);
  }
  return tile::constantOf(value);
}

static Axis combine(Operation *op, ArrayRef<Axis> in, AxisView view) {
  using Kind = AxisKind;
  if (llvm::all_of(in, [](const Axis &a) { return a.kind == Kind::Uniform; })) {
    return {Kind::Uniform, std::nullopt};
  }
  auto linear = [](std::optional<int64_t> stride) { return Axis{Kind::Linear, stride}; };
  if (llvm::any_of(in, [](const Axis &a) { return a.kind == Kind::General; })) {
    return {};
  }
  auto strideOrZero = [](const Axis &a) -> std::optional<int64_t> {
    return a.kind == Kind::Uniform ? std::optional<int64_t>(0) : a.stride;
  };
  if (isa<arith::AddIOp, arith::SubIOp, tile::AddPtrOp>(op)) {
    auto a = strideOrZero(in[0]), b = strideOrZero(in[1]);
    if (!a || !b) {
      return linear(std::nullopt);
    }
    return linear(isa<arith::SubIOp>(op) ? *a - *b : *a + *b);
  }
  if (isa<arith::MulIOp>(op) && (in[0].kind == Kind::Uniform || in[1].kind == Kind::Uniform)) {
    unsigned l = in[0].kind == Kind::Linear ? 0 : 1;
    auto factor = uniformConstant(op->getOperand(1 - l));
    return linear(factor && in[l].stride ? std::optional(*factor * *in[l].stride) : std::nullopt);
  }
  if (isa<arith::ShLIOp>(op) && in[1].kind == Kind::Uniform) {
    auto amount = uniformConstant(op->getOperand(1));
    if (amount && in[0].stride && *amount >= 0 && *amount < 31) {
      return linear(*in[0].stride * (int64_t(1) << *amount));
    }
    return {};
  }
  if (isa<arith::TruncIOp, arith::IndexCastOp>(op)) {
    return in[0];
  }
  if (isa<arith::ExtSIOp, arith::ExtUIOp>(op) && view != AxisView::Exact &&
      !elementTypeOf(op->getOperand(0)).isInteger(1)) {
    return in[0];
  }
  if (isa<tile::PtrCastOp>(op)) {
    auto width = [](Value v) {
      Type t = cast<tile::PtrType>(elementTypeOf(v)).getPointee();
      return t.isIntOrFloat() ? std::max(8u, t.getIntOrFloatBitWidth()) : 64u;
    };
    if (width(op->getOperand(0)) == width(op->getResult(0))) {
      return in[0];
    }
    return {};
  }
  // Small ones step or wrap within every vector, at places that may be known: see LanePattern.h.
  auto divisor = in.size() == 2 ? uniformConstant(op->getOperand(1)) : std::nullopt;
  bool isSmall = divisor && *divisor > 0 && *divisor <= 8 &&
                 llvm::isPowerOf2_64(static_cast<uint64_t>(*divisor));
  if (view == AxisView::Assumed && in[0].kind == Kind::Linear && in[0].stride == 1 && !isSmall) {
    if (isa<arith::RemSIOp, arith::RemUIOp>(op)) {
      return linear(1);
    }
    if (isa<arith::DivSIOp, arith::DivUIOp>(op)) {
      return {Kind::Uniform, std::nullopt};
    }
  }
  return {};
}

TileAxes::Axes TileAxes::elementwise(Operation *op, AxisView view, unsigned rank) const {
  Axes axes(rank);
  // What is widened may well have wrapped around within the tile.
  bool widensWrapped = isa<arith::ExtSIOp, arith::ExtUIOp>(op) && mayWrap(op->getOperand(0));
  view = widensWrapped ? AxisView::Exact : view;
  for (unsigned d = 0; d < rank; ++d) {
    SmallVector<Axis, 3> in;
    for (Value operand : op->getOperands()) {
      in.push_back(isTile(operand) ? axis(operand, d, view)
                                   : Axis{AxisKind::Uniform, std::nullopt});
    }
    axes[d] = combine(op, in, view);
  }
  return axes;
}

void TileAxes::analyseOp(Operation *op) {
  Value result = op->getResult(0);
  unsigned rank = shapeOf(result).size();
  const Axis uniform{AxisKind::Uniform, std::nullopt};
  Views views;
  for (AxisView view : {AxisView::Exact, AxisView::Address, AxisView::Assumed}) {
    Axes &axes = views.byView[static_cast<int>(view)];
    axes.assign(rank, Axis());
    if (isa<tile::SplatOp>(op)) {
      axes.assign(rank, uniform);
    } else if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
      auto dense = dyn_cast<DenseElementsAttr>(constant.getValue());
      if (dense && dense.isSplat()) {
        axes.assign(rank, uniform);
      }
    } else if (isa<tile::MakeRangeOp>(op)) {
      axes[0] = {AxisKind::Linear, 1};
    } else if (isa<tile::ExpandDimsOp, tile::BroadcastOp, tile::TransOp>(op) ||
               (isa<tile::ReshapeOp>(op) && isTrivialReshape(op))) {
      Value source = op->getOperand(0);
      Dims own;
      for (unsigned i = 0; i < rank; ++i) {
        own.push_back(i);
      }
      Dims mapped = mapDims(op, source, own);
      axes.assign(rank, uniform);
      for (unsigned s = 0; s < mapped.size(); ++s) {
        if (mapped[s] != zeroDim) {
          axes[mapped[s]] = axis(source, s, view);
        }
      }
    } else if (isa<tile::ReshapeOp>(op)) {
      if (isUniformEverywhere(op->getOperand(0))) {
        axes.assign(rank, uniform);
      }
    } else if (auto gather = dyn_cast<tile::GatherOp>(op)) {
      for (unsigned d = 0; d < rank; ++d) {
        bool sameSource = d == gather.getAxis() || isUniform(gather.getSource(), d);
        if (sameSource && isUniform(gather.getIndex(), d)) {
          axes[d] = uniform;
        }
      }
    } else if (isElementwise(op)) {
      axes = elementwise(op, view, rank);
    } else if (isa<tile::LoadOp>(op)) {
      for (unsigned d = 0; d < rank; ++d) {
        if (llvm::all_of(op->getOperands(), [&](Value v) { return isUniform(v, d); })) {
          axes[d] = uniform;
        }
      }
    }
  }
  for (Value other : op->getResults().drop_front()) {
    Views copy = views;
    table[other] = copy;
  }
  table[result] = std::move(views);
}

} // namespace nereid::cpu
