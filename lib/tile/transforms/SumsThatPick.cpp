// SPDX-License-Identifier: Apache-2.0
#include "lib/tile/transforms/SumsThatPick.h"

#include "lib/tile/ir/Tile.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

#include <array>
#include <functional>
#include <optional>

using namespace mlir;

namespace nereid::tile {
namespace {

/// The numbers of a tile at 0 and at 1 of its dimension `axis`, of which it may depend alone; of no
/// dimension when `axis` is negative.
using Pair = std::array<int64_t, 2>;

std::optional<Pair> pairOf(Value tile, int axis);

std::optional<Pair> combined(Operation *op, int axis,
                             llvm::function_ref<int64_t(int64_t, int64_t)> combine) {
  const auto left = pairOf(op->getOperand(0), axis), right = pairOf(op->getOperand(1), axis);
  if (!left || !right) {
    return std::nullopt;
  }
  return Pair{combine((*left)[0], (*right)[0]), combine((*left)[1], (*right)[1])};
}

std::optional<Pair> pairOf(Value tile, int axis) {
  APInt constant;
  if (matchPattern(tile, m_ConstantInt(&constant))) {
    return constant.getSignificantBits() <= 8
               ? std::optional(Pair{constant.getSExtValue(), constant.getSExtValue()})
               : std::nullopt;
  }
  Operation *op = tile.getDefiningOp();
  auto sizes = [](Value of) { return cast<RankedTensorType>(of.getType()).getShape(); };
  if (auto range = dyn_cast_or_null<MakeRangeOp>(op)) {
    const bool isShort = axis == 0 ? sizes(range)[0] == 2 : sizes(range)[0] == 1;
    const int64_t first = range.getStart();
    return isShort && llvm::isInt<8>(first) ? std::optional(Pair{first, first + (axis == 0)})
                                            : std::nullopt;
  }
  if (auto expand = dyn_cast_or_null<ExpandDimsOp>(op)) {
    const int added = static_cast<int>(expand.getAxis());
    return pairOf(expand.getSource(), axis == added ? -1 : axis > added ? axis - 1 : axis);
  }
  if (auto broadcast = dyn_cast_or_null<BroadcastOp>(op)) {
    const bool isSpread = axis >= 0 && sizes(broadcast.getSource())[axis] == 1;
    return pairOf(broadcast.getSource(), isSpread ? -1 : axis);
  }
  if (isa_and_nonnull<SplatOp>(op)) {
    return pairOf(op->getOperand(0), -1);
  }
  // Small numbers in wide types: nothing wraps around.
  auto isWide = [](Value of) {
    Type element = getElementTypeOrSelf(of.getType());
    return element.isInteger() && element.getIntOrFloatBitWidth() >= 16;
  };
  if (!op || !llvm::all_of(op->getOperands(), isWide) || !isWide(tile)) {
    return std::nullopt;
  }
  if (isa<arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp>(op)) {
    const auto pair = pairOf(op->getOperand(0), axis);
    const bool isKept = pair && (*pair)[0] >= 0 && (*pair)[1] >= 0;
    return isKept ? pair : std::nullopt;
  }
  if (isa<arith::SubIOp>(op)) {
    return combined(op, axis, std::minus<int64_t>());
  }
  if (isa<arith::XOrIOp>(op)) {
    return combined(op, axis, std::bit_xor<int64_t>());
  }
  return std::nullopt;
}

bool isSum(ReduceOp reduce) {
  Block &body = reduce.getCombine().front();
  auto add = dyn_cast<arith::AddIOp>(body.front());
  return reduce.getSources().size() == 1 && add && body.getNumArguments() == 2 &&
         llvm::is_contained(add->getOperands(), body.getArgument(0)) &&
         llvm::is_contained(add->getOperands(), body.getArgument(1)) &&
         body.getTerminator()->getOperand(0) == add.getResult() &&
         body.getTerminator() == add->getNextNode();
}

struct SumThatPicks : OpRewritePattern<BroadcastOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(BroadcastOp broadcast, PatternRewriter &rewriter) const final {
    auto expand = broadcast.getSource().getDefiningOp<ExpandDimsOp>();
    auto reduce = expand ? expand.getSource().getDefiningOp<ReduceOp>() : ReduceOp();
    if (!reduce || !isSum(reduce) || reduce.getAxis() != expand.getAxis()) {
      return failure();
    }
    auto product = reduce.getSources()[0].getDefiningOp<arith::MulIOp>();
    auto type = cast<RankedTensorType>(broadcast.getType());
    const auto axis = static_cast<int>(reduce.getAxis());
    if (!product || product.getType() != type || type.getDimSize(axis) != 2) {
      return failure();
    }
    if (!llvm::isPowerOf2_64(strideOf(type, axis)) || type.getNumElements() > INT32_MAX) {
      return failure(); // A bit of the position says which element of the pair it is.
    }
    for (unsigned mask : {0u, 1u}) {
      const auto pair = pairOf(product->getOperand(mask), axis);
      if (pair && (*pair == Pair{1, 0} || *pair == Pair{0, 1})) {
        pick(broadcast, product->getOperand(1 - mask), axis, (*pair)[1] == 1, rewriter);
        return success();
      }
    }
    return failure();
  }

private:
  static int64_t strideOf(RankedTensorType type, int axis) {
    int64_t stride = 1;
    for (int d = axis + 1; d < type.getRank(); ++d) {
      stride *= type.getDimSize(d);
    }
    return stride;
  }

  static void pick(BroadcastOp broadcast, Value of, int axis, bool isRight,
                   PatternRewriter &rewriter) {
    Location loc = broadcast.getLoc();
    auto type = cast<RankedTensorType>(broadcast.getType());
    const int64_t stride = strideOf(type, axis);
    auto flat = RankedTensorType::get({type.getNumElements()}, type.getElementType());
    auto numbers = RankedTensorType::get(flat.getShape(), rewriter.getI32Type());
    Value position =
        rewriter.create<MakeRangeOp>(loc, numbers, 0, static_cast<int32_t>(type.getNumElements()));
    Value bit = rewriter.create<arith::ConstantOp>(
        loc, DenseElementsAttr::get(numbers, static_cast<int32_t>(isRight ? stride : ~stride)));
    Value index = isRight ? rewriter.create<arith::OrIOp>(loc, position, bit).getResult()
                          : rewriter.create<arith::AndIOp>(loc, position, bit).getResult();
    Value source = rewriter.create<ReshapeOp>(loc, flat, of);
    Value picked = rewriter.create<GatherOp>(loc, flat, source, index, /*axis=*/0);
    rewriter.replaceOpWithNewOp<ReshapeOp>(broadcast, type, picked);
  }
};

} // namespace

void addSumsThatPick(RewritePatternSet &patterns) {
  patterns.add<SumThatPicks>(patterns.getContext());
}

} // namespace nereid::tile
