// SPDX-License-Identifier: Apache-2.0
#include "lib/eager/baseline/FormulaLoop.h"

#include "lib/definition/operations/Lowering.h"
#include "lib/definition/operations/Operations.h"
#include "lib/eager/baseline/IntegerLoops.h"
#include "lib/eager/baseline/LibraryLoops.h"
#include "lib/eager/baseline/Staging.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <type_traits>

namespace nereid::eager {

using definition::Node;

OpId idOf(std::string_view name) {
  static const std::map<std::string, OpId, std::less<>> ids = {
#define NEREID_OPERATION(name, kind, flops, rounding, result, signature) {#name, OpId::name},
#include "lib/definition/operations/operations.def"
  };
  return ids.find(name)->second;
}

/// The loops of bits are the integers'; of bools, which have one, they are the logical operations.
static OpId ofTruth(OpId id) {
  switch (id) {
  case OpId::bitwise_and:
    return OpId::logical_and;
  case OpId::bitwise_or:
    return OpId::logical_or;
  case OpId::bitwise_xor:
    return OpId::logical_xor;
  case OpId::bitwise_not:
    return OpId::logical_not;
  default:
    return id;
  }
}

template <class T> PointwiseLoop<T> ownLoop(const Node &node) {
  const OpId op = idOf(node.op);
  if constexpr (std::is_integral_v<T>) {
    return integerLoop<T>(op);
  } else {
    if (node.op == "gelu" && definition::stringAttribute(node, "approximate", "none") == "tanh") {
      return kernelsFor<T>().geluTanh;
    }
    const PointwiseLoop<T> loop = kernelsFor<T>().pointwise[static_cast<size_t>(ofTruth(op))];
    return loop ? loop : libraryLoop<T>(op);
  }
}

template <class T>
FormulaLoop<T>::FormulaLoop(const Node &node) : operandCount(static_cast<int>(node.inputs.size())) {
  std::vector<int> inputs;
  for (int i = 0; i < operandCount; ++i) {
    values.push_back({Kind::Operand, i});
    inputs.push_back(i);
  }
  append(node, inputs);
  if (complete) {
    assignSlots();
  }
}

/// The value's number.
template <class T> int FormulaLoop<T>::append(const Node &node, const std::vector<int> &inputs) {
  const DType type = dtypeFor<T>;
  if (const PointwiseLoop<T> loop = ownLoop<T>(node)) {
    values.push_back({Kind::Result, static_cast<int>(steps.size())});
    steps.push_back({loop, inputs});
    return static_cast<int>(values.size()) - 1;
  }
  const definition::Operator *formula = definition::loweringOf(node, type);
  if (!formula) {
    complete = false;
    return 0;
  }
  std::vector<int> made = inputs;
  for (size_t i = inputs.size(); i < formula->nodes.size(); ++i) {
    const Node &inner = formula->nodes[i];
    std::vector<int> operands;
    for (int input : inner.inputs) {
      operands.push_back(made[static_cast<size_t>(input)]);
    }
    made.push_back(inner.op == "constant" ? constant(inner) : append(inner, operands));
  }
  return made[static_cast<size_t>(formula->outputs[0])];
}

template <class T> int FormulaLoop<T>::constant(const Node &node) {
  const double value = definition::constantValue(node);
  T number{};
  if constexpr (std::is_integral_v<T>) {
    using Limits = std::numeric_limits<T>;
    number = std::isinf(value) ? (value < 0 ? Limits::lowest() : Limits::max())
                               : static_cast<T>(static_cast<int64_t>(value));
  } else {
    number = static_cast<T>(value);
  }
  values.push_back({Kind::Constant, static_cast<int>(constants.size())});
  constants.emplace_back(static_cast<size_t>(stageElements), number);
  return static_cast<int>(values.size()) - 1;
}

/// A slot is free again after its value was read last. The result of the last step goes out: of a
/// formula, that is its value.
template <class T> void FormulaLoop<T>::assignSlots() {
  std::vector<size_t> lastUse(values.size(), 0);
  for (size_t i = 0; i < steps.size(); ++i) {
    for (int input : steps[i].inputs) {
      lastUse[static_cast<size_t>(input)] = i;
    }
  }
  std::vector<int> free;
  for (size_t i = 0; i + 1 < steps.size(); ++i) {
    if (free.empty()) {
      free.push_back(slotCount++);
    }
    steps[i].slot = free.back();
    free.pop_back();
    for (size_t v = 0; v < values.size(); ++v) {
      const bool isDone = values[v].kind == Kind::Result && lastUse[v] == i &&
                          static_cast<size_t>(values[v].number) < i;
      if (isDone) {
        free.push_back(steps[static_cast<size_t>(values[v].number)].slot);
      }
    }
  }
}

template <class T> void FormulaLoop<T>::run(const Operand<T> *operands, T *out, int64_t n) const {
  thread_local std::vector<T> scratch;
  scratch.resize(static_cast<size_t>(slotCount * stageElements));
  for (int64_t begin = 0; begin < n; begin += stageElements) {
    const int64_t count = std::min(stageElements, n - begin);
    for (const Step &step : steps) {
      Operand<T> in[8];
      for (size_t k = 0; k < step.inputs.size(); ++k) {
        const Value &value = values[static_cast<size_t>(step.inputs[k])];
        const auto number = static_cast<size_t>(value.number);
        in[k] = {value.kind == Kind::Operand ? operands[number].data + begin
                 : value.kind == Kind::Constant
                     ? constants[number].data()
                     : scratch.data() + steps[number].slot * stageElements,
                 false};
      }
      step.loop(in, step.slot < 0 ? out + begin : scratch.data() + step.slot * stageElements,
                count);
    }
  }
}

#define NEREID_INSTANTIATE(T)                                                                      \
  template PointwiseLoop<T> ownLoop<T>(const Node &);                                              \
  template class FormulaLoop<T>;
NEREID_INSTANTIATE(float)
NEREID_INSTANTIATE(double)
NEREID_INSTANTIATE(int8_t)
NEREID_INSTANTIATE(int16_t)
NEREID_INSTANTIATE(int32_t)
NEREID_INSTANTIATE(int64_t)
NEREID_INSTANTIATE(uint8_t)
NEREID_INSTANTIATE(uint16_t)
NEREID_INSTANTIATE(uint32_t)
NEREID_INSTANTIATE(uint64_t)

} // namespace nereid::eager
