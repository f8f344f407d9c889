// SPDX-License-Identifier: Apache-2.0
// Cuts the iteration space into rows and columns and places every operand in it.
#include "lib/generator/Fusion.h"

#include "lib/generator/AxisAnalysis.h"
#include "lib/generator/Decompose.h"
#include "lib/generator/KernelTypes.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace nereid::generator {
namespace {

using definition::Dim;

constexpr int mostLevels = 32;

bool any(const std::vector<bool> &flags) {
  return std::find(flags.begin(), flags.end(), true) != flags.end();
}
bool all(const std::vector<bool> &flags) {
  return std::find(flags.begin(), flags.end(), false) == flags.end();
}

/// Presence of the axis in each operand: axes with equal signatures side by side are one group.
using Signature = std::vector<bool>;

class Fuser {
public:
  explicit Fuser(const definition::Operator &op) { fused.op = op; }

  Result<FusedOperator> run() {
    if (auto named = checkNames(fused.op); !named) {
      return named.error();
    }
    auto graph = decompose(fused.op);
    if (!graph) {
      return graph.error();
    }
    auto analysed = analyseAxes(*graph, fused.op);
    if (!analysed) {
      return analysed.error();
    }
    space = *analysed;
    fused.nodes = std::move(graph->nodes);
    fused.outputNodes = std::move(graph->outputs);
    for (size_t i = 0; i < fused.nodes.size(); ++i) {
      fused.nodes[i].axes = space.axesOf[i];
    }
    collectOperands();
    if (fused.operands.empty() || fused.operands.front().isOutput) {
      return makeError("E0607", fmt::format("operator '{}' reads no tensor", fused.op.name))
          .withHelp("give the operator at least one tensor parameter");
    }
    splitSpace();
    for (FusedNode &node : fused.nodes) {
      placeNode(node);
    }
    if (auto problem = checkOutputs(); !problem) {
      return problem.error();
    }
    if (auto problem = checkLevels(); !problem) {
      return problem.error();
    }
    if (auto problem = checkTypes(); !problem) {
      return problem.error();
    }
    return std::move(fused);
  }

private:
  void collectOperands() {
    for (size_t i = 0; i < fused.nodes.size(); ++i) {
      const FusedNode &node = fused.nodes[i];
      if (node.op != "input") {
        continue;
      }
      const auto &parameter = fused.op.parameters[static_cast<size_t>(node.parameter)];
      Operand operand;
      operand.name = parameter.name;
      operand.index = node.parameter;
      operand.node = static_cast<int>(i);
      operand.shape = parameter.shape;
      operand.fixedDtype = parameter.fixedDtype;
      fused.operands.push_back(std::move(operand));
    }
    for (size_t i = 0; i < fused.outputNodes.size(); ++i) {
      const FusedNode &node = fused.nodes[static_cast<size_t>(fused.outputNodes[i])];
      Operand operand;
      operand.name = i < fused.op.outputNames.size() ? fused.op.outputNames[i] : "out";
      operand.isOutput = true;
      operand.index = static_cast<int>(i);
      operand.node = fused.outputNodes[i];
      operand.shape = node.shape;
      if (i < fused.op.outputDtypes.size()) {
        operand.fixedDtype = fused.op.outputDtypes[i];
      }
      fused.operands.push_back(std::move(operand));
    }
  }

  bool hasAxis(const Operand &operand, size_t axis) const {
    const std::vector<int> &axes = fused.nodes[static_cast<size_t>(operand.node)].axes;
    return std::find(axes.begin(), axes.end(), static_cast<int>(axis)) != axes.end();
  }
  Signature signatureOf(size_t axis) const {
    Signature signature;
    for (const Operand &operand : fused.operands) {
      signature.push_back(hasAxis(operand, axis));
    }
    return signature;
  }

  /// Groups of axes [from, to) and, for each operand, which of them it moves along.
  std::vector<SizeProduct> group(size_t from, size_t to, std::vector<bool> Operand::*presence) {
    std::vector<SizeProduct> groups;
    Signature last;
    for (size_t axis = from; axis < to; ++axis) {
      Signature signature = signatureOf(axis);
      if (groups.empty() || signature != last) {
        groups.emplace_back();
        for (size_t i = 0; i < fused.operands.size(); ++i) {
          (fused.operands[i].*presence).push_back(signature[i]);
        }
        last = signature;
      }
      groups.back().dims.push_back(space.axes[axis]);
    }
    return groups;
  }

  void splitSpace() {
    size_t count = space.axes.size();
    fused.hasReduction = any(space.isReduced);
    size_t split = count;
    if (fused.hasReduction) {
      split = static_cast<size_t>(std::find(space.isReduced.begin(), space.isReduced.end(), true) -
                                  space.isReduced.begin());
    } else if (count > 0) {
      split = count - 1;
      while (split > 0 && signatureOf(split - 1) == signatureOf(count - 1)) {
        --split;
      }
      if (split == 0) {
        // Nothing broadcasts: one dimension is enough, and the last one makes the columns for
        // tensors whose rows are not side by side.
        fused.isFlat = true;
        split = count - 1;
      }
    } else {
      fused.isFlat = true;
    }
    firstColumn = split;
    fused.rowGroups = group(0, split, &Operand::rowGroups);
    fused.columnGroups = group(split, count, &Operand::columnGroups);
    for (size_t axis = 0; axis < count; ++axis) {
      (axis < split ? fused.rows : fused.columns).dims.push_back(space.axes[axis]);
    }
    for (Operand &operand : fused.operands) {
      operand.extent = extentOf(any(operand.rowGroups), any(operand.columnGroups));
    }
  }

