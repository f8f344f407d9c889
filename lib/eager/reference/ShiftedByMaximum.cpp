// SPDX-License-Identifier: Apache-2.0
#include "lib/eager/reference/ShiftedByMaximum.h"

#include <algorithm>
#include <cmath>

namespace nereid::eager {

using definition::Node;

int shiftedByMaximum(const definition::Operator &graph, const Node &node) {
  if (node.op != "sub") {
    return -1;
  }
  const Node *subtracted = &graph.nodes[static_cast<size_t>(node.inputs[1])];
  if (subtracted->op == "where") {
    subtracted = &graph.nodes[static_cast<size_t>(subtracted->inputs[1])];
  }
  const bool isMaximum = subtracted->op == "amax" && subtracted->inputs[0] == node.inputs[0];
  return isMaximum ? node.inputs[0] : -1;
}

void boundShifted(const BoundedTensor &x, const BoundedTensor &maximum, BoundedTensor &shifted) {
  auto isExact = [](const BoundedTensor &tensor) {
    return std::all_of(tensor.elements.begin(), tensor.elements.end(),
                       [](const Bounded &each) { return each.error == 0; });
  };
  if (!isExact(x) || !isExact(maximum)) {
    return;
  }
  for (Bounded &out : shifted.elements) {
    if (std::isinf(out.error) && out.value < 0) {
      out.error = 0;
    }
  }
}

} // namespace nereid::eager
