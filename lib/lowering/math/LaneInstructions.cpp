// SPDX-License-Identifier: Apache-2.0
#include "lib/lowering/math/LaneInstructions.h"

#include "mlir/IR/BuiltinTypes.h"

namespace nereid::lowering {

const LaneInstructions *instructionsFor(Lanes x) {
  auto vector = mlir::dyn_cast<mlir::VectorType>(x.type());
  const bool isFull = vector && x.isFloat() && x.width() >= 32 &&
                      32 * LaneInstructions::singles == vector.getNumElements() * x.width();
  return isFull ? x.where().machine.instructions : nullptr;
}

Lanes intervalPolynomial(const LaneInstructions &instructions, std::span<const float[16]> rows,
                         Lanes indices, Lanes t) {
  auto coefficient = [&](size_t row) { return instructions.lookUp(rows[row], indices, t); };
  auto pair = [&](size_t row) {
    return row + 1 < rows.size() ? mulAdd(coefficient(row + 1), t, coefficient(row))
                                 : coefficient(row);
  };
  Lanes square = t * t;
  size_t row = (rows.size() - 1) / 2 * 2;
  Lanes sum = pair(row);
  while (row > 0) {
    row -= 2;
    sum = mulAdd(sum, square, pair(row));
  }
  return sum;
}

} // namespace nereid::lowering
