// SPDX-License-Identifier: Apache-2.0
// Which tensors are left in memory, see KeptTensors.h.
#include "lib/generator/lower/KeptTensors.h"

#include "lib/definition/operations/Convolution.h"
#include "lib/definition/operations/Operations.h"

#include <fmt/format.h>

#include <algorithm>

namespace nereid::generator {

using definition::OperationKind;

namespace {

/// Operations for an element that cost as much as writing and reading one more.
constexpr double flopsOfMemory = 64;
/// Operations that cost as much as reading one of several tensors of an element once more.
constexpr double flopsOfRead = 8;

bool isEdge(const definition::Node &node) {
  return node.op == "pad" && definition::stringAttribute(node, "mode", "constant") != "constant";
}

/// Read at other places, as one that reads through edges is not.
bool isMoved(const definition::Node &node) {
  const definition::Operation *operation = definition::findOperation(node.op);
  return operation && operation->kind == OperationKind::View && !isEdge(node);
}

} // namespace

/// What computing an element of the node costs whoever asks for it.
KeptTensors::Recomputed KeptTensors::recomputed(int number) const {
  Recomputed result;
  int64_t reads = 0;
  std::vector<int> work = {number};
  std::set<int> seen;
  while (!work.empty()) {
    const int at = work.back();
    work.pop_back();
    const definition::Node &node = op.nodes[static_cast<size_t>(at)];
    if (!seen.insert(at).second || definition::isNumber(node)) {
      continue;
    }
    const definition::Operation *operation = definition::findOperation(node.op);
    const bool isRead = kept.contains(static_cast<size_t>(at)) || definition::isLeaf(node);
    if (isRead || !operation) {
      reads += node.shape.size() == op.nodes[static_cast<size_t>(number)].shape.size() ? 1 : 0;
      continue;
    }
    const OperationKind kind = operation->kind;
    result.isReduced |= kind == OperationKind::Reduction;
    result.hasProduct |= kind == OperationKind::Contraction || kind == OperationKind::Convolution;
    result.hasEdges |= isEdge(node);
    if (kind == OperationKind::Pointwise || kind == OperationKind::View) {
      result.flops += kind == OperationKind::Pointwise ? operation->flops : 0;
      work.insert(work.end(), node.inputs.begin(), node.inputs.end());
    }
  }
  result.flops += flopsOfRead * static_cast<double>(std::max<int64_t>(reads - 1, 0));
  return result;
}

/// Who reads what, asked of all nodes at once, the last ones first: what reads through a view has
/// been met before the view's own operand.
KeptTensors::KeptTensors(const definition::Operator &op) : op(op), readers(op.nodes.size()) {
  for (int output : op.outputs) {
    ++readers[static_cast<size_t>(output)].count;
  }
  for (size_t number = op.nodes.size(); number-- > 0;) {
    const definition::Node &node = op.nodes[number];
    for (int input : std::set<int>(node.inputs.begin(), node.inputs.end())) {
      ++readers[static_cast<size_t>(input)].count;
    }
    if (!node.inputs.empty()) {
      Readers &first = readers[static_cast<size_t>(node.inputs[0])];
      first.areEdges |= isEdge(node);
      first.windows =
          std::max(first.windows, isMoved(node) && node.op != "unfold" ? readers[number].windows
                                                                       : windowsOf(node));
    }
  }
}

/// How many windows of the node have an element of what it reads, at most; 0: it makes none.
int64_t KeptTensors::windowsOf(const definition::Node &node) const {
  auto across = [](int64_t size, int64_t step) { return (size + step - 1) / step; };
  if (node.op == "unfold") {
    return across(definition::integerAttribute(node, "size", 1),
                  definition::integerAttribute(node, "step", 1));
  }
  if (node.op != "conv2d") {
    return 0;
  }
  const auto attributes = definition::convolutionAttributes(node);
  if (!attributes) { // refused elsewhere
    return 0;
  }
  constexpr int64_t ofSymbol = 3;
  const auto &weights = op.nodes[static_cast<size_t>(node.inputs[1])].shape;
  int64_t windows = 1;
  for (size_t side = 0; side < 2; ++side) {
    const definition::Dim &taps = *(weights.end() - 2 + static_cast<ptrdiff_t>(side));
    windows *= across(taps.symbol.empty() ? taps.constant : ofSymbol, attributes->stride[side]);
  }
  return windows;
}

/// Why the node's tensor is left in memory for those that read it; nothing where it is not.
std::optional<std::string> KeptTensors::why(int number) const {
  const definition::Node &node = op.nodes[static_cast<size_t>(number)];
  if (isMoved(node) || definition::isLeaf(node) || !definition::findOperation(node.op)) {
    return std::nullopt;
  }
  const auto [windows, count, behindEdges] = readers[static_cast<size_t>(number)];
  if (windows < 1 && !behindEdges) {
    return std::nullopt;
  }
  const Recomputed cost = recomputed(number);
  if (cost.hasProduct && count > 1) {
    return "windows read it and others do, and a product is computed once for all of them";
  }
  if (behindEdges && (cost.isReduced || cost.hasProduct)) {
    return "the edges of a padded tensor read it besides its elements, and a sum is computed once "
           "for all of them";
  }
  if (windows > 1 && cost.hasEdges) {
    return "windows read a tensor with edges at one place, and not at another for each edge";
  }
  if (windows > 1 && cost.isReduced) {
    return fmt::format("{} windows have each element, and what is reduced for it is found once",
                       windows);
  }
  constexpr int64_t edges = 3;
  const int64_t times = std::max(windows, behindEdges ? edges : int64_t{1});
  const double again = static_cast<double>(times - 1) * cost.flops;
  return again > flopsOfMemory
             ? std::optional(fmt::format(
                   "each element is read {} times: computing it each time would be {:.0f} "
                   "operations more, and writing and reading it costs as much as {:.0f}",
                   times, again, flopsOfMemory))
             : std::nullopt;
}

} // namespace nereid::generator
