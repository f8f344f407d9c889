// SPDX-License-Identifier: Apache-2.0
// Union-find over the dimensions of all nodes: what an operation walks together is one class.
#include "lib/eager/reference/ReferenceBlocks.h"

#include "lib/definition/operations/Convolution.h"
#include "lib/definition/operations/View.h"
#include "lib/definition/operations/indices/Along.h"
#include "lib/definition/operations/indices/Indexing.h"
#include "lib/definition/operations/indices/Movement.h"

#include <algorithm>
#include <numeric>

namespace nereid::eager {
namespace {

using definition::Node;
using definition::OperationKind;
using runtime::Tensor;
using Sizes = std::vector<int64_t>;

/// Elements of a node that one block may hold; products need more rows to pay for their operand.
constexpr int64_t blockElements = 4096, productElements = 32768;

class DimensionClasses {
public:
  DimensionClasses(const definition::Operator &graph, const std::vector<Sizes> &sizes)
      : graph(graph), sizes(sizes) {
    size_t total = 0;
    for (const Sizes &each : sizes) {
      first.push_back(total);
      total += each.size();
    }
    parent.resize(total);
    std::iota(parent.begin(), parent.end(), size_t{0});
    isReduced.assign(total, false);
    for (size_t i = 0; i < graph.nodes.size(); ++i) {
      connect(i);
    }
    for (size_t i = 0; i < total; ++i) {
      if (isReduced[i]) {
        isReduced[find(i)] = true;
      }
    }
  }

  size_t classOf(size_t node, size_t dim) const { return find(first[node] + dim); }
  bool reduces(size_t number) const { return isReduced[number]; }
  /// How often the class occurs in the node's shape.
  int64_t occurrences(size_t node, size_t number) const {
    int64_t count = 0;
    for (size_t d = 0; d < sizes[node].size(); ++d) {
      count += sizes[node][d] != 1 && classOf(node, d) == number;
    }
    return count;
  }
  bool occursTwice(size_t number) const {
    for (size_t i = 0; i < sizes.size(); ++i) {
      if (occurrences(i, number) > 1) {
        return true;
      }
    }
    return false;
  }

private:
  size_t find(size_t element) const {
    while (parent[element] != element) {
      element = parent[element] = parent[parent[element]];
    }
    return element;
  }
  void unify(size_t a, size_t dimA, size_t b, size_t dimB) {
    if (sizes[a][dimA] != 1 && sizes[b][dimB] != 1) {
      parent[find(first[a] + dimA)] = find(first[b] + dimB);
    }
  }
  /// The dimensions before the last `skipped` ones of both, aligned from the right.
  void unifyFromRight(size_t a, size_t skippedA, size_t b, size_t skippedB) {
    for (size_t i = 1; i + skippedA <= sizes[a].size() && i + skippedB <= sizes[b].size(); ++i) {
      unify(a, sizes[a].size() - skippedA - i, b, sizes[b].size() - skippedB - i);
    }
  }
  void reduce(size_t node, size_t dim) { isReduced[first[node] + dim] = true; }

  void connect(size_t number) {
    const Node &node = graph.nodes[number];
    const definition::Operation *operation = definition::findOperation(node.op);
    if (!operation) {
      return;
    }
    auto input = static_cast<size_t>(node.inputs[0]);
    switch (operation->kind) {
    case OperationKind::Reduction:
      return connectReduction(node, input, number);
    case OperationKind::Contraction:
      return connectProduct(input, static_cast<size_t>(node.inputs[1]), number);
    case OperationKind::Convolution:
      return connectConvolution(node, number);
    case OperationKind::View:
      if (definition::isMovement(node)) {
        return connectMovement(node, number);
      }
      return connectView(node, input, number);
    case OperationKind::Scan:
    case OperationKind::Sort:
      return connectAlong(node, input, number);
    case OperationKind::Indexing:
      return connectIndexing(node, number);
    default:
      for (int each : node.inputs) {
        unifyFromRight(static_cast<size_t>(each), 0, number, 0);
      }
    }
  }

