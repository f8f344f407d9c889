// SPDX-License-Identifier: Apache-2.0
// Bytes and floating-point operations of one case, counted on the graph: once as a fused kernel
// must do it, once as operation-by-operation execution does.
#include "lib/definition/operations/Operations.h"

namespace nereid::definition {
namespace {

/// Elements of a node in this case; 0 when a size is unbound.
double elements(const Node &node, const Binding &binding) {
  Result<std::vector<int64_t>> sizes = bind(node.shape, binding);
  if (!sizes) {
    return 0;
  }
  double count = 1;
  for (int64_t size : *sizes) {
    count *= static_cast<double>(size);
  }
  return count;
}

double bytesOf(const Node &node, const Binding &binding, DType type) {
  return elements(node, binding) * static_cast<double>(sizeInBytes(type));
}

bool isNumber(const Node &node) { return isLeaf(node) && node.op != "input"; }

/// Moves nothing: whoever reads it reads the elements where they are.
bool isView(const Node &node) {
  const Operation *operation = findOperation(node.op);
  return operation && operation->kind == OperationKind::View;
}

/// x ** 2 is a product, not a call of pow.
double flopsPerElement(const Operator &op, const Node &node, const Operation &operation) {
  if (node.op == "pow") {
    const Node &exponent = op.nodes[static_cast<size_t>(node.inputs[1])];
    double value = constantValue(exponent);
    if (exponent.op == "constant" && (value == 2 || value == 0.5 || value == -1)) {
      return 1;
    }
    if (exponent.op == "constant" && value == 3) {
      return 2;
    }
  }
  return operation.flops;
}

double flopsOf(const Operator &op, const Node &node, const Binding &binding) {
  const Operation *operation = findOperation(node.op);
  if (!operation) {
    return 0;
  }
  if (operation->kind == OperationKind::Contraction) {
    SymbolicShape contracted = op.nodes[static_cast<size_t>(node.inputs[0])].shape;
    contracted.erase(contracted.begin(), contracted.end() - 1);
    Result<std::vector<int64_t>> length = bind(contracted, binding);
    double pairs = length ? elements(node, binding) * static_cast<double>((*length)[0]) : 0;
    return pairs * operation->flops;
  }
  if (operation->kind == OperationKind::Convolution) {
    SymbolicShape window = op.nodes[static_cast<size_t>(node.inputs[1])].shape;
    window.erase(window.begin());
    Result<std::vector<int64_t>> sizes = bind(window, binding);
    double perElement = operation->flops;
    for (int64_t size : sizes ? *sizes : std::vector<int64_t>{0}) {
      perElement *= static_cast<double>(size);
    }
    bool hasBias = !isNumber(op.nodes[static_cast<size_t>(node.inputs[2])]);
    return elements(node, binding) * (perElement + (hasBias ? 1 : 0));
  }
  bool perInput = operation->kind != OperationKind::Pointwise;
  const Node &counted = perInput ? op.nodes[static_cast<size_t>(node.inputs[0])] : node;
  return elements(counted, binding) * flopsPerElement(op, node, *operation);
}

bool isUsed(const Operator &op, size_t node) {
  for (const Node &other : op.nodes) {
    for (int input : other.inputs) {
      if (static_cast<size_t>(input) == node) {
        return true;
      }
    }
  }
  return false;
}

} // namespace

Work countWork(const Operator &op, const Binding &binding, DType dtype) {
  Work work;
  std::vector<DType> types = nodeDtypes(op, dtype);
  for (size_t i = 0; i < op.nodes.size(); ++i) {
    if (op.nodes[i].op == "input" && isUsed(op, i)) {
      work.bytesRead += bytesOf(op.nodes[i], binding, types[i]);
    }
    work.flops += flopsOf(op, op.nodes[i], binding);
  }
  for (int output : op.outputs) {
    auto i = static_cast<size_t>(output);
    work.bytesWritten += bytesOf(op.nodes[i], binding, types[i]);
  }
  return work;
}

Work countUnfusedWork(const Operator &op, const Binding &binding, DType dtype) {
  Work work;
  std::vector<DType> types = nodeDtypes(op, dtype);
  for (size_t i = 0; i < op.nodes.size(); ++i) {
    const Node &node = op.nodes[i];
    if (isLeaf(node) || isView(node)) {
      continue;
    }
    for (int input : node.inputs) {
      auto from = static_cast<size_t>(input);
      work.bytesRead +=
          !isNumber(op.nodes[from]) ? bytesOf(op.nodes[from], binding, types[from]) : 0;
    }
    work.bytesWritten += bytesOf(node, binding, types[i]);
    work.flops += flopsOf(op, node, binding);
  }
  return work;
}

double tensorBytes(const Operator &op, const Binding &binding, DType dtype) {
  double total = 0;
  std::vector<DType> types = nodeDtypes(op, dtype);
  for (size_t i = 0; i < op.parameters.size(); ++i) {
    total += op.parameters[i].isScalar ? 0 : bytesOf(op.nodes[i], binding, types[i]);
  }
  for (int output : op.outputs) {
    auto i = static_cast<size_t>(output);
    total += bytesOf(op.nodes[i], binding, types[i]);
  }
  return total;
}

} // namespace nereid::definition
