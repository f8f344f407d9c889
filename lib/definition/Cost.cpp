// SPDX-License-Identifier: Apache-2.0
// Bytes and floating-point operations of one case, counted on the graph: once as a fused kernel
// must do it, once as operation-by-operation execution does.
#include "lib/definition/Cost.h"

#include "lib/definition/operations/Operations.h"
#include "lib/definition/operations/indices/Indexing.h"
#include "lib/definition/operations/indices/Movement.h"

#include <algorithm>

namespace nereid::definition {
namespace {

/// Elements of such a shape in this case; 0 when a size is unbound.
double elements(const SymbolicShape &shape, const Binding &binding) {
  Result<std::vector<int64_t>> sizes = bind(shape, binding);
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
  return elements(node.shape, binding) * static_cast<double>(sizeInBytes(type));
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

/// What must be read of an operand: of a table that is indexed, and of what elements are taken
/// from, as much as the result has.
double bytesReadOf(const Operator &op, const Node &node, size_t operand, const Binding &binding,
                   DType type) {
  if (node.op == "_positions") { // they follow from a size
    return 0;
  }
  const Node &from = op.nodes[static_cast<size_t>(node.inputs[operand])];
  const Operation *operation = findOperation(node.op);
  const bool isTable = operation && operation->kind == OperationKind::Indexing && operand == 0 &&
                       valueOperand(node) == 0;
  const double whole = bytesOf(from, binding, type);
  return isTable || isMovement(node) ? std::min(whole, bytesOf(node, binding, type)) : whole;
}

bool isOutput(const Operator &op, size_t number) {
  return std::find(op.outputs.begin(), op.outputs.end(), static_cast<int>(number)) !=
         op.outputs.end();
}

/// The most that one of its users reads of it; of a view's operand, what those of the view read.
double bytesUsed(const Operator &op, size_t number, const Binding &binding, DType type) {
  double most = 0;
  for (size_t user = number + 1; user < op.nodes.size(); ++user) {
    const Node &node = op.nodes[user];
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      if (static_cast<size_t>(node.inputs[i]) == number) {
        const double own = bytesReadOf(op, node, i, binding, type);
        const bool isPassed = isView(node) && !isOutput(op, user);
        most = std::max(most, isPassed ? std::min(own, bytesUsed(op, user, binding, type)) : own);
      }
    }
  }
  return most;
}

double flopsOf(const Operator &op, const Node &node, const Binding &binding) {
  double total = 0;
  for (const FlopTerm &term : flopTerms(op, node)) {
    total += term.factor * elements(term.elements, binding);
  }
  return total;
}

} // namespace

bool isUsed(const Operator &op, size_t node) {
  for (const Node &other : op.nodes) {
    for (int input : other.inputs) {
      if (static_cast<size_t>(input) == node) {
        return true;
      }
    }
  }
  return isOutput(op, node);
}

bool isView(const Node &node) {
  const Operation *operation = findOperation(node.op);
  return operation && operation->kind == OperationKind::View && !copiesElements(node);
}

std::vector<FlopTerm> flopTerms(const Operator &op, const Node &node) {
  const Operation *operation = findOperation(node.op);
  if (!operation || operation->kind == OperationKind::View ||
      operation->kind == OperationKind::Creation) {
    return {};
  }
  auto operand = [&](size_t i) -> const Node & {
    return op.nodes[static_cast<size_t>(node.inputs[i])];
  };
  if (operation->kind == OperationKind::Contraction) {
    SymbolicShape pairs = node.shape;
    pairs.push_back(operand(0).shape.back());
    return {{operation->flops, pairs}};
  }
  if (operation->kind == OperationKind::Convolution) {
    SymbolicShape pairs = node.shape;
    const SymbolicShape &window = operand(1).shape;
    pairs.insert(pairs.end(), window.begin() + 1, window.end());
    std::vector<FlopTerm> terms = {{operation->flops, pairs}};
    if (!isNumber(operand(2))) {
      terms.push_back({1, node.shape});
    }
    return terms;
  }
  if (operation->kind == OperationKind::Indexing) { // one addition for each value that is written
    const size_t values = valueOperand(node);
    return values == 0 ? std::vector<FlopTerm>{}
                       : std::vector<FlopTerm>{{operation->flops, operand(values).shape}};
  }
  const bool perInput = operation->kind != OperationKind::Pointwise;
  const double factor = flopsPerElement(op, node, *operation);
  return {{factor, perInput ? operand(0).shape : node.shape}};
}

/// Whether the output is what indices lead to in its input's memory: all else stays as it is.
static bool isWrittenAtPoints(const Operator &op, size_t output) {
  const Node &node = op.nodes[static_cast<size_t>(op.outputs[output])];
  const int parameter = memoryOf(op, output);
  if (parameter < 0 || findOperation(node.op)->kind != OperationKind::Indexing ||
      node.inputs.front() != parameter) {
    return false;
  }
  int uses = 0;
  for (const Node &other : op.nodes) {
    uses += static_cast<int>(std::count(other.inputs.begin(), other.inputs.end(), parameter));
  }
  return uses == 1;
}

Work countWork(const Operator &op, const Binding &binding, DType dtype) {
  Work work;
  std::vector<DType> types = nodeDtypes(op, dtype);
  std::vector<bool> isRead(op.nodes.size(), true);
  for (size_t i = 0; i < op.outputs.size(); ++i) {
    const auto node = static_cast<size_t>(op.outputs[i]);
    const bool isAtPoints = isWrittenAtPoints(op, i);
    const size_t from =
        isAtPoints ? static_cast<size_t>(op.nodes[node].inputs[valueOperand(op.nodes[node])])
                   : node;
    isRead[static_cast<size_t>(std::max(memoryOf(op, i), 0))] = !isAtPoints;
    work.bytesWritten += std::min(bytesOf(op.nodes[node], binding, types[node]),
                                  bytesOf(op.nodes[from], binding, types[node]));
  }
  for (size_t i = 0; i < op.nodes.size(); ++i) {
    if (op.nodes[i].op == "input" && isUsed(op, i) && isRead[i]) {
      work.bytesRead += bytesUsed(op, i, binding, types[i]);
    }
    work.flops += flopsOf(op, op.nodes[i], binding);
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
    for (size_t operand = 0; operand < node.inputs.size(); ++operand) {
      const auto from = static_cast<size_t>(node.inputs[operand]);
      const auto before = node.inputs.begin() + static_cast<ptrdiff_t>(operand);
      const bool isAgain = // "x * x" reads x once
          std::find(node.inputs.begin(), before, node.inputs[operand]) != before;
      work.bytesRead += !isNumber(op.nodes[from]) && !isAgain
                            ? bytesReadOf(op, node, operand, binding, types[from])
                            : 0;
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