  void connectReduction(const Node &node, size_t input, size_t number) {
    std::vector<int64_t> dims = definition::dimsOf(node);
    size_t rank = sizes[input].size(), to = 0;
    for (size_t d = 0; d < rank; ++d) {
      auto negative = static_cast<int64_t>(d) - static_cast<int64_t>(rank);
      if (dims.empty() || std::find(dims.begin(), dims.end(), negative) != dims.end()) {
        reduce(input, d);
        to += definition::keepsDim(node) ? 1 : 0;
      } else {
        unify(input, d, number, to++);
      }
    }
  }

  void connectProduct(size_t a, size_t b, size_t number) {
    size_t rankA = sizes[a].size(), rankB = sizes[b].size();
    size_t ownA = std::min<size_t>(rankA, 2), ownB = std::min<size_t>(rankB, 2);
    size_t own = ownA + ownB - 2;
    reduce(a, rankA - 1);
    reduce(b, rankB - ownB);
    if (ownA == 2) {
      unify(a, rankA - 2, number, sizes[number].size() - own);
    }
    if (ownB == 2) {
      unify(b, rankB - 1, number, sizes[number].size() - 1);
    }
    unifyFromRight(a, ownA, number, own);
    unifyFromRight(b, ownB, number, own);
  }

  /// Images can be cut, and features unless they belong to groups. Neighbouring results read the
  /// same elements: their rows and columns stay whole.
  void connectConvolution(const Node &node, size_t number) {
    auto input = static_cast<size_t>(node.inputs[0]), weight = static_cast<size_t>(node.inputs[1]);
    auto bias = static_cast<size_t>(node.inputs[2]);
    size_t rank = sizes[number].size(), features = rank - 3;
    if (rank == 4) {
      unify(input, 0, number, 0);
    }
    for (size_t d = 1; d <= 3; ++d) {
      reduce(input, rank - d);
      reduce(weight, d);
    }
    reduce(number, rank - 1);
    reduce(number, rank - 2);
    unify(weight, 0, number, features);
    if (!sizes[bias].empty()) {
      unify(bias, 0, number, features);
    }
    if (definition::integerAttribute(node, "groups", 1) != 1) {
      reduce(number, features);
    }
  }

  /// Lines stay whole, in what is read and in what is made of them.
  void connectAlong(const Node &node, size_t input, size_t number) {
    const auto line = static_cast<size_t>(static_cast<int64_t>(sizes[input].size()) +
                                          definition::dimAlong(node).value_or(-1));
    const bool isDropped = sizes[number].size() < sizes[input].size();
    for (size_t d = 0; d < sizes[input].size(); ++d) {
      const size_t to = isDropped && d > line ? d - 1 : d;
      if (d != line) {
        unify(input, d, number, to);
        continue;
      }
      reduce(input, d);
      if (!isDropped) {
        reduce(number, to);
      }
    }
  }

  void connectView(const Node &node, size_t input, size_t number) {
    Result<std::vector<size_t>> order = definition::viewOrder(node, sizes[input].size());
    for (size_t d = 0; order && d < order->size(); ++d) {
      if ((*order)[d] != definition::newDimension) {
        unify(input, (*order)[d], number, d);
      }
    }
  }

  /// What is moved stays whole.
  void connectMovement(const Node &node, size_t number) {
    const std::vector<size_t> kept =
        definition::keptDimensions(node, sizes[static_cast<size_t>(node.inputs[0])].size());
    for (int operand : node.inputs) {
      const auto input = static_cast<size_t>(operand);
      std::vector<bool> isKept(sizes[input].size(), false);
      for (size_t d = 0; d < kept.size(); ++d) {
        if (kept[d] == definition::newDimension) {
          reduce(number, d);
        } else {
          isKept[kept[d]] = true;
          unify(input, kept[d], number, d);
        }
      }
      for (size_t d = 0; d < isKept.size(); ++d) {
        if (!isKept[d]) {
          reduce(input, d);
        }
      }
    }
  }

