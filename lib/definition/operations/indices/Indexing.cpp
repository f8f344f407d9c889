// SPDX-License-Identifier: Apache-2.0
// Geometry, shapes and types of Indexing.h. Conditions are those of PyTorch's functions.
#include "lib/definition/operations/indices/Indexing.h"

#include "lib/definition/operations/Infer.h"
#include "lib/definition/operations/Promotion.h"
#include "lib/definition/operations/Shape.h"

#include <fmt/format.h>

#include <algorithm>

namespace nereid::definition {
namespace {

bool isWriting(const std::string &op) {
  return op.starts_with("scatter") || op == "index_add" || op == "index_put";
}
/// The index has the points' shape; otherwise it lists positions along its own dimensions.
bool isElementwise(const std::string &op) { return op == "gather" || op.starts_with("scatter"); }
/// The indices stand in a run of dimensions, which their common shape replaces.
bool isOfRun(const std::string &op) {
  return op == "index" || op == "index_put" || op == "embedding";
}

bool flag(const Node &node, const std::string &name, bool otherwise) {
  auto found = node.attributes.find(name);
  const bool *value = found == node.attributes.end() ? nullptr : std::get_if<bool>(&found->second);
  return value ? *value : otherwise;
}

Meeting meetingOf(const Node &node) {
  if (node.op == "scatter_add" || node.op == "index_add") {
    return Meeting::Sum;
  }
  if (node.op == "index_put") {
    return flag(node, "accumulate", false) ? Meeting::Sum : Meeting::Replace;
  }
  const std::string how = stringAttribute(node, "reduce", "");
  return how == "sum"    ? Meeting::Sum
         : how == "prod" ? Meeting::Product
         : how == "amax" ? Meeting::Maximum
         : how == "amin" ? Meeting::Minimum
         : how == "mean" ? Meeting::Mean
                         : Meeting::Replace;
}

/// The first indexed dimension, of a table of this rank; beyond the end when there is none.
size_t firstIndexed(const Node &node, size_t rank) {
  const int64_t dim = integerAttribute(node, "dim", 0);
  const int64_t front = dim < 0 ? dim + static_cast<int64_t>(rank) : dim;
  return front < 0 ? rank : static_cast<size_t>(front);
}

Diagnostic shapeError(const Node &node, const std::string &message) {
  return makeError("E0604", fmt::format("'{}' {}", node.op, message));
}

/// Shapes of the node's operands.
std::vector<const Node *> operandsOf(const Node &node, const std::vector<Node> &nodes) {
  std::vector<const Node *> operands;
  for (int input : node.inputs) {
    operands.push_back(&nodes[static_cast<size_t>(input)]);
  }
  return operands;
}

/// An index of a gather may be smaller than the table in the other dimensions: known of numbers.
bool isWithin(const Dim &part, const Dim &whole) {
  return part == whole ||
         (part.symbol.empty() && whole.symbol.empty() && part.constant <= whole.constant);
}

Status checkElementwise(const Node &node, const std::vector<const Node *> &operands, size_t dim) {
  const SymbolicShape &table = operands[0]->shape, &index = operands[1]->shape;
  bool fits = table.size() == index.size();
  for (size_t d = 0; fits && d < table.size(); ++d) {
    fits = d == dim || isWithin(index[d], table[d]);
  }
  if (!fits) {
    return shapeError(node,
                      fmt::format("expects an index of the shape {} but for dimension {}, "
                                  "but got {}",
                                  text(table),
                                  static_cast<int64_t>(dim) - static_cast<int64_t>(table.size()),
                                  text(index)))
        .withHelp("expand it, or index with x[index], whose indices broadcast");
  }
  return Done{};
}

/// The shape that indices of a run have together.
Result<SymbolicShape> commonShape(const Node &node, const std::vector<const Node *> &operands) {
  SymbolicShape common;
  for (size_t number : indexOperands(node)) {
    const Node &index = *operands[number];
    std::optional<SymbolicShape> joined = broadcast(common, index.shape);
    if (!joined) {
      return shapeError(node, fmt::format("cannot broadcast the indices {} with '{}' {}",
                                          text(common), shownName(index), text(index.shape)));
    }
    common = std::move(*joined);
  }
  return common;
}

bool hasRestInside(const SymbolicShape &shape) {
  return std::any_of(shape.begin() + (shape.empty() ? 0 : 1), shape.end(),
                     [](const Dim &dim) { return dim.isRest(); });
}

/// The points' shape.
Result<SymbolicShape> pointShape(const Node &node, const std::vector<const Node *> &operands,
                                 size_t dim) {
  const SymbolicShape &table = operands[0]->shape;
  const auto at = static_cast<ptrdiff_t>(dim);
  if (isElementwise(node.op)) {
    if (Status fits = checkElementwise(node, operands, dim); !fits) {
      return fits.error();
    }
    return operands[1]->shape;
  }
  SymbolicShape points = table;
  if (!isOfRun(node.op)) { // a list of positions along one dimension
    const SymbolicShape &index = operands[1]->shape;
    if (index.size() != 1 || index[0].isRest()) {
      return shapeError(node, fmt::format("expects an index of one dimension, but got '{}' {}",
                                          shownName(*operands[1]), text(index)));
    }
    points[dim] = index[0];
    return points;
  }
  Result<SymbolicShape> common = commonShape(node, operands);
  if (!common) {
    return common.error();
  }
  const auto count = static_cast<ptrdiff_t>(indexOperands(node).size());
  points.erase(points.begin() + at, points.begin() + at + count);
  points.insert(points.begin() + at, common->begin(), common->end());
  if (hasRestInside(points)) {
    return shapeError(node,
                      fmt::format("would have '...' inside of the result's shape {}", text(points)))
        .withHelp("only leading dimensions can be open: index the first dimension, or give the "
                  "dimensions names");
  }
  return points;
}

Status checkValues(const Node &node, const std::vector<const Node *> &operands,
                   const SymbolicShape &points) {
  const Node &values = *operands[valueOperand(node)];
  if (isNumber(values)) {
    return Done{};
  }
  const bool mayBroadcast = node.op == "index_put";
  const std::optional<SymbolicShape> joined = broadcast(points, values.shape);
  if (mayBroadcast ? joined && *joined == points : values.shape == points) {
    return Done{};
  }
  return shapeError(node, fmt::format("expects values {} {}, but got '{}' {}",
                                      mayBroadcast ? "that broadcast to" : "of the shape",
                                      text(points), shownName(values), text(values.shape)));
}

} // namespace

std::vector<size_t> indexOperands(const Node &node) {
  const size_t behind = valueOperand(node) == 0 ? node.inputs.size() : valueOperand(node);
  std::vector<size_t> operands;
  for (size_t i = 1; i < behind; ++i) {
    operands.push_back(i);
  }
  return operands;
}

bool takesNegative(const Node &node) { return node.op == "index" || node.op == "index_put"; }

bool readsNothingAsZero(const Node &node) { return flag(node, "empty_is_zero", false); }

size_t valueOperand(const Node &node) { return isWriting(node.op) ? node.inputs.size() - 1 : 0; }

Indexing indexingOf(const Node &node, std::span<const size_t> ranks) {
  Indexing made;
  made.isWrite = isWriting(node.op);
  made.meeting = made.isWrite ? meetingOf(node) : Meeting::Replace;
  made.includesTable = flag(node, "include_self", true);
  made.indices = indexOperands(node);
  made.values = valueOperand(node);
  const size_t table = ranks[0], dim = firstIndexed(node, table);
  const size_t count = isOfRun(node.op) ? made.indices.size() : 1;
  size_t common = isOfRun(node.op) ? 0 : 1; // of the points' dimensions, from `dim` on
  for (size_t i = 0; isOfRun(node.op) && i < made.indices.size(); ++i) {
    common = std::max(common, ranks[made.indices[i]]);
  }
  made.rank = table - count + common;
  for (size_t d = 0; d < table; ++d) {
    const bool isIndexed = d >= dim && d < dim + count;
    made.places.push_back({isIndexed, isIndexed ? d - dim : d < dim ? d : d - count + common});
  }
  for (size_t operand : made.indices) {
    made.firstDims.push_back(isElementwise(node.op) ? 0 : dim + common - ranks[operand]);
  }
  return made;
}

bool addsInAnyOrder(const Operator &op, DType dtype) {
  const std::vector<DType> types = nodeDtypes(op, dtype);
  for (size_t i = 0; i < op.nodes.size() && !op.isDeterministic; ++i) {
    const Operation *operation = findOperation(op.nodes[i].op);
    const bool isIndexing = operation && operation->kind == OperationKind::Indexing;
    const Meeting meeting =
        isIndexing && isWriting(op.nodes[i].op) ? meetingOf(op.nodes[i]) : Meeting::Replace;
    if ((meeting == Meeting::Sum || meeting == Meeting::Mean) && isFloat(types[i])) {
      return true;
    }
  }
  return false;
}

Result<SymbolicShape> indexingShape(const Node &node, const std::vector<Node> &nodes) {
  const std::vector<const Node *> operands = operandsOf(node, nodes);
  const SymbolicShape &table = operands[0]->shape;
  const size_t dim = firstIndexed(node, table.size());
  const size_t count = isOfRun(node.op) ? indexOperands(node).size() : 1;
  if (dim + count > table.size() || table[dim].isRest()) {
    return shapeError(node, fmt::format("has no dimension for its index in '{}' {}",
                                        shownName(*operands[0]), text(table)))
        .withHelp("count from the end where '...' leads; each index takes a dimension of its own");
  }
  for (size_t number : indexOperands(node)) {
    if (isNumber(*operands[number])) {
      return shapeError(node, "expects tensors as indices, but got a number");
    }
  }
  Result<SymbolicShape> points = pointShape(node, operands, dim);
  if (!points || !isWriting(node.op)) {
    return points;
  }
  if (Status fits = checkValues(node, operands, *points); !fits) {
    return fits.error();
  }
  return table;
}

Status checkIndexing(const Node &node, const std::vector<Node> &nodes,
                     const std::vector<DType> &types) {
  auto typeOf = [&](size_t operand) { return types[static_cast<size_t>(node.inputs[operand])]; };
  auto refuse = [&](const std::string &what, DType type) {
    return makeError("E0608",
                     fmt::format("'{}' expects {}, but got {}", node.op, what, torchName(type)));
  };
  const bool takesInt32 = !isElementwise(node.op);
  for (size_t operand : indexOperands(node)) {
    const DType type = typeOf(operand);
    if (type != DType::I64 && !(takesInt32 && type == DType::I32)) {
      return refuse(takesInt32 ? "an index of int64 or int32" : "an index of int64", type)
          .withHelp(type == DType::Bool
                        ? "where a tensor says which elements are meant, use torch.where(mask, a, "
                          "b); alone in the brackets, and of the first dimensions, it writes "
                          "numbers, x[mask] = 0"
                    : takesInt32 ? "declare the index with dtype = \"int64\""
                                 : "as in PyTorch; x[index] and index_select take int32 as well");
    }
  }
  if (!isWriting(node.op)) {
    return Done{};
  }
  const DType table = typeOf(0);
  const Node &values = nodes[static_cast<size_t>(node.inputs[valueOperand(node)])];
  if (!isNumber(values) && typeOf(valueOperand(node)) != table) {
    return refuse(fmt::format("values of the type {} that it writes to", torchName(table)),
                  typeOf(valueOperand(node)));
  }
  if (operandKind(values) == OperandKind::Fraction && !isFloat(table)) {
    return refuse("a value without a fraction", table);
  }
  const Meeting meeting = meetingOf(node);
  if (meeting != Meeting::Replace && table == DType::Bool) {
    return refuse("numbers where values meet", table);
  }
  if (meeting == Meeting::Mean && !isFloat(table)) {
    return refuse("floating-point numbers for a mean", table);
  }
  return Done{};
}

} // namespace nereid::definition
