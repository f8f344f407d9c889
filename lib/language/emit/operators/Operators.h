// SPDX-License-Identifier: Apache-2.0
// Operators of the language on any two values: constants are folded, others promoted to one type
// and shape first.
#pragma once

#include "lib/language/emit/operators/ConstantOperators.h"
#include "lib/language/emit/operators/Promotion.h"

#include <functional>

namespace nereid::language::emit {

class Operators {
public:
  Operators(TileBuilder &tiles, Reporter &report, Promotion &promotion, ConstantOperators &folding)
      : tiles(tiles), report(report), promotion(promotion), folding(folding) {}

  Value binary(const std::string &op, const Value &a, const Value &b);
  Value compare(const std::string &op, const Value &a, const Value &b);
  Value unary(const std::string &op, const Value &a);
  Value power(const Value &a, const Value &b);
  Value logical(bool isAnd, const Value &a, const Value &b);
  Value select(const Value &condition, const Value &a, const Value &b);
  /// maxnum/minnum of floats, or their NaN-propagating forms; by signedness on integers.
  Value extremum(bool isMax, const Value &a, const Value &b, bool propagateNan);
  Value addPointer(const Value &pointer, const Value &offset);

private:
  Value arithmetic(const std::string &op, const Value &a, const Value &b);
  Value division(const std::string &op, Value a, Value b);
  Value bits(const std::string &op, const Value &a, Value b, bool isArithmetic);
  Value throughFloat32(const Value &a, const Value &b,
                       const std::function<Value(const Value &, const Value &)> &compute);
  Value extremumOperand(const Value &value);

  TileBuilder &tiles;
  Reporter &report;
  Promotion &promotion;
  ConstantOperators &folding;
};

} // namespace nereid::language::emit