  /// The table's other dimensions are the points'; where an index leads is known only when it is
  /// read.
  void connectIndexing(const Node &node, size_t number) {
    std::vector<size_t> ranks;
    for (int input : node.inputs) {
      ranks.push_back(sizes[static_cast<size_t>(input)].size());
    }
    const definition::Indexing indexing = definition::indexingOf(node, ranks);
    const auto table = static_cast<size_t>(node.inputs[0]);
    if (indexing.isWrite) { // points are no dimensions of the result: everything in one block
      for (size_t d = 0; d < sizes[number].size(); ++d) {
        reduce(number, d);
        reduce(table, d);
      }
      for (size_t i = 1; i < node.inputs.size(); ++i) {
        for (size_t d = 0; d < ranks[i]; ++d) {
          reduce(static_cast<size_t>(node.inputs[i]), d);
        }
      }
      return;
    }
    for (size_t d = 0; d < indexing.places.size(); ++d) {
      if (indexing.places[d].isIndexed) {
        reduce(table, d);
      } else if (sizes[table][d] == sizes[number][indexing.places[d].number]) {
        unify(table, d, number, indexing.places[d].number);
      } else {
        reduce(table, d); // a gather of fewer
        reduce(number, indexing.places[d].number);
      }
    }
    for (size_t i = 0; i < indexing.indices.size(); ++i) {
      const auto index = static_cast<size_t>(node.inputs[indexing.indices[i]]);
      for (size_t d = 0; d < sizes[index].size(); ++d) {
        unify(index, d, number, indexing.firstDims[i] + d);
      }
    }
  }

