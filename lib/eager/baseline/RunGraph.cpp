// SPDX-License-Identifier: Apache-2.0
// runGraph: the nodes of an operator one after another, each as a call of runOperation.
#include "lib/definition/operations/Operations.h"
#include "lib/definition/operations/Shape.h"
#include "lib/definition/operations/SizeExpression.h"
#include "lib/definition/operations/indices/Creation.h"
#include "lib/definition/operations/indices/Movement.h"
#include "lib/eager/baseline/BlockPool.h"
#include "lib/eager/baseline/Copy.h"
#include "lib/eager/baseline/Eager.h"
#include "runtime/tensor/Overlap.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace nereid::eager {

using definition::Node;
using runtime::Tensor;

Tensor numberTensor(double value) {
  Tensor number = Tensor::empty({}, DType::F64);
  number.set(0, value);
  return number;
}

/// Without a fraction it is an int64.
static Tensor constantTensor(const Node &node) {
  if (!node.attributes.contains("integer")) {
    return numberTensor(definition::constantValue(node));
  }
  Tensor number = Tensor::empty({}, DType::I64);
  *number.as<int64_t>() = definition::integerAttribute(node, "integer", 0);
  return number;
}

/// That of the first tensor which has no type of its own.
static DType operatorType(const Operator &op, std::span<const Tensor> inputs, bool hasNumbers) {
  size_t next = 0;
  for (const definition::Parameter &parameter : op.parameters) {
    const bool isGiven = !parameter.isScalar || hasNumbers;
    if (!parameter.isScalar && !parameter.fixedDtype) {
      return inputs[next].dtype();
    }
    next += isGiven ? 1 : 0;
  }
  return op.dtypes.empty() ? DType::F32 : op.dtypes.front();
}

/// The operator with its sizes and the types of what it creates known.
static Result<Operator> bound(const Operator &op, std::span<const Tensor> inputs, bool hasNumbers) {
  std::vector<std::vector<int64_t>> shapes;
  Operator given = op;
  size_t next = 0;
  for (definition::Parameter &parameter : given.parameters) {
    const bool isGiven = !parameter.isScalar || hasNumbers;
    if (parameter.isScalar && isGiven) {
      parameter.value = inputs[next].at(0);
    }
    shapes.push_back(isGiven ? inputs[next].shape() : std::vector<int64_t>{});
    if (parameter.isSize() && isGiven) {
      shapes.back() = {static_cast<int64_t>(inputs[next].at(0))};
    }
    next += isGiven ? 1 : 0;
  }
  auto binding = definition::bindShapes(op, shapes);
  if (!binding) {
    return binding.error();
  }
  Result<Operator> result = definition::withSizes(given, *binding);
  const DType own = operatorType(op, inputs, hasNumbers);
  for (size_t i = 0; result && i < result->nodes.size(); ++i) {
    if (definition::isCreation(result->nodes[i])) {
      definition::bindCreatedDtype(result->nodes[i], own);
    }
  }
  return result;
}

/// What a kernel leaves: elements side by side, in memory of their own.
static Result<Tensor> asResult(const Tensor &value, std::span<const Tensor> inputs,
                               runtime::ThreadPool &pool) {
  const bool isOwn = std::none_of(inputs.begin(), inputs.end(), [&](const Tensor &input) {
    return runtime::extentsMeet(value, input);
  });
  if (value.elementCount() == 0 || (isOwn && value.isContiguous())) {
    return value;
  }
  Tensor copy = allocateTensor(value.shape(), value.dtype());
  if (!copy.isValid()) {
    return makeError("E0506",
                     fmt::format("no memory for a {} tensor of shape {}", torchName(value.dtype()),
                                 definition::sizesText(value.shape())));
  }
  runCopy(value, copy, pool);
  return copy;
}

/// Functions and quotients of integers are float32, but float64 in an operator on float64, which
/// one call alone does not know.
static void widenIntegers(const Node &node, DType result, std::vector<Tensor> &operands,
                          const std::vector<bool> &isTensor) {
  const definition::Operation *operation = definition::findOperation(node.op);
  bool hasFloats = false;
  for (size_t i = 0; i < operands.size(); ++i) {
    hasFloats |= isTensor[i] && isFloat(operands[i].dtype());
  }
  if (!operation || operation->kind != definition::OperationKind::Pointwise || hasFloats ||
      result != DType::F64) {
    return;
  }
  for (size_t i = 0; i < operands.size(); ++i) {
    operands[i] = isTensor[i] ? operands[i].to(DType::F64) : operands[i];
  }
}

