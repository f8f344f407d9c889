// SPDX-License-Identifier: Apache-2.0
// Rules by kind of operation: pointwise broadcasts, reductions drop or keep dimensions,
// contractions drop the one they share, convolutions and views have rules of their own
// (Convolution.h, View.h, Movement.h), composites keep the shape of their first operand.
#include "lib/definition/operations/Infer.h"

#include "lib/definition/operations/Convolution.h"
#include "lib/definition/operations/Promotion.h"
#include "lib/definition/operations/Shape.h"
#include "lib/definition/operations/View.h"
#include "lib/definition/operations/indices/Along.h"
#include "lib/definition/operations/indices/Creation.h"
#include "lib/definition/operations/indices/Indexing.h"
#include "lib/definition/operations/indices/Movement.h"

#include <fmt/format.h>

namespace nereid::definition {
namespace {

std::string broadcastAdvice(const SymbolicShape &a, const SymbolicShape &b) {
  bool rest = (!a.empty() && a[0].isRest()) || (!b.empty() && b[0].isRest());
  return rest ? "what '...' stands for is open: give both operands '...', or only one of them "
                "dimensions beyond it"
              : "aligned from the right, sizes must be the same name or number, or 1";
}

/// prelu counts channels in its input's second dimension, which broadcasting meets in matrices.
Status checkSlopes(const Node &input, const Node &weight) {
  const bool isOne =
      weight.shape.empty() || (weight.shape.size() == 1 && text(weight.shape) == "[1]");
  const bool isOfMatrix = input.shape.size() == 2 && !input.shape[0].isRest() &&
                          weight.shape.size() == 1 && !weight.shape[0].isRest();
  if (isOne || isOfMatrix) {
    return Done{};
  }
  return makeError("E0604", fmt::format("'prelu' expects one slope or an input of two dimensions, "
                                        "but got '{}' {} and '{}' {}",
                                        shownName(input), text(input.shape), shownName(weight),
                                        text(weight.shape)))
      .withHelp("its slopes belong to the second dimension: for others write torch.where(x > 0, x, "
                "weight * x), with the weight in a shape that broadcasts");
}

Result<SymbolicShape> inferPointwise(const Node &node, const std::vector<Node> &nodes) {
  if (node.op == "prelu") {
    if (Status fits = checkSlopes(nodes[static_cast<size_t>(node.inputs[0])],
                                  nodes[static_cast<size_t>(node.inputs[1])]);
        !fits) {
      return fits.error();
    }
  }
  SymbolicShape shape;
  const Node *shapedBy = nullptr;
  for (int input : node.inputs) {
    const Node &operand = nodes[static_cast<size_t>(input)];
    std::optional<SymbolicShape> joined = broadcast(shape, operand.shape);
    if (!joined) {
      return makeError("E0604", fmt::format("'{}' cannot broadcast '{}' {} with '{}' {}", node.op,
                                            shapedBy ? shownName(*shapedBy) : "", text(shape),
                                            shownName(operand), text(operand.shape)))
          .withHelp(broadcastAdvice(shape, operand.shape));
    }
    if (!shapedBy || *joined != shape) {
      shapedBy = &operand;
    }
    shape = std::move(*joined);
  }
  return shape;
}

Result<SymbolicShape> inferReduction(const Node &node, const std::vector<Node> &nodes) {
  const Node &input = nodes[static_cast<size_t>(node.inputs[0])];
  std::vector<int64_t> dims = dimsOf(node);
  auto shape = reduce(input.shape, dims, keepsDim(node));
  if (auto *problem = std::get_if<std::string>(&shape)) {
    return makeError("E0604", fmt::format("'{}' of '{}': {}", node.op, shownName(input), *problem));
  }
  return std::get<SymbolicShape>(shape);
}

Result<SymbolicShape> inferContraction(const Node &node, const std::vector<Node> &nodes) {
  const Node &left = nodes[static_cast<size_t>(node.inputs[0])];
  const Node &right = nodes[static_cast<size_t>(node.inputs[1])];
  auto shape = multiply(left.shape, right.shape);
  if (auto *problem = std::get_if<std::string>(&shape)) {
    return makeError("E0604", fmt::format("'{}' cannot multiply '{}' {} by '{}' {}: {}", node.op,
                                          shownName(left), text(left.shape), shownName(right),
                                          text(right.shape), *problem))
        .withHelp(
            "matmul takes [..., M, K] by [..., K, N]; use '*' for products element by element");
  }
  return std::get<SymbolicShape>(shape);
}

} // namespace

std::string shownName(const Node &node) {
  return node.name.empty() ? node.source.empty() ? node.op : node.source : node.name;
}

Result<SymbolicShape> inferShape(const Node &node, const std::vector<Node> &nodes) {
  const Operation *operation = findOperation(node.op);
  if (!operation) {
    return node.shape;
  }
  if (operation->kind == OperationKind::Pointwise) {
    return inferPointwise(node, nodes);
  }
  if (operation->kind == OperationKind::Contraction) {
    return inferContraction(node, nodes);
  }
  if (operation->kind == OperationKind::Creation) {
    return createdShape(node);
  }
  auto operand = [&](size_t i) -> const Node & {
    return nodes[static_cast<size_t>(node.inputs[i])];
  };
  if (operation->kind == OperationKind::Convolution) {
    return convolutionShape(node, operand(0), operand(1), operand(2));
  }
  if (isMovement(node)) {
    return movementShape(node, nodes);
  }
  if (operation->kind == OperationKind::View) {
    return viewShape(node, operand(0));
  }
  if (isAlong(node)) {
    return alongShape(node, operand(0));
  }
  if (operation->kind == OperationKind::Indexing) {
    return indexingShape(node, nodes);
  }
  if (operation->kind == OperationKind::Reduction || node.op == "logsumexp") {
    return inferReduction(node, nodes);
  }
  Result<SymbolicShape> all = inferPointwise(node, nodes);
  const Node &input = nodes[static_cast<size_t>(node.inputs[0])];
  if (all && *all != input.shape) {
    return makeError("E0604", fmt::format("operands of '{}' broadcast to {}, but its input '{}' "
                                          "has the shape {}",
                                          node.op, text(*all), shownName(input), text(input.shape)))
        .withHelp("give them the shape of the normalised dimensions");
  }
  return all;
}

DType inferDtype(const Node &node, const std::vector<Node> &nodes, const std::vector<DType> &types,
                 DType operatorType) {
  const Operation *operation = findOperation(node.op);
  if (isCreation(node)) {
    return createdDtype(node, operatorType);
  }
  return operation ? resultDtype(*operation, typedOperands(node, nodes, types), operatorType)
                   : operatorType;
}

std::vector<DType> nodeDtypes(const Operator &op, DType dtype) {
  std::vector<DType> types;
  for (size_t i = 0; i < op.nodes.size(); ++i) {
    bool isParameter = i < op.parameters.size();
    types.push_back(isParameter ? op.parameters[i].fixedDtype.value_or(dtype)
                                : inferDtype(op.nodes[i], op.nodes, types, dtype));
  }
  return types;
}

} // namespace nereid::definition