  const definition::Operator &graph;
  const std::vector<Sizes> &sizes;
  std::vector<size_t> first;
  mutable std::vector<size_t> parent;
  std::vector<bool> isReduced;
};

/// Classes of the leading dimensions that all outputs have and nothing reduces.
std::vector<size_t> cuttableClasses(const definition::Operator &graph,
                                    const std::vector<Sizes> &sizes,
                                    const DimensionClasses &classes) {
  std::vector<size_t> leading;
  auto main = static_cast<size_t>(graph.outputs[0]);
  for (size_t d = 0; d < sizes[main].size(); ++d) {
    size_t number = classes.classOf(main, d);
    bool isOne = sizes[main][d] == 1;
    for (int output : graph.outputs) {
      auto other = static_cast<size_t>(output);
      bool matches = d < sizes[other].size() && sizes[other][d] == sizes[main][d] &&
                     (isOne || classes.classOf(other, d) == number);
      if (!matches) {
        return leading;
      }
    }
    if (!isOne && (classes.reduces(number) || classes.occursTwice(number))) {
      return leading;
    }
    leading.push_back(number);
  }
  return leading;
}

} // namespace

BlockPlan planBlocks(const definition::Operator &graph, const std::vector<Sizes> &sizes) {
  DimensionClasses classes(graph, sizes);
  std::vector<size_t> leading = cuttableClasses(graph, sizes, classes);
  const Sizes &main = sizes[static_cast<size_t>(graph.outputs[0])];
  bool hasProduct = false;
  for (const Node &node : graph.nodes) {
    const definition::Operation *operation = definition::findOperation(node.op);
    hasProduct |= operation && (operation->kind == OperationKind::Contraction ||
                                operation->kind == OperationKind::Convolution);
  }
  int64_t most = hasProduct ? productElements : blockElements;
  BlockPlan plan;
  for (size_t depth = 0; depth < leading.size(); ++depth) {
    // Largest part of a node that one index of the axes so far touches.
    int64_t inner = 1;
    auto axesEnd = leading.begin() + static_cast<ptrdiff_t>(depth) + 1;
    for (size_t i = 0; i < sizes.size(); ++i) {
      int64_t elements = classes.occurrences(i, leading[depth]) > 0 ? 1 : 0;
      for (size_t d = 0; elements > 0 && d < sizes[i].size(); ++d) {
        bool isAxis = std::count(leading.begin(), axesEnd, classes.classOf(i, d)) > 0;
        elements *= isAxis ? 1 : std::max<int64_t>(sizes[i][d], 1);
      }
      inner = std::max(inner, elements);
    }
    plan.axes.push_back(main[depth]);
    plan.length = std::max<int64_t>(1, most / inner);
    // A dimension of size 1 cuts nothing: those behind it decide.
    if (main[depth] != 1 && inner <= most) {
      break;
    }
  }
  if (!plan.axes.empty()) {
    plan.perPrefix = (plan.axes.back() + plan.length - 1) / plan.length;
    plan.count = plan.perPrefix;
    for (size_t d = 0; d + 1 < plan.axes.size(); ++d) {
      plan.count *= plan.axes[d];
    }
  }
  for (size_t i = 0; i < graph.parameters.size(); ++i) {
    std::vector<int> axes(sizes[i].size(), -1);
    for (size_t d = 0; d < axes.size(); ++d) {
      for (size_t axis = 0; axis < plan.axes.size() && sizes[i][d] != 1; ++axis) {
        axes[d] = classes.classOf(i, d) == leading[axis] ? static_cast<int>(axis) : axes[d];
      }
    }
    plan.inputAxes.push_back(std::move(axes));
  }
  return plan;
}

Block BlockPlan::block(int64_t number) const {
  Block block;
  if (axes.empty()) {
    return block;
  }
  block.begin = number % perPrefix * length;
  block.end = std::min(block.begin + length, axes.back());
  block.prefix.resize(axes.size() - 1);
  int64_t rest = number / perPrefix;
  for (size_t d = block.prefix.size(); d-- > 0;) {
    block.prefix[d] = rest % axes[d];
    rest /= axes[d];
  }
  return block;
}

bool BlockPlan::isCut(size_t parameter) const {
  const std::vector<int> &list = inputAxes[parameter];
  return std::any_of(list.begin(), list.end(), [](int axis) { return axis >= 0; });
}

static Tensor partOf(const Tensor &tensor, const std::vector<int> &axisOf, size_t last,
                     const Block &block) {
  std::vector<int64_t> shape = tensor.shape();
  int64_t offset = 0;
  for (size_t d = 0; d < shape.size(); ++d) {
    if (axisOf[d] < 0) {
      continue;
    }
    auto axis = static_cast<size_t>(axisOf[d]);
    bool isRange = axis == last;
    offset += (isRange ? block.begin : block.prefix[axis]) * tensor.strides()[d];
    shape[d] = isRange ? block.end - block.begin : 1;
  }
  auto *data = static_cast<char *>(tensor.data());
  offset *= static_cast<int64_t>(sizeInBytes(tensor.dtype()));
  return Tensor::borrow(data ? data + offset : data, shape, tensor.dtype(), tensor.strides());
}

Tensor BlockPlan::input(const Tensor &tensor, size_t parameter, const Block &block) const {
  return axes.empty() ? tensor : partOf(tensor, inputAxes[parameter], axes.size() - 1, block);
}

Tensor BlockPlan::output(const Tensor &tensor, const Block &block) const {
  if (axes.empty()) {
    return tensor;
  }
  std::vector<int> axisOf(tensor.shape().size(), -1);
  std::iota(axisOf.begin(), axisOf.begin() + static_cast<ptrdiff_t>(axes.size()), 0);
  return partOf(tensor, axisOf, axes.size() - 1, block);
}

int64_t BlockPlan::firstElement(const Sizes &outputSizes, const Block &block) const {
  if (axes.empty()) {
    return 0;
  }
  int64_t index = 0;
  for (size_t d = 0; d < outputSizes.size(); ++d) {
    int64_t at = d < block.prefix.size() ? block.prefix[d] : d + 1 == axes.size() ? block.begin : 0;
    index = index * outputSizes[d] + at;
  }
  return index;
}

} // namespace nereid::eager
