// SPDX-License-Identifier: Apache-2.0
// A pointwise operation that has no loop of its own, as one pass over memory: its formula in
// operations.def, by the loops of the operations in it, over pieces that stay in the cache. The
// reference does not know these formulas and judges them.
#pragma once

#include "lib/definition/Graph.h"
#include "lib/eager/baseline/kernels/KernelTable.h"

#include <memory>
#include <string_view>
#include <vector>

namespace nereid::eager {

/// The operation of that name, by the table's own.
OpId idOf(std::string_view name);

/// The loop of one operation of the table: of kernels/, of integers or of the C library. Null when
/// only a formula has it.
template <class T> PointwiseLoop<T> ownLoop(const definition::Node &node);

template <class T> class FormulaLoop {
public:
  /// Of a node on operands of type T, which is a float or an integer type.
  explicit FormulaLoop(const definition::Node &node);

  /// False when part of the formula has neither loop nor formula in this type.
  bool isComplete() const { return complete; }
  /// n elements of each operand, none of them a scalar.
  void run(const Operand<T> *operands, T *out, int64_t n) const;

private:
  struct Step {
    PointwiseLoop<T> loop;
    std::vector<int> inputs; ///< values: operands first, then constants and results
    int slot = -1;           ///< of the result; -1: the last one, which goes out
  };
  int append(const definition::Node &node, const std::vector<int> &inputs);
  int constant(const definition::Node &node);
  void assignSlots();

  bool complete = true;
  int operandCount;
  std::vector<std::vector<T>> constants; ///< a piece of each
  std::vector<Step> steps;
  int slotCount = 0;
  enum class Kind : uint8_t { Operand, Constant, Result };
  struct Value {
    Kind kind;
    int number;
  };
  std::vector<Value> values;
};

} // namespace nereid::eager