  static Extent extentOf(bool hasRows, bool hasColumns) {
    return hasRows ? (hasColumns ? Extent::Full : Extent::Column)
                   : (hasColumns ? Extent::Row : Extent::Scalar);
  }

  void placeNode(FusedNode &node) {
    bool hasRows = false, hasColumns = false;
    for (int axis : node.axes) {
      hasRows |= axis >= 0 && static_cast<size_t>(axis) < firstColumn;
      hasColumns |= axis >= 0 && static_cast<size_t>(axis) >= firstColumn;
    }
    node.extent = extentOf(hasRows, hasColumns);
    for (int input : node.inputs) {
      node.level = std::max(node.level, fused.nodes[static_cast<size_t>(input)].level);
    }
    node.level += node.isReduction ? 1 : 0;
    fused.levels = std::max(fused.levels, node.level);
  }

  Diagnostic refuse(const FusedNode &node, std::string message) const {
    Diagnostic error = makeError("E0607", std::move(message));
    error.file = fused.op.path;
    if (!node.source.empty()) {
      error.note(fmt::format("in '{}'", node.source));
    }
    return error;
  }

  /// A kernel that loops over columns makes its values again behind each of them.
  Status checkLevels() const {
    for (const FusedNode &node : fused.nodes) {
      if (node.isReduction && node.level > mostLevels) {
        return refuse(node, fmt::format("'{}' waits for {} reductions, but one kernel has at most "
                                        "{} one after another",
                                        node.op, node.level - 1, mostLevels))
            .withHelp("split the computation into several operators");
      }
    }
    return Done{};
  }

  Status checkOutputs() const {
    for (const Operand &operand : fused.operands) {
      const FusedNode &node = fused.nodes[static_cast<size_t>(operand.node)];
      if (!operand.isOutput) {
        continue;
      }
      bool isComplete =
          all(operand.rowGroups) &&
          (all(operand.columnGroups) || (fused.hasReduction && !any(operand.columnGroups)));
      if (!isComplete) {
        return refuse(node, fmt::format("output '{}' {} is smaller than what the kernel computes",
                                        operand.name, definition::text(operand.shape)))
            .withHelp("give every output the full broadcast shape, or reduce it over the last "
                      "dimensions");
      }
    }
    return Done{};
  }

  /// A kernel's source serves every type, so a value's type must follow from the operator's.
  Status checkTypes() {
    KernelTypes names(fused.op);
    fused.hasIntegers = !areAllFloat(fused.op.dtypes);
    for (const FusedNode &node : fused.nodes) {
      bool isNumber = node.kind != definition::OperandKind::Tensor;
      fused.hasIntegers =
          fused.hasIntegers || (!isNumber && !areAllFloat(node.types) && !areAllBool(node.types));
    }
    for (const FusedNode &node : fused.nodes) {
      bool isMixedExtremum = (node.op == "amax" || node.op == "amin") && !areAllFloat(node.types) &&
                             std::any_of(node.types.begin(), node.types.end(),
                                         [](DType type) { return isFloat(type); });
      bool isUnnamed = fused.hasIntegers &&
                       (names.name(node.types).empty() || names.name(node.computedTypes).empty());
      if (isMixedExtremum || isUnnamed) {
        return refuse(node, fmt::format("one kernel cannot compute '{}' for all the types of the "
                                        "operator",
                                        node.op))
            .withHelp("give floating-point types and integers a definition each");
      }
    }
    return Done{};
  }

  FusedOperator fused;
  AxisSpace space;
  size_t firstColumn = 0;
};

} // namespace

int64_t SizeProduct::evaluate(const definition::Binding &binding) const {
  int64_t product = 1;
  for (const Dim &dim : dims) {
    if (dim.isRest()) {
      for (int64_t size : binding.rest) {
        product *= size;
      }
    } else if (dim.symbol.empty()) {
      product *= dim.constant;
    } else if (auto found = binding.symbols.find(dim.symbol); found != binding.symbols.end()) {
      product *= found->second;
    }
  }
  return product;
}

std::string SizeProduct::identifier() const {
  std::string text;
  for (const Dim &dim : dims) {
    text += text.empty() ? "" : "_";
    text += dim.isRest() ? "rest" : dim.symbol.empty() ? std::to_string(dim.constant) : dim.symbol;
  }
  return text.empty() ? "one" : text;
}

bool Operand::hasAllRows() const { return !rowGroups.empty() && all(rowGroups); }
bool Operand::hasAllColumns() const { return !columnGroups.empty() && all(columnGroups); }
bool Operand::hasSomeRows() const { return any(rowGroups); }
bool Operand::hasSomeColumns() const { return any(columnGroups); }

std::string FusedOperator::kind() const {
  return hasReduction ? "row_reduction" : isFlat ? "pointwise" : "broadcast";
}

Result<FusedOperator> fuse(const definition::Operator &op) {
  if (definition::writesInputs(op)) {
    return makeError("E0607", fmt::format("'{}' writes into an input", op.name));
  }
  return Fuser(op).run();
}

} // namespace nereid::generator
