// SPDX-License-Identifier: Apache-2.0
#include "lib/lowering/math/Magnitudes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace mlir;

namespace nereid::lowering {
namespace {

constexpr double unknown = std::numeric_limits<double>::infinity();

/// x - round(x), whose difference is exact, and infinite x make NaN.
double ofDifference(arith::SubFOp op) {
  Operation *rounded = op.getRhs().getDefiningOp();
  if (!rounded || rounded->getNumOperands() != 1 || rounded->getOperand(0) != op.getLhs()) {
    return unknown;
  }
  if (isa<math::RoundEvenOp, math::RoundOp>(rounded)) {
    return 0.5;
  }
  return isa<math::FloorOp, math::CeilOp, math::TruncOp>(rounded) ? 1 : unknown;
}

double ofProduct(arith::MulFOp op) {
  const double left = largestMagnitude(op.getLhs());
  return std::isinf(left) ? unknown : left * largestMagnitude(op.getRhs());
}

} // namespace

double largestMagnitude(Value value) {
  APFloat constant(0.0);
  if (matchPattern(value, m_ConstantFloat(&constant))) {
    return std::fabs(constant.convertToDouble());
  }
  Operation *op = value.getDefiningOp();
  if (isa_and_present<arith::NegFOp, math::AbsFOp>(op)) {
    return largestMagnitude(op->getOperand(0));
  }
  if (auto difference = dyn_cast_or_null<arith::SubFOp>(op)) {
    return ofDifference(difference);
  }
  if (auto product = dyn_cast_or_null<arith::MulFOp>(op)) {
    return ofProduct(product);
  }
  if (auto select = dyn_cast_or_null<arith::SelectOp>(op)) {
    return std::max(largestMagnitude(select.getTrueValue()),
                    largestMagnitude(select.getFalseValue()));
  }
  return unknown;
}

bool wasFloat16(Value value) {
  auto extended = value.getDefiningOp<arith::ExtFOp>();
  return extended && getElementTypeOrSelf(extended.getIn().getType()).isF16();
}

} // namespace nereid::lowering