Result<std::vector<Tensor>> runGraph(const Operator &given, std::span<const Tensor> inputs,
                                     runtime::ThreadPool &pool) {
  size_t tensors = 0;
  for (const definition::Parameter &parameter : given.parameters) {
    tensors += parameter.isScalar ? 0 : 1;
  }
  if (inputs.size() != tensors && inputs.size() != given.parameters.size()) {
    return makeError("E0604", fmt::format("'{}' expects {} tensors, but got {}", given.name,
                                          tensors, inputs.size()));
  }
  const bool hasNumbers = inputs.size() == given.parameters.size();
  std::optional<Operator> withNumbers;
  if (std::any_of(given.nodes.begin(), given.nodes.end(), [](const Node &node) {
        return definition::isSize(node) || definition::isMovement(node) ||
               definition::isCreation(node);
      })) {
    auto made = bound(given, inputs, hasNumbers);
    if (!made) {
      return made.error();
    }
    withNumbers = std::move(*made);
  }
  const Operator &op = withNumbers ? *withNumbers : given;
  const DType own = operatorType(op, inputs, hasNumbers);
  const std::vector<DType> types = definition::nodeDtypes(op, own);
  std::vector<Tensor> values(op.nodes.size());
  std::vector<bool> isDone(op.nodes.size(), false);
  std::vector<size_t> lastUse(op.nodes.size(), 0);
  for (size_t i = 0; i < op.nodes.size(); ++i) {
    for (int input : op.nodes[i].inputs) {
      lastUse[static_cast<size_t>(input)] = i;
    }
  }
  for (int output : op.outputs) {
    lastUse[static_cast<size_t>(output)] = op.nodes.size();
  }
  size_t next = 0;
  for (size_t i = 0; i < op.nodes.size(); ++i) {
    const Node &node = op.nodes[i];
    if (i < op.parameters.size()) {
      bool isDefault = op.parameters[i].isScalar && !hasNumbers;
      values[i] = isDefault ? numberTensor(op.parameters[i].value) : inputs[next++];
      if (op.parameters[i].isScalar && op.parameters[i].isInteger) {
        values[i] = values[i].to(DType::I64);
      }
      continue;
    }
    if (node.op == "constant") {
      values[i] = constantTensor(node);
      continue;
    }
    std::vector<Tensor> operands;
    std::vector<bool> isTensor; // of one without dimensions as well
    for (int input : node.inputs) {
      operands.push_back(values[static_cast<size_t>(input)]);
      isTensor.push_back(!definition::isNumber(op.nodes[static_cast<size_t>(input)]));
    }
    if (isDone[i]) { // the second of a call that returns two
      continue;
    }
    if (i + 1 < op.nodes.size() && operands.size() == 1) {
      if (auto both = runPair(node, op.nodes[i + 1], operands[0], pool)) {
        if (!*both) {
          return both->error();
        }
        values[i] = (*both)->first;
        values[i + 1] = (*both)->second;
        isDone[i + 1] = true;
        continue;
      }
    }
    if (own == DType::F64) {
      widenIntegers(node, types[i], operands, isTensor);
    }
    const std::string name = node.op == "to_own" ? "to_" + std::string(torchName(own)) : node.op;
    Result<Tensor> value = runOperation(name, operands, node.attributes, pool, isTensor);
    if (!value) {
      return value.error();
    }
    values[i] = std::move(*value);
    for (int input : node.inputs) {
      if (lastUse[static_cast<size_t>(input)] == i) {
        values[static_cast<size_t>(input)] = Tensor();
      }
    }
  }
  std::vector<Tensor> outputs;
  for (int output : op.outputs) {
    auto result = asResult(values[static_cast<size_t>(output)], inputs, pool);
    if (!result) {
      return result.error();
    }
    outputs.push_back(std::move(*result));
  }
  return outputs;
}

} // namespace nereid::eager
