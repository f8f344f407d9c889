// SPDX-License-Identifier: Apache-2.0
#include "lib/definition/gradient/text/SearchText.h"

#include "lib/definition/operations/indices/Indexing.h"

#include <fmt/format.h>

namespace nereid::definition {

std::optional<SearchCall> searchOf(const Operator &op, int number) {
  auto at = [&](int node) -> const Node & { return op.nodes[static_cast<size_t>(node)]; };
  // where(size >= 1, where(size < short, of_short, first), zeros), of which the last step is
  // first = where(here > values, first, middle + 1).
  const Node *node = &at(number);
  for (const size_t input : {1U, 2U}) {
    if (node->op != "where") {
      return std::nullopt;
    }
    node = &at(node->inputs[input]);
  }
  if (node->op != "where") {
    return std::nullopt;
  }
  const Node &step = at(node->inputs[0]);
  if (step.op != "gt" && step.op != "ge") {
    return std::nullopt;
  }
  const Node &here = at(step.inputs[0]);
  const bool isOneRow = here.op == "squeeze";
  const Node &read = isOneRow ? at(here.inputs[0]) : here;
  if (!readsNothingAsZero(read)) {
    return std::nullopt;
  }
  const int row = isOneRow ? at(read.inputs[0]).inputs[0] : read.inputs[0];
  return SearchCall{row, step.inputs[1], step.op == "gt"};
}

std::string searchText(const SearchCall &call, const std::string &row, const std::string &values) {
  return fmt::format("torch.searchsorted({}, {}{}, out_int32=True)", row, values,
                     call.isBehindEqual ? ", right=True" : "");
}

} // namespace nereid::definition
