// SPDX-License-Identifier: Apache-2.0
#include "lib/targets/cpu/lower/plan/SameNumber.h"

#include "lib/targets/cpu/lower/plan/TileAxes.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace nereid::cpu {

/// Longer chains of operations are not compared.
constexpr int deepest = 12;

static Value withoutShape(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    bool isShape = isa<tile::SplatOp, tile::ExpandDimsOp, tile::BroadcastOp, tile::TransOp>(op) ||
                   (isa<tile::ReshapeOp>(op) && isTrivialReshape(op));
    if (!isShape) {
      break;
    }
    value = op->getOperand(0);
  }
  return value;
}

static bool isSame(Value a, Value b, int depth) {
  a = withoutShape(a);
  b = withoutShape(b);
  if (a == b) {
    return true;
  }
  APInt x, y;
  if (elementTypeOf(a) != elementTypeOf(b) || depth == 0) {
    return false;
  }
  if (matchPattern(a, m_ConstantInt(&x)) && matchPattern(b, m_ConstantInt(&y))) {
    return x == y;
  }
  Operation *p = a.getDefiningOp(), *q = b.getDefiningOp();
  bool isAlike = p && q && p->getName() == q->getName() && p->getNumOperands() > 0 &&
                 p->getNumOperands() == q->getNumOperands() && isElementwise(p) &&
                 p->getAttrDictionary() == q->getAttrDictionary() &&
                 cast<OpResult>(a).getResultNumber() == cast<OpResult>(b).getResultNumber();
  if (auto range = a.getDefiningOp<tile::MakeRangeOp>();
      range && isa_and_nonnull<tile::MakeRangeOp>(q)) {
    return range.getStart() == cast<tile::MakeRangeOp>(q).getStart() && a.getType() == b.getType();
  }
  if (!isAlike) {
    return false;
  }
  for (auto [left, right] : llvm::zip_equal(p->getOperands(), q->getOperands())) {
    if (!isSame(left, right, depth - 1)) {
      return false;
    }
  }
  return true;
}

bool isSameNumber(Value a, Value b) { return isSame(a, b, deepest); }

} // namespace nereid::cpu
