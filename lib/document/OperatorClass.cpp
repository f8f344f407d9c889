// SPDX-License-Identifier: Apache-2.0
#include "lib/document/OperatorClass.h"

#include "lib/definition/operations/Operations.h"

#include <fmt/format.h>

#include <algorithm>

namespace nereid::document {
namespace {

using definition::Node;
using definition::OperationKind;

int count(const definition::Operator &op, OperationKind kind) {
  return static_cast<int>(std::count_if(op.nodes.begin(), op.nodes.end(), [&](const Node &node) {
    const auto *operation = definition::findOperation(node.op);
    return operation && operation->kind == kind;
  }));
}

/// Some tensor has another shape than the results.
bool broadcasts(const definition::Operator &op) {
  const auto &result = op.nodes[static_cast<size_t>(op.outputs[0])].shape;
  return std::any_of(op.nodes.begin(), op.nodes.end(),
                     [&](const Node &node) { return node.op == "input" && node.shape != result; });
}

/// A result has a dimension that a reduction sums over: what was reduced goes back over the row.
bool isSpreadAgain(const definition::Operator &op) {
  for (const Node &node : op.nodes) {
    const auto *operation = definition::findOperation(node.op);
    if (!operation || operation->kind != OperationKind::Reduction) {
      continue;
    }
    const auto &read = op.nodes[static_cast<size_t>(node.inputs[0])].shape;
    for (int output : op.outputs) {
      if (op.nodes[static_cast<size_t>(output)].shape == read) {
        return true;
      }
    }
  }
  return false;
}

} // namespace

std::string operatorClass(const definition::Operator &whole) {
  const definition::Operator op = definition::decomposed(whole);
  const int pointwise = count(op, OperationKind::Pointwise);
  const int reductions = count(op, OperationKind::Reduction) + count(op, OperationKind::Composite);
  const bool isConvolution = count(op, OperationKind::Convolution) > 0;
  if (isConvolution || count(op, OperationKind::Contraction) > 0) {
    const std::string product = isConvolution ? "convolution" : "product";
    return product + (reductions > 0  ? " with reduction"
                      : pointwise > 0 ? " with pointwise epilogue"
                                      : "");
  }
  if (count(op, OperationKind::Sort) > 0) {
    return "sort";
  }
  if (count(op, OperationKind::Scan) > 0) {
    return "scan";
  }
  if (reductions > 0) {
    return isSpreadAgain(op) ? "normalisation" : "reduction";
  }
  if (pointwise == 0) {
    return count(op, OperationKind::Creation) > 0 ? "creation" : "movement";
  }
  return broadcasts(op) ? "pointwise with broadcasting" : "pointwise";
}

std::string operationsText(const definition::Operator &op) {
  std::vector<std::string> names;
  for (const Node &node : op.nodes) {
    if (!definition::isLeaf(node)) {
      names.push_back(node.op);
    }
  }
  return fmt::format("{} operation{}: {}", names.size(), names.size() == 1 ? "" : "s",
                     fmt::join(names, ", "));
}

} // namespace nereid::document
