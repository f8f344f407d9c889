// SPDX-License-Identifier: Apache-2.0
// Conditions are those of torch.permute and torch.unsqueeze.
#include "lib/definition/operations/View.h"

#include "lib/definition/operations/Infer.h"
#include "lib/definition/operations/Shape.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace nereid::definition {

static Diagnostic viewError(const std::string &message, const std::string &help) {
  return makeError("E0604", message).withHelp(help);
}

/// All dimensions in their order, with a new one among them.
static Result<std::vector<size_t>> insertionOf(const Node &node, size_t rank) {
  const int64_t dim = integerAttribute(node, "dim", 0), count = static_cast<int64_t>(rank) + 1;
  if (dim < -count || dim >= count) {
    return viewError(
        fmt::format("'unsqueeze' expects dim from {} to {}, but got {}", -count, count - 1, dim),
        "dim=-1 appends a dimension");
  }
  std::vector<size_t> order(rank);
  std::iota(order.begin(), order.end(), size_t{0});
  order.insert(order.begin() + (dim < 0 ? dim + count : dim), newDimension);
  return order;
}

std::optional<std::pair<int64_t, int64_t>> trailingSwap(const Node &node) {
  const auto mark = node.attributes.find("trailing"), dims = node.attributes.find("dims");
  if (node.op != "permute" || mark == node.attributes.end() || dims == node.attributes.end()) {
    return std::nullopt;
  }
  const auto *isTrailing = std::get_if<bool>(&mark->second);
  const auto *last = std::get_if<std::vector<int64_t>>(&dims->second);
  return isTrailing && *isTrailing && last && !last->empty()
             ? std::optional(std::pair(-static_cast<int64_t>(last->size()), last->front()))
             : std::nullopt;
}

Node trailingSwapOf(int input, int64_t dim0, int64_t dim1) {
  std::vector<int64_t> dims;
  for (int64_t dim = std::min(dim0, dim1); dim < 0; ++dim) {
    dims.push_back(dim == dim0 ? dim1 : dim == dim1 ? dim0 : dim);
  }
  Node node;
  node.op = "permute";
  node.inputs = {input};
  node.attributes["dims"] = std::move(dims);
  node.attributes["trailing"] = true;
  return node;
}

Result<std::vector<size_t>> viewOrder(const Node &node, size_t rank) {
  if (node.op == "unsqueeze") {
    return insertionOf(node, rank);
  }
  auto found = node.attributes.find("dims");
  std::vector<int64_t> dims;
  if (found != node.attributes.end()) {
    const auto *one = std::get_if<int64_t>(&found->second);
    const auto *many = std::get_if<std::vector<int64_t>>(&found->second);
    dims = one ? std::vector<int64_t>{*one} : many ? *many : dims;
  }
  for (size_t left = dims.size(); trailingSwap(node) && left < rank; ++left) { // stay
    dims.insert(dims.begin(), -static_cast<int64_t>(left) - 1);
  }
  std::vector<size_t> order;
  std::vector<bool> isTaken(rank, false);
  for (int64_t dim : dims) {
    int64_t front = dim < 0 ? dim + static_cast<int64_t>(rank) : dim;
    bool fits =
        front >= 0 && front < static_cast<int64_t>(rank) && !isTaken[static_cast<size_t>(front)];
    if (!fits) {
      break;
    }
    isTaken[static_cast<size_t>(front)] = true;
    order.push_back(static_cast<size_t>(front));
  }
  if (order.size() != rank || dims.size() != rank) {
    return viewError(fmt::format("'permute' expects each of {} dimensions once, but got {}", rank,
                                 sizesText(dims)),
                     "list all dimensions in the order the result has them");
  }
  return order;
}

Result<SymbolicShape> viewShape(const Node &node, const Node &input) {
  const bool isCounted =
      node.op == "unsqueeze" ? integerAttribute(node, "dim", 0) >= 0 : !trailingSwap(node);
  if (isCounted && !input.shape.empty() && input.shape[0].isRest()) {
    return viewError(fmt::format("'{}' expects a known rank, but '{}' has the shape {}", node.op,
                                 shownName(input), text(input.shape)),
                     "give every dimension a name or a size");
  }
  Result<std::vector<size_t>> order = viewOrder(node, input.shape.size());
  if (!order) {
    return order.error();
  }
  SymbolicShape out;
  for (size_t dim : *order) {
    out.push_back(dim == newDimension ? Dim{"", 1} : input.shape[dim]);
  }
  return out;
}

} // namespace nereid::definition
