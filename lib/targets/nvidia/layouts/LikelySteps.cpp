// SPDX-License-Identifier: Apache-2.0
#include "lib/targets/nvidia/layouts/LikelySteps.h"

#include "lib/layout/LinearLayout.h"
#include "lib/tile/ir/Tile.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/CheckedArithmetic.h"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <utility>

using namespace mlir;

namespace nereid::nvidia {

namespace {

/// In elements; nothing: a number that a launch brings.
using LikelyStep = std::optional<int64_t>;

constexpr LikelyStep unknown = std::nullopt;

class Steps {
public:
  explicit Steps(const tile::AxisInfos &axes) : axes(axes) {}

  LikelyStep of(Value value, unsigned dim) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!type || type.getShape()[dim] == 1) {
      return 0;
    }
    // What a loop carries is asked for itself on the way: nothing is known of it then.
    const auto [known, isNew] = found.try_emplace({value, dim}, unknown);
    if (!isNew) {
      return known->second;
    }
    const LikelyStep step = compute(value, dim);
    return found[{value, dim}] = step;
  }

private:
  LikelyStep compute(Value value, unsigned dim) {
    Operation *op = value.getDefiningOp();
    if (!op) {
      auto loop = dyn_cast<scf::ForOp>(value.getParentBlock()->getParentOp());
      OpOperand *initial = loop ? loop.getTiedLoopInit(cast<BlockArgument>(value)) : nullptr;
      return initial ? of(initial->get(), dim) : unknown;
    }
    return TypeSwitch<Operation *, LikelyStep>(op)
        .Case<tile::MakeRangeOp>([](auto) { return LikelyStep(1); })
        .Case<tile::SplatOp>([](auto) { return LikelyStep(0); })
        .Case<arith::ConstantOp>([](arith::ConstantOp constant) {
          auto elements = dyn_cast<DenseElementsAttr>(constant.getValue());
          return elements && elements.isSplat() ? LikelyStep(0) : unknown;
        })
        .Case<tile::ExpandDimsOp>([&](tile::ExpandDimsOp expand) {
          const auto axis = static_cast<unsigned>(expand.getAxis());
          return of(expand.getSource(), dim < axis ? dim : dim - 1);
        })
        .Case<tile::BroadcastOp, arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp, tile::PtrCastOp,
              arith::RemSIOp, arith::RemUIOp, arith::MinSIOp, arith::MaxSIOp, arith::MinUIOp,
              arith::MaxUIOp>([&](Operation *same) { return of(same->getOperand(0), dim); })
        .Case<tile::TransOp>([&](tile::TransOp trans) {
          return of(trans.getSource(), static_cast<unsigned>(trans.getOrder()[dim]));
        })
        .Case<tile::AddPtrOp, arith::AddIOp>([&](Operation *sum) {
          const LikelyStep a = of(sum->getOperand(0), dim), b = of(sum->getOperand(1), dim);
          return a && b ? llvm::checkedAdd(*a, *b) : unknown;
        })
        .Case<arith::SubIOp>([&](arith::SubIOp difference) {
          const LikelyStep a = of(difference.getLhs(), dim), b = of(difference.getRhs(), dim);
          return a && b ? llvm::checkedSub(*a, *b) : unknown;
        })
        .Case<arith::MulIOp>([&](arith::MulIOp product) {
          return productOf(product.getLhs(), product.getRhs(), dim);
        })
        .Case<arith::DivSIOp, arith::DivUIOp>([&](Operation *quotient) {
          const LikelyStep step = of(quotient->getOperand(0), dim);
          const auto by = axes.of(quotient->getOperand(1)).constant();
          const bool isSmall = by && by->getActiveBits() < 31 && !by->isZero();
          // Neighbours are mostly equal behind a division by what a launch brings.
          return step ? LikelyStep(isSmall ? *step / int64_t(by->getZExtValue()) : 0) : unknown;
        })
        .Case<arith::SelectOp>(
            [&](arith::SelectOp select) { return of(select.getTrueValue(), dim); })
        .Default([](Operation *) { return unknown; });
  }

  LikelyStep productOf(Value left, Value right, unsigned dim) {
    LikelyStep step = of(left, dim);
    Value factor = right;
    if (step == 0) {
      step = of(right, dim);
      factor = left;
    } else if (of(right, dim) != 0) {
      return unknown;
    }
    const auto constant = axes.of(factor).constant();
    const bool isKnown = step && constant && constant->getSignificantBits() <= 31;
    return step == 0 ? step : isKnown ? llvm::checkedMul(*step, constant->getSExtValue()) : unknown;
  }

  const tile::AxisInfos &axes;
  llvm::DenseMap<std::pair<Value, unsigned>, LikelyStep> found;
};

/// Small where neighbours are near: known steps, unknown ones, none.
std::pair<int, int64_t> distance(const LikelyStep &step) {
  return step ? std::pair(*step == 0 ? 2 : 0, std::abs(*step)) : std::pair(1, int64_t(0));
}

} // namespace

std::vector<int32_t> orderOfAccess(Value pointer, const tile::AxisInfos &axes) {
  const tile::AxisInfo info = axes.of(pointer);
  std::vector<int32_t> order = layout::rowMajorOrder(info.axes.size());
  Steps steps(axes);
  std::stable_sort(order.begin(), order.end(), [&](int32_t left, int32_t right) {
    const auto a = static_cast<unsigned>(left), b = static_cast<unsigned>(right);
    const int64_t ours = info.contiguity(a), theirs = info.contiguity(b);
    return ours != theirs ? ours > theirs
                          : distance(steps.of(pointer, a)) < distance(steps.of(pointer, b));
  });
  return order;
}

} // namespace nereid::nvidia
