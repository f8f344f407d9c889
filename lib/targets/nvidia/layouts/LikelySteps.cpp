// SPDX-License-Identifier: Apache-2.0
#include "lib/targets/nvidia/layouts/LikelySteps.h"

#include "lib/layout/LinearLayout.h"
#include "lib/targets/nvidia/ir/Nvidia.h"
#include "lib/targets/nvidia/layouts/OperandLayouts.h"
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

struct LikelyStep {
  std::optional<int64_t> elements; ///< nothing: a number that a launch brings
  unsigned twos = 0;               ///< of that number: it is a multiple of 2 to this power

  static LikelyStep known(int64_t elements) {
    return {elements,
            elements == 0 ? 62U : static_cast<unsigned>(llvm::countr_zero(uint64_t(elements)))};
  }
  static LikelyStep known(std::optional<int64_t> elements, unsigned twosElse) {
    return elements ? known(*elements) : LikelyStep{std::nullopt, twosElse};
  }
  bool isZero() const { return elements == 0; }
};

constexpr LikelyStep unknown;

class Steps {
public:
  explicit Steps(const tile::AxisInfos &axes) : axes(axes) {}

  LikelyStep of(Value value, unsigned dim) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!type || type.getShape()[dim] == 1) {
      return LikelyStep::known(0);
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
        .Case<tile::MakeRangeOp>([](auto) { return LikelyStep::known(1); })
        .Case<tile::SplatOp>([](auto) { return LikelyStep::known(0); })
        .Case<arith::ConstantOp>([](arith::ConstantOp constant) {
          auto elements = dyn_cast<DenseElementsAttr>(constant.getValue());
          return elements && elements.isSplat() ? LikelyStep::known(0) : unknown;
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
          return sumOf(of(sum->getOperand(0), dim), of(sum->getOperand(1), dim), 1);
        })
        .Case<arith::SubIOp>([&](arith::SubIOp difference) {
          return sumOf(of(difference.getLhs(), dim), of(difference.getRhs(), dim), -1);
        })
        .Case<arith::MulIOp>([&](arith::MulIOp product) {
          return productOf(product.getLhs(), product.getRhs(), dim);
        })
        .Case<arith::DivSIOp, arith::DivUIOp>([&](Operation *quotient) {
          const LikelyStep step = of(quotient->getOperand(0), dim);
          const auto by = axes.of(quotient->getOperand(1)).constant();
          const bool isSmall = by && by->getActiveBits() < 31 && !by->isZero();
          // Neighbours are mostly equal behind a division by what a launch brings.
          return step.elements
                     ? LikelyStep::known(isSmall ? *step.elements / int64_t(by->getZExtValue()) : 0)
                     : unknown;
        })
        .Case<arith::SelectOp>(
            [&](arith::SelectOp select) { return of(select.getTrueValue(), dim); })
        .Default([](Operation *) { return unknown; });
  }

  static LikelyStep sumOf(const LikelyStep &a, const LikelyStep &b, int64_t sign) {
    const auto addend = b.elements ? llvm::checkedMul(*b.elements, sign) : std::nullopt;
    const auto sum = a.elements && addend ? llvm::checkedAdd(*a.elements, *addend) : std::nullopt;
    return LikelyStep::known(sum, std::min(a.twos, b.twos));
  }

  LikelyStep productOf(Value left, Value right, unsigned dim) {
    LikelyStep step = of(left, dim);
    Value factor = right;
    if (step.isZero()) {
      step = of(right, dim);
      factor = left;
    } else if (!of(right, dim).isZero()) {
      return unknown;
    }
    if (step.isZero()) {
      return step;
    }
    const tile::AxisInfo info = axes.of(factor);
    const auto constant = info.constant();
    const bool isKnown = step.elements && constant && constant->getSignificantBits() <= 31;
    return LikelyStep::known(isKnown ? llvm::checkedMul(*step.elements, constant->getSExtValue())
                                     : std::nullopt,
                             step.twos + info.twos);
  }

  const tile::AxisInfos &axes;
  llvm::DenseMap<std::pair<Value, unsigned>, LikelyStep> found;
};

/// Small where neighbours are near: known steps, unknown ones, none. Inner dimensions of a tensor
/// have strides with fewer factors of two, as a rule.
std::pair<int, int64_t> distance(const LikelyStep &step, bool asksFactors) {
  if (step.elements) {
    return {step.isZero() ? 2 : 0, std::abs(*step.elements)};
  }
  return {1, asksFactors ? step.twos : 0};
}

bool reachesProduct(Value value, unsigned depth = 0) {
  constexpr unsigned deepest = 8;
  return depth < deepest && llvm::any_of(
                                value.getUsers(),
                                [&](Operation *user) {
                                  return isa<tile::DotOp>(user) ||
                                         (worksInAnyLayout(user) && user->getNumResults() == 1 &&
                                          reachesProduct(user->getResult(0), depth + 1));
                                });
}

bool isReadForProduct(Value pointer) {
  return llvm::any_of(pointer.getUsers(), [](Operation *user) {
    return isa<AsyncCopyOp>(user) ||
           (isa<tile::LoadOp>(user) && reachesProduct(user->getResult(0)));
  });
}

} // namespace

std::vector<int32_t> orderOfAccess(Value pointer, const tile::AxisInfos &axes) {
  const tile::AxisInfo info = axes.of(pointer);
  std::vector<int32_t> order = layout::rowMajorOrder(info.axes.size());
  Steps steps(axes);
  // Elsewhere what is loaded meets what is stored, and two layouts cost more than a guess gains.
  const bool asksFactors = isReadForProduct(pointer);
  std::stable_sort(order.begin(), order.end(), [&](int32_t left, int32_t right) {
    const auto a = static_cast<unsigned>(left), b = static_cast<unsigned>(right);
    const int64_t ours = info.contiguity(a), theirs = info.contiguity(b);
    return ours != theirs ? ours > theirs
                          : distance(steps.of(pointer, a), asksFactors) <
                                distance(steps.of(pointer, b), asksFactors);
  });
  return order;
}

} // namespace nereid::nvidia
