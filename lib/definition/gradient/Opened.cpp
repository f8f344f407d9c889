// SPDX-License-Identifier: Apache-2.0
#include "lib/definition/gradient/Opened.h"

#include "lib/definition/gradient/rules/Rules.h"
#include "lib/definition/operations/Infer.h"
#include "lib/definition/operations/Lowering.h"
#include "lib/definition/operations/Promotion.h"

#include <algorithm>

namespace nereid::definition {

DType gradientType(const Operator &op) {
  return *std::find_if(op.dtypes.begin(), op.dtypes.end(),
                       [](DType each) { return isFloat(each); });
}

/// masked_fill where a mask is not, of what is filled where it is: nothing of the tensor is left.
static bool fillsTheRest(const Operator &op, const Node &node) {
  if (node.op != "masked_fill") {
    return false;
  }
  const Node &inner = op.nodes[static_cast<size_t>(node.inputs[0])];
  const Node &mask = op.nodes[static_cast<size_t>(node.inputs[1])];
  return inner.op == "masked_fill" && mask.op == "logical_not" &&
         mask.inputs[0] == inner.inputs[1] &&
         isNumber(op.nodes[static_cast<size_t>(inner.inputs[2])]);
}

bool passesNothing(const Operator &op, const Node &node, size_t which) {
  return hasNoShare(node, which) || (which == 0 && fillsTheRest(op, node));
}

std::vector<bool> dependsOn(const Operator &op, const std::vector<size_t> &inputs) {
  const std::vector<DType> types = nodeDtypes(op, gradientType(op));
  std::vector<bool> depends(op.nodes.size(), false);
  for (size_t input : inputs) {
    depends[input] = true;
  }
  for (size_t i = op.parameters.size(); i < op.nodes.size(); ++i) {
    const Node &node = op.nodes[i];
    for (size_t which = 0; which < node.inputs.size() && isFloat(types[i]); ++which) {
      depends[i] = depends[i] || (depends[static_cast<size_t>(node.inputs[which])] &&
                                  !passesNothing(op, node, which));
    }
  }
  return depends;
}

namespace {

class Opener {
public:
  Opener(const Operator &op, const std::vector<size_t> &inputs)
      : from(op), to(op), depends(dependsOn(op, inputs)), types(nodeDtypes(op, gradientType(op))) {
    to.nodes.clear();
  }

  Operator run() {
    for (size_t i = 0; i < from.nodes.size(); ++i) {
      const Node &node = from.nodes[i];
      const Operator *lowering =
          depends[i] && !isLeaf(node) && lacksRule(node) ? loweringOf(node, types[i]) : nullptr;
      numbers.push_back(lowering ? opened(node, *lowering) : copied(node, numbers));
    }
    for (int &output : to.outputs) {
      output = numbers[static_cast<size_t>(output)];
    }
    return std::move(to);
  }

private:
  bool lacksRule(const Node &node) const {
    for (size_t which = 0; which < node.inputs.size(); ++which) {
      if (depends[static_cast<size_t>(node.inputs[which])] && !hasRule(node, which)) {
        return true;
      }
    }
    return false;
  }

  int copied(Node node, const std::vector<int> &renumbered) {
    for (int &input : node.inputs) {
      input = renumbered[static_cast<size_t>(input)];
    }
    to.nodes.push_back(std::move(node));
    return static_cast<int>(to.nodes.size()) - 1;
  }

  int opened(const Node &node, const Operator &lowering) {
    std::vector<int> inner;
    for (size_t i = 0; i < lowering.nodes.size(); ++i) {
      if (i < lowering.parameters.size()) {
        inner.push_back(numbers[static_cast<size_t>(node.inputs[i])]);
        continue;
      }
      Node next = lowering.nodes[i];
      next.name.clear();
      next.source = node.source;
      const int number = copied(std::move(next), inner);
      Node &last = to.nodes[static_cast<size_t>(number)];
      if (!isLeaf(last)) {
        if (Result<SymbolicShape> shape = inferShape(last, to.nodes)) {
          last.shape = *shape;
        }
      }
      inner.push_back(number);
    }
    return inner[static_cast<size_t>(lowering.outputs[0])];
  }

  const Operator &from;
  Operator to;
  std::vector<bool> depends;
  std::vector<DType> types;
  std::vector<int> numbers;
};

} // namespace

Operator openedForGradient(const Operator &op, const std::vector<size_t> &inputs) {
  return Opener(op, inputs).run();
}

} // namespace nereid::definition
